"""KernelSource: one .hip file with its front matter, its content id and its launch plans."""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evaluators.evaluation import Rejected
from evaluators.expression import Expression, ExpressionError
from evaluators.front_matter import (
    FrontMatter,
    Launch,
    Memset,
    ValueArg,
    Variant,
    invalid,
    read_front_matter,
)
from evaluators.lined_yaml import YamlError, load, spans
from evaluators.plan import Dim3, LaunchStep, MemsetStep, Plan, Scalar, Step

if TYPE_CHECKING:
    from evaluators.task import Task

OPENING = "/*---"
CLOSING = "---*/"
MAX_CHARACTERS = 1_000_000
MAX_STEPS = 4096
MAX_SCRATCH_BYTES = 2**38
MAX_GRID: Dim3 = (2**31 - 1, 65535, 65535)


def kernel_id(text: str) -> str:
    """16 hex digits: of the kernel's meaning where it parses, else of its text."""
    try:
        return parse_kernel(text).id
    except Rejected:
        return _digest(_normalised(text))


def parse_kernel(text: str) -> "KernelSource":
    """Read and validate a kernel file. Raises Rejected(INVALID) with line and reason."""
    if len(text) > MAX_CHARACTERS:
        raise invalid(f"the file is longer than {MAX_CHARACTERS} characters", 1)
    if "\0" in text:
        raise invalid("the file holds a NUL character", text[: text.index("\0")].count("\n") + 1)
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    if not text.startswith(OPENING, start):
        raise invalid(f"a kernel file begins with its front matter, {OPENING} ... {CLOSING}", 1)
    first_line = text.count("\n", 0, start) + 1
    end = text.find(CLOSING, start)
    if end < 0:
        raise invalid(f"the front matter is not closed by {CLOSING}", first_line)
    yaml_text = text[start + len(OPENING) : end]
    if "*/" in yaml_text:
        line = first_line + yaml_text[: yaml_text.index("*/")].count("\n")
        raise invalid("'*/' inside the front matter would end the comment", line)
    try:
        tree = load(yaml_text)
    except YamlError as error:
        raise invalid(error.reason, error.line + first_line - 1) from None
    front = read_front_matter(tree, first_line)
    meaning = {key: tree[key] for key in tree if key not in ("space", "constraints")}
    code = text[end + len(CLOSING) :]
    source = KernelSource(
        text=text,
        front=front,
        id=_digest(json.dumps(meaning, sort_keys=True) + "\n" + _normalised(code)),
        yaml_start=start + len(OPENING),
        yaml_end=end,
    )
    for constraint in front.constraints:
        if not _holds(constraint, front.params, None):
            raise invalid(
                f"constraint {constraint.text!r} does not hold for params {dict(front.params)}",
                front.lines["constraints"],
            )
    return source


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelSource:
    """A parsed kernel file.

    id: of the normalised code and of all front matter that changes what runs; two files
    with the same id do the same thing.
    """

    text: str
    front: FrontMatter
    id: str
    yaml_start: int  # the YAML stands at text[yaml_start:yaml_end]
    yaml_end: int

    @property
    def code(self) -> str:
        """What follows the front matter."""
        return self.text[self.yaml_end + len(CLOSING) :]

    @property
    def code_line(self) -> int:
        """The file's line on which code begins."""
        return self.text.count("\n", 0, self.yaml_end) + 1

    @property
    def params(self) -> Mapping[str, int]:
        return self.front.params

    @property
    def space(self) -> Mapping[str, tuple[int, ...]]:
        return self.front.space

    @property
    def constraints(self) -> tuple[Expression, ...]:
        return self.front.constraints

    @property
    def variants(self) -> tuple[Variant, ...]:
        return self.front.variants

    @property
    def specialize(self) -> tuple[str, ...]:
        return self.front.specialize

    @property
    def options(self) -> tuple[str, ...]:
        return self.front.options

    @property
    def launches(self) -> tuple[Launch | Memset, ...]:
        return self.front.launches

    @property
    def prepare(self) -> tuple[Launch | Memset, ...]:
        return self.front.prepare

    @property
    def scratch(self) -> Mapping[str, Expression]:
        return self.front.scratch

    def feasible(self, params: Mapping[str, int]) -> bool:
        """Whether every constraint holds for the file's params changed by these."""
        try:
            return all(_holds(c, {**self.params, **params}, None) for c in self.constraints)
        except Rejected:
            return False

    def with_params(self, changed: Mapping[str, int]) -> "KernelSource":
        """The same file with other parameter values; everything else stays as written.

        Raises Rejected(INVALID): an unknown name, or a constraint that fails.
        """
        for name in changed:
            if name not in self.params:
                raise invalid(f"{name!r} is not in params", self.front.lines.get("params"))
        if not changed:
            return self
        values = {**self.params, **changed}
        yaml_text = self.text[self.yaml_start : self.yaml_end]
        span = spans(yaml_text)["params"]
        flow = "{" + ", ".join(f"{name}: {value}" for name, value in values.items()) + "}"
        yaml_text = (
            yaml_text[: span.start] + flow + ("\n" if span.block else "") + yaml_text[span.end :]
        )
        return parse_kernel(self.text[: self.yaml_start] + yaml_text + self.text[self.yaml_end :])

    def params_for(self, dims: Mapping[str, int]) -> dict[str, int]:
        """The parameters on a workload: the first variant whose condition holds, over the rest."""
        for variant in self.variants:
            if _holds(variant.when, {**dims, **self.params}, variant.line):
                return {**self.params, **variant.params}
        return dict(self.params)

    def plan(self, task: "Task", dims: Mapping[str, int]) -> Plan:
        """What runs on a workload of these dims. Raises Rejected(INVALID)."""
        return _Planner(self, task, dims).plan()


