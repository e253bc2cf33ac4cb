"""The steps of a seed's launch plan, and what of it may be tuned."""

import re
from collections.abc import Mapping, Sequence

from evaluators.authoring.drafting.model import Array, Step
from evaluators.authoring.drafting.sizes import Sizes
from evaluators.authoring.program import terms
from evaluators.authoring.program.arguments import (
    Argument,
    Bound,
    Pointer,
    Scalar,
    Struct,
    pointers,
)
from evaluators.authoring.program.terms import Num, Sym, Term


def make_steps(
    bounds: Sequence[Bound],
    names: Mapping[str, str],
    arrays: Sequence[Array],
    scratch: Mapping[str, str],
    says: list[str],
) -> list[Step]:
    """Memsets of what the host fills before, then the launches."""
    steps = []
    filled = set()
    written = {one.name for one in arrays if one.role == "out"} | set(scratch)
    for bound in bounds:
        for one in pointers(bound.arguments):
            name = names[one.memory.key]
            if one.memory.byte is not None and name in written and name not in filled:
                filled.add(name)
                steps.append(Step(buffer=name, byte=one.memory.byte))
    for bound in bounds:
        item = bound.signature.item
        arguments = [_written(one, names) for one in bound.arguments]
        arguments += ["null"] * (len(bound.signature.parameters) - len(arguments))
        words = [t if isinstance(t, str) else terms.written(t) for t in bound.templates]
        kernel = item.qualified + (f"<{', '.join(words)}>" if words else "")
        steps.append(Step(kernel=kernel, bound=bound, arguments=arguments))
    return steps


_PLAIN = {"int32": (Sym,), "float32": (Sym,), "bool": (Sym,)}


def _written(one: Argument, names: Mapping[str, str]) -> str:
    match one:
        case Pointer(memory=memory):
            return names[memory.key]
        case Scalar(term=Sym(name=name), element=element) if element.dtype in _PLAIN:
            return name
        case Scalar(term=term, element=element):
            return f'{{value: "{terms.written(term)}", type: {element.dtype}}}'
        case Struct(fields=fields):
            return f"{{struct: [{', '.join(_written(field, names) for field in fields)}]}}"
        case _:
            return "null"


# --- what may be tuned --------------------------------------------------------------------------

_THREADS = (64, 128, 256, 512)
_MOST_THREADS = 1024


def name_block(bounds: Sequence[Bound], sizes: Sizes, code: str) -> None:
    """A plain number of threads becomes a parameter, and the same number in the grid, where the
    code asks for its block's size and holds no such number."""
    (bound,) = bounds if len(bounds) == 1 else (None,)
    threads = bound.block[0] if bound is not None else None
    if bound is None or not isinstance(threads, Num) or threads.value not in _THREADS:
        return
    plain = bound.block[1:] == (Num(1), Num(1)) and "blockDim" in code
    if not plain or "THREADS" in sizes.taken or re.search(rf"\b({threads.value}|THREADS)\b", code):
        return
    sizes.params["THREADS"] = int(threads.value)

    def named(term: Term) -> Term:
        return Sym("THREADS") if term == threads else term

    x, y, z = (terms.replaced(one, named) for one in bound.grid)
    bound.grid, bound.block = (x, y, z), (Sym("THREADS"), Num(1), Num(1))
    bound.lds_bytes = terms.replaced(bound.lds_bytes, named)


def tunable(bounds: Sequence[Bound], sizes: Sizes, code: str) -> dict[str, list[int]]:
    """Sizes of blocks that the code follows: macros or template arguments of its own, halved and
    doubled; any usual number where the kernels have no arrays in LDS, no lanes and no bounds."""
    free = not re.search(r"(?<!extern )__shared__|__launch_bounds__|_sync\b|__shfl", code)
    alone = all(bound.block[1:] == (Num(1), Num(1)) for bound in bounds)
    own = {t.name for b in bounds for t in b.templates if isinstance(t, Sym)} | sizes.gone
    found = {}
    for name, value in sizes.params.items():
        if not any(Sym(name) in bound.block for bound in bounds):
            continue
        if alone and (free or name in own) and value in _THREADS:
            found[name] = [*_THREADS]
        elif name in own:
            values = [value // 2, value, 2 * value]
            found[name] = [v for v in values if v and _threads(bounds, sizes, name, v)]
    return found


def _threads(bounds: Sequence[Bound], sizes: Sizes, name: str, value: int) -> bool:
    """Whether no block has more threads than a device takes, with that value of a parameter."""
    known = {**sizes.values(), name: value}
    counts = [terms.value(terms.product([*bound.block]), known) for bound in bounds]
    return all(count is not None and count <= _MOST_THREADS for count in counts)
