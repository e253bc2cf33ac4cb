"""A draft as the files of a task: task.yaml, reference.py, seeds/naive.hip."""

from collections.abc import Iterator, Mapping, Sequence

from evaluators.authoring.drafting.model import Array, Draft, Step
from evaluators.authoring.drafting.workloads import benchmarks, other_attributes, tests
from evaluators.authoring.program import terms
from evaluators.authoring.program.elements import dtype_bytes
from evaluators.authoring.program.terms import Num, Op, Term
from evaluators.tasks.reference_file import safe

SAY = "# say:"
"""Marks in a drafted file what only a person knows."""
TOLERANCES = {
    "float32": ("1.0e-4", "1.0e-5"),
    "float64": ("1.0e-10", "1.0e-12"),
    "float16": ("1.0e-2", "1.0e-3"),
    "bfloat16": ("3.0e-2", "1.0e-2"),
}
"""rtol and atol of a draft; check-task says what fits."""
SUMMED = {"float32": "2.0e-7", "float64": "4.0e-16"}
"""Of atol, for each element of a sum: about an ulp."""
RANGES = {"bool": ("0", "2"), "uint8": ("0", "256"), "int8": ("-128", "128")}


def files(draft: Draft, name: str) -> dict[str, str]:
    """By path in the task's folder."""
    return {
        "task.yaml": "\n".join(_task(draft, name)) + "\n",
        "reference.py": "\n".join(_reference(draft)) + "\n",
        "seeds/naive.hip": _seed(draft),
    }


def _task(draft: Draft, name: str) -> Iterator[str]:
    sizes = draft.sizes
    yield f"# Drafted from {draft.source}. docs/tasks.md has every key."
    yield f"{SAY} in the description, what it computes, in words or a formula"
    yield "description: |"
    yield f"  {name.replace('_', ' ').replace('-', ' ')}, as {draft.source} computes it."
    yield f"dims: [{', '.join(sizes.dims)}]"
    if sizes.attributes:
        yield "attributes:"
        for word, value in sizes.attributes.items():
            mark = f"   {SAY} its usual value" if word in sizes.guessed else ""
            yield f"  {word}: {_yaml(value)}{mark}"
    yield "arguments:"
    for one in draft.arrays:
        yield f"  - {_argument(one, _summed(one, draft))}"
        if one.say:
            yield f"    {SAY} {one.say}"
    if (moved := _moved(draft.arrays)) is not None:
        yield "# Each input read once, each output written once. With flops beside it, such as"
        free = " * ".join(name for name in sizes.dims if name not in sizes.fixed)
        yield f'# flops: "2 * {free or 1}", the speed of light is told too.'
        yield f'bytes: "{moved}"'
    yield "tests:"
    yield from (f"  - {_flow(one)}" for one in tests(sizes))
    if changed := other_attributes(sizes):
        yield f"  - {_flow({**tests(sizes)[-1], **changed})}"
    cpu, gpu = benchmarks(sizes)
    yield "benchmarks:"
    yield "  cpu:"
    yield from (f"    - {_flow(one)}" for one in cpu)
    yield "  default:"
    yield from (f"    - {_flow(one)}" for one in gpu)


def _yaml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        text = f"{value:.9g}"
        return (
            text.replace("e", ".0e")
            if "e" in text and "." not in text
            else (text if "." in text or "e" in text else f"{text}.0")
        )
    return str(value)


def _flow(dims: Mapping[str, int | float]) -> str:
    return "{" + ", ".join(f"{name}: {_yaml(value)}" for name, value in dims.items()) + "}"


def _argument(one: Array, summed: str) -> str:
    shape = ", ".join(_quoted(terms.written(part)) for part in one.shape)
    parts = [f"name: {_word(one.name)}", f"dtype: {one.dtype}", f"shape: [{shape}]"]
    parts.append(f"role: {one.role}")
    if one.role in ("in", "inout") and one.dtype not in TOLERANCES:
        low, high = RANGES.get(one.dtype, ("0", "100"))
        if one.below:
            low, high = "0", one.below
        bounds = f"low: {low}, high: {_quoted(high)}"
        parts.append(f"distribution: {{kind: integers, {bounds}}}")
    if one.role in ("out", "inout"):
        rtol, atol = TOLERANCES.get(one.dtype, ("0", "0"))
        if summed and one.dtype in TOLERANCES:  # what cancels has the error of its parts
            atol = f'"{atol} + {SUMMED.get(one.dtype, SUMMED["float32"])} * {summed}"'
        parts.append(f"rtol: {rtol}, atol: {atol}")
    return "{" + ", ".join(parts) + "}"


