"""What was not understood of a program, and what takes its place until a person says it."""

from collections.abc import Sequence
from dataclasses import replace

from evaluators.authoring.drafting.sizes import Sizes
from evaluators.authoring.program import terms
from evaluators.authoring.program.arguments import Argument, Bound, Opaque, Scalar
from evaluators.authoring.program.binding import Binder
from evaluators.authoring.program.reading import Symbol
from evaluators.authoring.program.terms import Num, Op, Sym

GUESSED_THREADS = 256


def name_unknown(bounds: Sequence[Bound], binder: Binder, says: list[str]) -> None:
    symbols = binder.reader.symbols
    for bound in bounds:
        says += bound.unread
        arguments: list[Argument] = []
        for one in bound.arguments:
            if isinstance(one, Scalar) and (lost := terms.unknown(one.term)):
                symbols.setdefault(one.name, Symbol(one.name, None, one.element.type, False))
                says.append(
                    f"{one.name}: the program passes {short(lost)}, which was not understood"
                )
                arguments.append(replace(one, term=Sym(one.name)))
                continue
            if isinstance(one, Opaque):
                says.append(
                    f"{one.name}: no argument of type {one.type} could be made; write its fields, "
                    "{struct: [...]}, in args of the seed"
                )
            arguments.append(one)
        bound.arguments = arguments


def guess_launches(bounds: Sequence[Bound], sizes: Sizes, says: list[str]) -> None:
    for bound in bounds:
        name = bound.signature.item.name
        lost = [t for t in (*bound.grid, *bound.block) if terms.unknown(t)]
        if not lost and not bound.guessed:
            if text := terms.unknown(bound.lds_bytes):
                says.append(f"{name}: lds_bytes, where the program has {short(text)}")
                bound.lds_bytes = Num(0)
            continue
        block = bound.block
        if bound.guessed or any(terms.unknown(t) for t in block):
            block = (Num(GUESSED_THREADS), Num(1), Num(1))
        total = terms.product([Sym(dim) for dim in sizes.dims] or [Num(1)])
        grid = bound.grid
        if bound.guessed or any(terms.unknown(t) for t in grid):
            grid = (Op("ceil_div", (total, block[0])), Num(1), Num(1))
        bound.grid, bound.block = grid, block
        why = "no launch of it was found" if bound.guessed else f"{short(terms.unknown(lost[0]))}"
        says.append(f"{name}: grid and block are guesses ({why}): write how it is launched")


def short(text: str) -> str:
    plain = " ".join(text.split())
    return repr(plain if len(plain) < 60 else plain[:57] + "...")