class _Planner:
    """Evaluates one kernel's symbolic launches for one workload."""

    def __init__(self, kernel: KernelSource, task: "Task", dims: Mapping[str, int]) -> None:
        self.kernel = kernel
        self.dims = dims
        self.params = kernel.params_for(dims)
        self.buffers = {argument.name: argument for argument in task.arguments}
        for name in kernel.params:
            if name in dims:
                raise invalid(
                    f"parameter {name!r} has the name of a dimension of task {task.name}",
                    kernel.front.lines.get("params"),
                )
        for name in kernel.specialize:
            if name not in dims:
                raise invalid(
                    f"specialize: {name!r} is not a dimension of task {task.name} "
                    f"({', '.join(dims)})",
                    kernel.front.lines.get("specialize"),
                )
        for name in kernel.scratch:
            if name in self.buffers or name in dims:
                raise invalid(
                    f"scratch: {name!r} is already a name of task {task.name}",
                    kernel.front.lines.get("scratch"),
                )
        self.env: dict[str, int] = {**dims, **self.params}
        self.specialised = {name: dims[name] for name in kernel.specialize}

    def plan(self) -> Plan:
        kernel = self.kernel
        for constraint in kernel.constraints:
            if not _holds(constraint, self.params, None):
                raise invalid(
                    f"constraint {constraint.text!r} does not hold for the variant's params "
                    f"{self.params}",
                    kernel.front.lines.get("variants"),
                )
        line = kernel.front.lines.get("scratch")
        scratch = {
            name: _integer(size, self.env, line, 1, MAX_SCRATCH_BYTES, f"scratch: {name}")
            for name, size in kernel.scratch.items()
        }
        steps = tuple(self.steps(kernel.launches, preparing=False))
        if not any(isinstance(step, LaunchStep) for step in steps):
            raise invalid(
                f"nothing is launched for {dict(self.dims)}: every 'when' is false",
                kernel.front.lines.get("launches"),
            )
        return Plan(
            defines=tuple(sorted({**self.params, **self.specialised}.items())),
            steps=steps,
            prepare=tuple(self.steps(kernel.prepare, preparing=True)),
            scratch=scratch,
        )

    def steps(self, launches: Sequence[Launch | Memset], *, preparing: bool) -> Iterator[Step]:
        count = 0
        for launch in launches:
            for env in self.rounds(launch):
                if not _holds(launch.when, env, launch.line):
                    continue
                count += 1
                if count > MAX_STEPS:
                    raise invalid(f"more than {MAX_STEPS} launches", launch.line)
                if isinstance(launch, Memset):
                    self.writable(launch.buffer, launch.line, preparing)
                    yield MemsetStep(buffer=launch.buffer, byte=launch.byte)
                else:
                    yield self.launch(launch, env, preparing)

    def rounds(self, launch: Launch | Memset) -> Iterator[dict[str, int]]:
        """One environment for each repetition."""
        if isinstance(launch, Memset) or launch.repeat is None:
            yield self.env
            return
        name, count = launch.repeat
        if name in self.env or name in self.buffers:
            raise invalid(f"repeat: {name!r} is already a name", launch.line)
        for i in range(_integer(count, self.env, launch.line, 0, MAX_STEPS, "repeat")):
            yield {**self.env, name: i}

    def writable(self, buffer: str, line: int, preparing: bool) -> None:
        if buffer in self.kernel.scratch:
            return
        if preparing or buffer not in self.buffers or not self.buffers[buffer].written:
            raise invalid(f"memset: {buffer!r} is neither an output nor scratch", line)

    def launch(self, launch: Launch, env: Mapping[str, int], preparing: bool) -> LaunchStep:
        return LaunchStep(
            entry=self.entry(launch.kernel),
            grid=_dim3(launch.grid, env, launch.line, "grid", MAX_GRID),
            block=_dim3(launch.block, env, launch.line, "block", MAX_GRID),
            lds_bytes=_integer(launch.lds_bytes, env, launch.line, 0, 2**31 - 1, "lds_bytes"),
            args=tuple(self.arg(arg, env, launch.line, preparing) for arg in launch.args),
            cooperative=launch.cooperative,
        )

    def entry(self, name: str) -> str:
        """The name expression with the values of parameters and specialised dims put in."""
        base, bracket, arguments = name.partition("<")
        values = {**self.params, **self.specialised}
        return base + re.sub(
            r"[A-Za-z_]\w*",
            lambda match: str(values.get(match[0], match[0])),
            " ".join((bracket + arguments).split()),
        )

    def arg(
        self, arg: str | ValueArg, env: Mapping[str, int], line: int, preparing: bool
    ) -> str | Scalar:
        if isinstance(arg, ValueArg):
            if arg.type == "float32":
                return Scalar(value=float(_value(arg.value, env, line, "args")), type=arg.type)
            limit = 2**31 if arg.type == "int32" else 2**63
            value = _integer(arg.value, env, line, -limit, limit - 1, f"args: {arg.value.text}")
            return Scalar(value=value, type=arg.type)
        if arg in self.kernel.scratch:
            return arg
        if arg in self.buffers:
            if preparing and self.buffers[arg].role != "constant":
                raise invalid(f"prepare may use constant inputs and scratch, not {arg!r}", line)
            return arg
        if arg in self.dims:
            if self.dims[arg] >= 2**31:
                raise invalid(f"args: {arg} = {self.dims[arg]} does not fit in int32", line)
            return Scalar(value=self.dims[arg], type="int32")
        known = ", ".join((*self.buffers, *self.kernel.scratch, *self.dims))
        hint = f"; write {{value: {arg}, type: int32}}" if arg in self.env else ""
        raise invalid(f"args: unknown name {arg!r} (known: {known}){hint}", line)


def _value(expression: Expression, env: Mapping[str, int], line: int | None, what: str) -> float:
    try:
        return expression.evaluate(env)
    except ExpressionError as error:
        raise invalid(f"{what}: {error}", line) from None


def _integer(
    expression: Expression,
    env: Mapping[str, int],
    line: int | None,
    low: int,
    high: int,
    what: str,
) -> int:
    value = int(_value(expression, env, line, what))
    if not low <= value <= high:
        raise invalid(f"{what} is {value}, must be {low} to {high}", line)
    return value


def _dim3(
    parts: Sequence[Expression], env: Mapping[str, int], line: int, what: str, most: Dim3
) -> Dim3:
    values = [_integer(p, env, line, 1, m, what) for p, m in zip(parts, most, strict=False)]
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def _holds(expression: Expression, env: Mapping[str, int], line: int | None) -> bool:
    return bool(_value(expression, env, line, "condition"))


def _normalised(text: str) -> str:
    """Without trailing blanks and empty lines, so that formatting noise is no new kernel."""
    return "\n".join(line for line in map(str.rstrip, text.splitlines()) if line)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