def _summed(one: Array, draft: Draft) -> str:
    """How many elements an element of an output may be a sum of: sizes that inputs have and the
    output has not."""
    own = {name for part in one.shape for name in terms.names(part)}
    others = dict.fromkeys(
        name
        for other in draft.arrays
        if other.role in ("in", "inout")
        for part in other.shape
        for name in terms.names(part)
        if name not in own
    )
    if "float" not in one.dtype and "bfloat" not in one.dtype:
        return ""
    return " * ".join(others)


def _word(name: str) -> str:
    """YAML takes these for booleans or for nothing where they stand alone."""
    words = ("yes", "no", "on", "off", "true", "false", "null")
    return f'"{name}"' if name.lower() in words else name


def _quoted(text: str) -> str:
    return text if text.replace("_", "").isalnum() else f'"{text}"'


def _moved(arrays: Sequence[Array]) -> str | None:
    """Bytes, gathered by how many each element has."""
    by_size: dict[int, dict[Term, int]] = {}
    for one in arrays:
        counts = by_size.setdefault(dtype_bytes(one.dtype), {})
        count = terms.product(sorted(one.shape, key=str))
        counts[count] = counts.get(count, 0) + (2 if one.role == "inout" else 1)
    parts = []
    for each, counts in by_size.items():
        total: Term | None = None
        for count, times in counts.items():
            part = terms.op("*", Num(times), count) if len(counts) > 1 else count
            total = part if total is None else Op("+", (total, part))
        if total is not None:
            factor = each if len(counts) > 1 else each * next(iter(counts.values()))
            parts.append(terms.op("*", Num(factor), total))
    made: Term | None = None
    for part in parts:
        made = part if made is None else Op("+", (made, part))
    return terms.written(made) if made is not None else None


# --- reference.py -------------------------------------------------------------------------------


def _reference(draft: Draft) -> Iterator[str]:
    given = [one for one in draft.arrays if one.role in ("in", "inout")]
    known = [f"{safe(one.name)}: Array" for one in given]
    known += [f"{name}: int" for name in draft.sizes.dims]
    known += [f"{name}: {type(v).__name__}" for name, v in draft.sizes.attributes.items()]
    shapes = "; ".join(
        f"{one.name} is {' x '.join(terms.written(part) for part in one.shape)}"
        for one in draft.arrays
    )
    yield f'"""What {draft.source} computes, in float64 with numpy."""'
    yield ""
    yield "from typing import Any"
    yield ""
    yield "import numpy as np"
    if "erf(" in " ".join(draft.body.values()):
        yield "from scipy.special import erf"
    yield ""
    yield "Array = np.ndarray[Any, Any]"
    yield ""
    yield ""
    yield from _signature("reference", known, "dict[str, Array]")
    yield f'    """{shapes}.'
    yield ""
    yield "    Inputs come by name, as float64 (int64 for integers). Returns every output by name."
    yield '    """'
    outputs = draft.outputs
    if draft.body:
        yield "    # Translated from the kernel: what is wrong there is wrong here. Read it."
        yield "    return {"
        for one in outputs:
            yield f'        "{one.name}": {_unwrapped(draft.body[one.name])},'
        yield "    }"
    else:
        names = ", ".join(f'"{one.name}": ...' for one in outputs)
        wanted = " and ".join(one.name for one in outputs)
        yield f"    {SAY} what the kernel computes, plainly; then return {{{names}}}"
        yield "    raise NotImplementedError("
        yield f'        "reference.py is a draft: write what {wanted} must be, in numpy"'
        yield "    )"
    starts = [one for one in given if one.starts and one.below]
    if starts:
        yield from _inputs(starts, draft)


