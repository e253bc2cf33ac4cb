"""A task as far as a kernel's file tells it: draft()."""

import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from evaluators.authoring.drafting import terms
from evaluators.authoring.drafting.binding import (
    Argument,
    Binder,
    Bound,
    Opaque,
    Pointer,
    Scalar,
    Struct,
    pointers,
    scalars,
)
from evaluators.authoring.drafting.buffers import Memory
from evaluators.authoring.drafting.cpp import Program
from evaluators.authoring.drafting.device_code import device_code, used_names, without_masks
from evaluators.authoring.drafting.host import Host
from evaluators.authoring.drafting.elementwise import translated
from evaluators.authoring.drafting.indexing import indexes, local_size, starts_rows, strides
from evaluators.authoring.drafting.launches import Call, calls_of
from evaluators.authoring.drafting.reading import Symbol
from evaluators.authoring.drafting.signature import dtype_bytes
from evaluators.authoring.drafting.sizes import Sizes, classify
from evaluators.authoring.drafting.terms import Num, Op, Sym, Term
from evaluators.authoring.drafting.workloads import find_steps
from evaluators.tasks.arguments import TaskError

GUESSED_THREADS = 256
Use = tuple[Pointer, Bound]


@dataclass
class Array:
    """An argument of the task. say: what whoever drafts it must tell; "" for nothing."""

    name: str
    dtype: str
    shape: list[Term]
    role: str
    say: str = ""
    below: str = ""
    """Of integers: the first number that they may not reach."""
    starts: bool = False
    """Whether it holds where ragged rows begin, in order, up to below."""


@dataclass
class Step:
    """A launch, or a memset of a buffer. arguments: as front matter has them, YAML flow text."""

    kernel: str = ""
    bound: Bound | None = None
    arguments: list[str] = field(default_factory=list)
    buffer: str = ""
    byte: int = 0


@dataclass
class Draft:
    """says: what is left for a person, one sentence each. understood: what was found."""

    source: str
    sizes: Sizes
    arrays: list[Array]
    scratch: dict[str, str]
    steps: list[Step]
    code: str
    kernels: list[str]
    space: dict[str, list[int]]
    says: list[str]
    understood: list[str]
    body: dict[str, str] = field(default_factory=dict)
    """By output what it is in numpy, where the kernel was translated."""

    @property
    def outputs(self) -> list[Array]:
        return [one for one in self.arrays if one.role in ("out", "inout")]


def draft(text: str, source: str, kernels: Sequence[str] = (), *, masks: bool = False) -> Draft:
    """Of a program's text. kernels: which to take, by default the ones that belong together.

    masks: rewrite __shfl_*_sync without masks. Raises TaskError: no kernel, or several problems.
    """
    host = Host(Program(text))
    calls = _chosen(host, calls_of(host), kernels, source)
    binder = Binder(host)
    bounds = [binder.bound(one) if isinstance(one, Call) else binder.unlaunched(one) for one in calls]
    taken = list(dict.fromkeys(bound.signature.item.name for bound in bounds))
    words = used_names(host, [*taken, *_template_words(bounds)])
    says: list[str] = []
    _name_unknown(bounds, binder, says)
    sizes = classify(bounds, binder.reader, words)
    _guess_launches(bounds, sizes, says)
    names = _names(bounds)
    copies = binder.buffers.copies
    find_steps(bounds, sizes)
    arrays, scratch = _arrays(bounds, names, sizes, says, copies=copies)
    steps = _steps(bounds, names, arrays, scratch, says)
    code = device_code(host, taken, words, sizes.gone)
    changed = 0
    if masks:
        code, changed = without_masks(code)
    made = Draft(
        source=source,
        sizes=sizes,
        arrays=arrays,
        scratch=scratch,
        steps=steps,
        code=code,
        kernels=taken,
        space=_space(bounds, sizes, code),
        says=says,
        understood=[],
    )
    made.body = _body(made, bounds, names, host)
    _tell(made, host, bounds, changed)
    return made


def _body(
    made: Draft, bounds: Sequence[Bound], names: Mapping[str, str], host: Host
) -> dict[str, str]:
    """What an elementwise kernel makes of each output, in numpy."""
    (bound,) = bounds if len(bounds) == 1 else (None,)
    if bound is None or bound.repeat or bound.when or len({str(a.shape) for a in made.arrays}) > 1:
        return {}
    arrays = {
        one.parameter.name: names[one.memory.key]
        for one in pointers(bound.arguments)
        if one.element.dtype in ("float32", "float64") and one.element.count == 1
    }
    attributes = {
        one.name: one.term.name
        for one in scalars(bound.arguments)
        if isinstance(one.term, Sym) and one.element.dtype in ("float32", "float64")
    }
    if keyword.iskeyword("".join(arrays.values())):
        return {}
    found = translated(bound.signature.item, arrays, attributes, host.device)
    if found is None or set(found) != {one.name for one in made.outputs}:
        return {}
    return found


