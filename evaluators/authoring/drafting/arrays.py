"""The task's arguments and scratch, from the memory that launches are given."""

import re
from collections.abc import Mapping, Sequence

from evaluators.authoring.drafting.guesses import short
from evaluators.authoring.drafting.model import Array
from evaluators.authoring.drafting.sizes import Sizes
from evaluators.authoring.program import terms
from evaluators.authoring.program.arguments import Bound, Pointer, pointers, scalars
from evaluators.authoring.program.buffers import Memory
from evaluators.authoring.program.elements import dtype_bytes
from evaluators.authoring.program.elements import element as element_of
from evaluators.authoring.program.indexing import indexes, local_size, starts_rows, strides
from evaluators.authoring.program.terms import Num, Sym, Term

Use = tuple[Pointer, Bound]


def name_memory(bounds: Sequence[Bound]) -> dict[str, str]:
    """Of each memory by its key: the parameter's where that is one and the same everywhere, else
    the host variable's without d_ and the like."""
    called: dict[str, set[str]] = {}
    memories: dict[str, Memory] = {}
    for bound in bounds:
        for one in pointers(bound.arguments):
            called.setdefault(one.memory.key, set()).add(one.parameter.name)
            memories[one.memory.key] = one.memory
    own = {key: next(iter(words)) for key, words in called.items() if len(words) == 1}
    clash = len(set(own.values())) < len(own) or len(own) < len(called)
    found: dict[str, str] = {}
    for key, memory in memories.items():
        name = _stripped(memory.name) if clash else own[key]
        while name in found.values():
            name += "_2"
        found[key] = name
    return found


def _stripped(name: str) -> str:
    plain = re.sub(r"^(?:d|dev|device|gpu)_|^d(?=[A-Z])|_(?:d|dev|device|gpu)$", "", name)
    plain = re.sub(r"\W", "_", plain).strip("_")
    return plain if plain and not plain[0].isdigit() else "array"


def make_arrays(
    bounds: Sequence[Bound],
    names: Mapping[str, str],
    sizes: Sizes,
    says: list[str],
    *,
    copies: bool,
) -> tuple[list[Array], dict[str, str]]:
    """The task's arguments, and scratch by name with its bytes."""
    uses: dict[str, list[Use]] = {}
    for bound in bounds:
        for one in pointers(bound.arguments):
            uses.setdefault(one.memory.key, []).append((one, bound))
    arrays, scratch = [], {}
    for key, own in uses.items():
        role = _role([pointer for pointer, _ in own], copies=copies)
        array = _array(names[key], own, role, sizes)
        if role == "scratch":
            nbytes = terms.product([*array.shape, Num(dtype_bytes(array.dtype))])
            scratch[array.name] = terms.written(nbytes)
        else:
            arrays.append(array)
    if arrays and not any(array.role in ("out", "inout") for array in arrays):
        arrays[-1].role = "out"
        arrays[-1].say = "no kernel seems to write to any argument: give outputs the role out"
    for key, own in uses.items():
        for array in arrays:
            given = array.name == names[key] and array.role in ("in", "inout")
            if given and "int" in array.dtype:
                _bound_integers(array, own, arrays, names)
    says += [f"{array.name}: {array.say}" for array in arrays if array.say]
    return arrays, scratch


def _bound_integers(
    array: Array, own: Sequence[Use], arrays: Sequence[Array], names: Mapping[str, str]
) -> None:
    """What integers may be, by what they index."""
    pointer, bound = own[0]
    item = bound.signature.item
    by_parameter = {
        one.parameter.name: found
        for one in pointers(bound.arguments)
        for found in arrays
        if found.name == names[one.memory.key]
    }
    array.starts = starts_rows(item, pointer.parameter.name)
    for found in indexes(item, pointer.parameter.name, by_parameter):
        of = by_parameter.get(found.array)
        if of is not None:
            array.below = terms.written(terms.product(of.shape) if found.whole else of.shape[0])
        elif found.whole:
            array.below = local_size(item, found.array)
        break


def _role(own: Sequence[Pointer], *, copies: bool) -> str:
    memory = own[0].memory
    first = own[0].parameter
    written = any(one.parameter.written for one in own)
    later = any(one.parameter.read for one in own[1:])
    if not written:
        return "in"
    if first.read and (memory.byte is None or memory.given):
        return "inout"
    if not memory.taken and (copies or later) and not (copies and len(own) == 1 and not later):
        return "scratch"
    return "out"


def _array(name: str, own: Sequence[Use], role: str, sizes: Sizes) -> Array:
    element = own[0][0].element
    memory = own[0][0].memory
    dtype = element.dtype
    say: list[str] = []
    if not dtype:
        say.append(f"its type {element.type} is no dtype of tasks: float32 is a guess")
        dtype = "float32"
    count = memory.elements
    if count is None or terms.unknown(count):
        shape: list[Term] = [*map(Sym, [*sizes.dims][:2])] or [Num(1)]
        lanes = element_of(memory.type or element.type, {}).count
        shape[-1] = terms.op("*", shape[-1], Num(lanes))
        what = f" ({short(terms.unknown(count))})" if count is not None else ""
        say.append(f"its shape is a guess: no allocation of it was understood{what}")
    else:
        shape = _shape(count)
        if len(shape) == 2 and any(_lies_across(one, bound, shape) for one, bound in own):
            shape.reverse()
    return Array(name, dtype, shape, role, "; ".join(say))


def _lies_across(pointer: Pointer, bound: Bound, shape: Sequence[Term]) -> bool:
    """Whether the kernel steps from row to row by the size that stands first, or, where its
    indices do not tell, blocks lie along that one in x."""
    words = [_words_of(bound, one) for one in shape]
    found = strides(bound.signature.item, pointer.parameter.name, words[0] | words[1])
    if found:
        return bool(found & words[0]) and not found & words[1]
    across, down = (set(terms.names(one)) for one in bound.grid[:2])
    first, last = (set(terms.names(one)) for one in shape)
    return bool(down) and bool(first & across) and not last & across


def _words_of(bound: Bound, size: Term) -> set[str]:
    """What the kernel calls a size."""
    own = {s.name for s in scalars(bound.arguments) if s.term == size}
    return own | ({size.name} if isinstance(size, Sym) else set())


def _shape(count: Term) -> list[Term]:
    """rows * cols elements are rows x cols; plain numbers belong to the size before them."""
    parts = terms.factors(count)
    if len(parts) < 2:
        return [count]
    made: list[Term] = []
    numbers: list[Term] = []
    for part in parts:
        (numbers if isinstance(part, Num) else made).append(part)
    if not made:
        return [terms.product(parts)]
    if numbers:
        made[0 if parts[0] in numbers else -1] = terms.product(
            [*numbers, made[0]] if parts[0] in numbers else [made[-1], *numbers]
        )
    return made
