"""Sizes that a program spells out: products that are one size, numbers that are sizes."""

from collections.abc import Mapping, Sequence

from evaluators.authoring.drafting.rewriting import all_terms, changed, each, names_in, rewrite
from evaluators.authoring.program import terms
from evaluators.authoring.program.arguments import Bound, pointers, scalars
from evaluators.authoring.program.elements import FLOATING
from evaluators.authoring.program.reading import Reader, Symbol
from evaluators.authoring.program.terms import Num, Number, Op, Sym, Term

LEAST_SIZE = 16
"""An integer that is passed as a plain number is a size from here on, an attribute below."""


def gather(bounds: Sequence[Bound], reader: Reader) -> None:
    """rows = batch * tokens is one dim, where the rest of the program knows the product only."""
    wanted = dict(reader.products)
    for bound in bounds:
        for one in scalars(bound.arguments):
            if isinstance(one.term, Op) and one.term.sign == "*":
                wanted.setdefault(one.name, one.term)
    for name, made in wanted.items():
        parts = terms.factors(made)
        if name not in reader.symbols and all(isinstance(one, Sym | Num) for one in parts):
            _gather_one(bounds, reader, name, made)


def _gather_one(bounds: Sequence[Bound], reader: Reader, name: str, made: Term) -> None:
    parts = terms.factors(made)

    def whole(term: Term) -> Term:
        return _gathered(term, parts, name)

    before = set(names_in(all_terms(bounds)))
    after = set(names_in(map(whole, all_terms(bounds))))
    lost = {part.name for part in parts if isinstance(part, Sym)}
    if name in after and lost - after and lost & before:
        value = terms.value(made, _known(reader))
        reader.symbols[name] = Symbol(name, value, "int", False)
        rewrite(bounds, lambda t: t, whole)


def _known(reader: Reader) -> Mapping[str, Number]:
    return {name: s.value for name, s in reader.symbols.items() if s.value is not None}


def _gathered(term: Term, parts: Sequence[Term], name: str) -> Term:
    """With the product of the parts, wherever it stands, as one symbol."""
    if not isinstance(term, Op):
        return term
    if term.sign != "*":
        return Op(term.sign, tuple(_gathered(part, parts, name) for part in term.args))
    own = [_gathered(one, parts, name) for one in terms.factors(term)]
    left = list(own)
    first = len(own)
    for part in parts:
        if part not in left:
            return terms.product(own)
        first = min(first, own.index(part))
        left.remove(part)
    return terms.product([*left[:first], Sym(name), *left[first:]])


def name_literals(bounds: Sequence[Bound], reader: Reader) -> None:
    """k<<<4, 256>>>(x, y, 1024): n is a dim, and 1024 elsewhere is it."""
    for bound in bounds:
        named = {
            int(one.term.value): one
            for one in reversed([*scalars(bound.arguments)])
            if isinstance(one.term, Num)
            and one.element.dtype not in (*FLOATING, "bool")
            and one.term.value >= LEAST_SIZE
        }
        for value, one in named.items():
            if one.name in reader.symbols:
                continue
            reader.symbols[one.name] = Symbol(one.name, value, "int", False)

            def change(t: Term, value: int = value, name: str = one.name) -> Term:
                return Sym(name) if t == Num(value) else t

            bound.arguments = [changed(a, change) for a in bound.arguments]
            for pointer in pointers(bound.arguments):
                if pointer.memory.elements is not None:
                    pointer.memory.elements = terms.replaced(pointer.memory.elements, change)
            bound.grid = each(bound.grid, change)