# --- which kernels ------------------------------------------------------------------------------


def _chosen(
    host: Host, calls: Sequence[Call], wanted: Sequence[str], source: str
) -> list[Call | str]:
    """The launches that make up the problem; a name alone for a kernel that is never launched."""
    if not host.kernels:
        raise TaskError(
            f"{source}: no __global__ function was found (one made by a macro is not seen): "
            "write the kernel out, or start from new-task without --from-kernel"
        )
    for name in wanted:
        if name not in host.kernels:
            known = ", ".join(host.kernels)
            raise TaskError(f"{source}: has no kernel {name!r}: its kernels are {known}")
    launched = [one for one in calls if one.kernel in host.kernels]
    names = list(wanted) or list(dict.fromkeys(one.kernel for one in launched)) or [*host.kernels]
    if len(names) > 1 and not wanted and not _belong_together(host, launched):
        raise TaskError(
            f"{source}: has {len(names)} kernels that are no steps of one computation "
            f"({', '.join(names)}): name the one to take, --kernel {names[0]}, or each step in turn"
        )
    found: list[Call | str] = []
    for name in names:
        own = [one for one in launched if one.kernel == name]
        found += _distinct(own) if own else [name]
    order = {id(one): i for i, one in enumerate(calls)}
    if all(isinstance(one, Call) for one in found):
        found.sort(key=lambda one: order[id(one)])
    return found


def _distinct(calls: Sequence[Call]) -> list[Call]:
    """Without launches that were made before, such as those that warm up, and other sizes'."""
    made: list[Call] = []
    for one in calls:
        same = [m for m in made if m.given == one.given and m.dims == one.dims]
        elsewhere = made and (one.frame is None or made[0].frame is None or (
            one.frame.function is not made[0].frame.function
        ))
        if not same and not elsewhere:
            made.append(one)
    return made


def _belong_together(host: Host, calls: Sequence[Call]) -> bool:
    """Whether one host function launches them all, and each but the first uses what one before it
    has written."""
    if not calls or len({one.frame.key if one.frame else "" for one in calls}) > 1:
        return False
    binder = Binder(host)
    written: set[str] = set()
    for place, bound in enumerate(map(binder.bound, calls)):
        own = [*pointers(bound.arguments)]
        reads = {p.memory.key for p in own if p.parameter.read}
        if place and not reads & written:
            return False
        written |= {p.memory.key for p in own if p.parameter.written}
    return True


def _template_words(bounds: Sequence[Bound]) -> list[str]:
    texts = [t for bound in bounds for t in bound.templates if isinstance(t, str)]
    return [word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)]


# --- what was not understood --------------------------------------------------------------------


def _name_unknown(bounds: Sequence[Bound], binder: Binder, says: list[str]) -> None:
    symbols = binder.reader.symbols
    for bound in bounds:
        says += bound.unread
        arguments: list[Argument] = []
        for one in bound.arguments:
            if isinstance(one, Scalar) and (lost := terms.unknown(one.term)):
                symbols.setdefault(one.name, Symbol(one.name, None, one.element.type, False))
                says.append(
                    f"{one.name}: the program passes {_short(lost)}, which was not understood"
                )
                one = Scalar(one.name, Sym(one.name), one.element, one.boolean)
            elif isinstance(one, Opaque):
                says.append(
                    f"{one.name}: no argument of type {one.type} could be made; write its fields, "
                    "{struct: [...]}, in args of the seed"
                )
            arguments.append(one)
        bound.arguments = arguments


def _guess_launches(bounds: Sequence[Bound], sizes: Sizes, says: list[str]) -> None:
    for bound in bounds:
        name = bound.signature.item.name
        lost = [t for t in (*bound.grid, *bound.block) if terms.unknown(t)]
        if not lost and not bound.guessed:
            if text := terms.unknown(bound.lds_bytes):
                says.append(f"{name}: lds_bytes, where the program has {_short(text)}")
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
        why = "no launch of it was found" if bound.guessed else f"{_short(terms.unknown(lost[0]))}"
        says.append(f"{name}: grid and block are guesses ({why}): write how it is launched")


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return repr(plain if len(plain) < 60 else plain[:57] + "...")


# --- arrays -------------------------------------------------------------------------------------


def _names(bounds: Sequence[Bound]) -> dict[str, str]:
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