def _unwrapped(text: str) -> str:
    if text.startswith("(") and text.endswith(")"):
        depth = 0
        for i, sign in enumerate(text):
            depth += (sign == "(") - (sign == ")")
            if not depth:
                return text[1:-1] if i == len(text) - 1 else text
    return text


def _signature(name: str, known: Sequence[str], returns: str) -> Iterator[str]:
    line = f"def {name}({', '.join(known)}) -> {returns}:"
    if len(line) <= 100:
        yield line
        return
    yield f"def {name}("
    yield from (f"    {one}," for one in known)
    yield f") -> {returns}:"


def _inputs(starts: Sequence[Array], draft: Draft) -> Iterator[str]:
    names = sorted({n for one in starts for part in one.shape for n in terms.names(part)})
    below = {n for one in starts for n in draft.sizes.dims if n in one.below}
    known = [f"{name}: int" for name in sorted({*names, *below})]
    yield ""
    yield ""
    yield from _signature(
        "inputs", ["rng: np.random.Generator", *known, "**_: Any"], "dict[str, Array]"
    )
    yield '    """Inputs that no distribution describes: where ragged rows start, in order."""'
    for one in starts:
        count = terms.written(terms.op("-", terms.product(list(one.shape)), Num(2)))
        yield f"    inner = np.sort(rng.integers(0, {one.below} + 1, max(0, {count})))"
        yield f"    {one.name} = np.concatenate([[0], inner, [{one.below}]])"
    returned = ", ".join(f'"{one.name}": {one.name}' for one in starts)
    yield f"    return {{{returned}}}"


# --- seeds/naive.hip ----------------------------------------------------------------------------


def _seed(draft: Draft) -> str:
    lines = ["/*---", "launches:"]
    for step in draft.steps:
        lines += _step(step)
    if draft.scratch:
        held = ", ".join(f'{name}: "{nbytes}"' for name, nbytes in draft.scratch.items())
        lines.append(f"scratch: {{{held}}}")
    if draft.sizes.params:
        values = ", ".join(f"{name}: {value}" for name, value in draft.sizes.params.items())
        lines.append(f"params: {{{values}}}")
    if draft.space:
        values = ", ".join(f"{name}: {value}" for name, value in draft.space.items())
        lines.append(f"space: {{{values}}}")
    if draft.sizes.specialize:
        lines.append(f"specialize: [{', '.join(draft.sizes.specialize)}]")
    lines.append("---*/")
    return "\n".join(lines) + "\n" + draft.code


def _step(step: Step) -> Iterator[str]:
    if step.bound is None:
        yield f"  - {{memset: {{buffer: {step.buffer}, byte: {step.byte}}}}}"
        return
    bound = step.bound
    yield f"  - kernel: {_kernel(step.kernel)}"
    yield f"    grid: [{', '.join(_three(bound.grid))}]"
    yield f"    block: [{', '.join(_three(bound.block))}]"
    if bound.lds_bytes != Num(0):
        yield f'    lds_bytes: "{terms.written(bound.lds_bytes)}"'
    yield f"    args: [{', '.join(map(_bare, step.arguments))}]"
    if bound.cooperative:
        yield "    cooperative: true"
    if bound.when is not None:
        yield f'    when: "{terms.written(bound.when)}"'
    if bound.repeat is not None:
        name, count = bound.repeat
        yield f'    repeat: {{{name}: "{terms.written(count)}"}}'
    if bound.guessed:
        yield f"    {SAY} grid and block, as the program launches it"


def _kernel(name: str) -> str:
    return f'"{name}"' if ":" in name or "," in name else name


def _bare(argument: str) -> str:
    return _word(argument) if argument.isidentifier() else argument


def _three(dim: Sequence[Term]) -> list[str]:
    parts = [*dim]
    while len(parts) > 1 and parts[-1] == Num(1):
        parts.pop()
    return [_number_or_quoted(one) for one in parts]


def _number_or_quoted(term: Term) -> str:
    return str(term.value) if isinstance(term, Num) else f'"{terms.written(term)}"'