def _arrays(
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
    if not any(one.role in ("out", "inout") for one in arrays) and arrays:
        arrays[-1].role = "out"
        arrays[-1].say = "no kernel seems to write to any argument: give outputs the role out"
    for key, own in uses.items():
        for one in arrays:
            if one.name == names[key] and one.role in ("in", "inout") and "int" in one.dtype:
                _bound_integers(one, own, arrays, names)
    for one in arrays:
        if one.say:
            says.append(f"{one.name}: {one.say}")
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
        shape: list[Term] = [Sym(dim) for dim in sizes.dims][:2] or [Num(1)]
        if element.count > 1:
            shape[-1] = terms.op("*", shape[-1], Num(element.count))
        what = f" ({_short(terms.unknown(count))})" if count is not None else ""
        say.append(f"its shape is a guess: no allocation of it was understood{what}")
    else:
        shape = _shape(count)
        if len(shape) == 2 and any(_lies_across(one, bound, shape) for one, bound in own):
            shape.reverse()
    return Array(name, dtype, shape, role, "; ".join(say))


def _lies_across(pointer: Pointer, bound: Bound, shape: Sequence[Term]) -> bool:
    """Whether the kernel steps from row to row by the size that stands first."""
    words = [_words_of(bound, one) for one in shape]
    found = strides(bound.signature.item, pointer.parameter.name, words[0] | words[1])
    return bool(found & words[0]) and not found & words[1]


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


# --- steps --------------------------------------------------------------------------------------


def _steps(
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
_TILES = (8, 16, 32)


def _space(bounds: Sequence[Bound], sizes: Sizes, code: str) -> dict[str, list[int]]:
    """Block sizes that the code follows: a macro of its own that sizes its arrays, or any number
    where the kernels have no LDS and no bounds."""
    free = not re.search(r"(?<!extern )__shared__|__launch_bounds__|_sync\b|__shfl", code)
    found = {}
    for name, value in sizes.params.items():
        alone = all(bound.block[1:] == (Num(1), Num(1)) for bound in bounds)
        own = any(Sym(name) in bound.block for bound in bounds)
        if own and alone and (free or name in _template_values(bounds)) and value in _THREADS:
            found[name] = [*_THREADS]
    return found


def _template_values(bounds: Sequence[Bound]) -> set[str]:
    return {t.name for b in bounds for t in b.templates if isinstance(t, Sym)}


# --- the summary --------------------------------------------------------------------------------


def _tell(made: Draft, host: Host, bounds: Sequence[Bound], changed: int) -> None:
    told = made.understood
    told.append(f"kernels: {', '.join(made.kernels)}")
    if made.sizes.dims:
        told.append("dims: " + ", ".join(
            name if value is None else f"{name} ({value} in the program)"
            for name, value in made.sizes.dims.items()
        ))
    if made.sizes.attributes:
        told.append("attributes: " + ", ".join(
            f"{name} = {str(value).lower() if isinstance(value, bool) else value}"
            for name, value in made.sizes.attributes.items()
        ))
    if made.sizes.params:
        told.append("params: " + ", ".join(f"{k} = {v}" for k, v in made.sizes.params.items()))
    for name, step in made.sizes.steps.items():
        told.append(f"{name} is a multiple of {step}: the program divides by it or checks no bound")
    for one in made.arrays:
        shape = ", ".join(map(terms.written, one.shape))
        told.append(f"{one.role} {one.name}: {one.dtype} [{shape}]")
    for name, nbytes in made.scratch.items():
        told.append(f"scratch {name}: {nbytes} bytes")
    if changed:
        told.append(f"{changed} shuffles without their masks, over 32 lanes as before")
    for name in sorted(made.sizes.guessed):
        made.says.append(f"{name}: its default {made.sizes.attributes[name]} is a guess")
    masked = re.search(r"__\w+_sync\s*\(\s*(?:0[xX]f{8}\b|0[xX]F{8}\b|-1|~0|\w*MASK\w*)", made.code)
    if masked and not changed:
        made.says.append(
            "its shuffles have masks of 32 lanes, which an MI300 refuses: run new-task again with "
            "--masks to have them rewritten, or do it by hand"
        )
    constants = [i.name for i in host.items if i.kind == "variable" and i.name in made.code and (
        host.program.marked(i.start, i.end, "__constant__")
    )]
    for name in constants:
        made.says.append(
            f"{name}: a __constant__ that the host sets can't be set here: make it an argument of "
            "the kernel"
        )
    if left := _own_includes(host):
        made.says.append(
            f"{', '.join(left)}: left out; copy into the seed what the kernel uses from there"
        )


def _own_includes(host: Host) -> list[str]:
    found = []
    for one in host.program.directives:
        raw = host.program.data[one.start : one.end].decode()
        if one.word == "include" and (name := re.search(r'"([^"]+)"', raw)):
            if not re.match(r"(hip|cuda|std|cooperative|math)", name[1]):
                found.append(name[1])
    return found

