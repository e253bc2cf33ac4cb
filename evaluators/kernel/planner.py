"""Planner: a kernel file's symbolic launches, evaluated for one workload."""

import re
from collections.abc import Iterator, Mapping, Sequence

from evaluators.expression import Expression, ExpressionError
from evaluators.kernel.front_matter import FrontMatter, Launch, Memset, ValueArg, invalid
from evaluators.kernel.plan import Dim3, LaunchStep, MemsetStep, Plan, Scalar, Step
from evaluators.tasks.task import Task

MAX_STEPS = 4096
MAX_SCRATCH_BYTES = 2**38
MAX_GRID: Dim3 = (2**31 - 1, 65535, 65535)


def params_for(front: FrontMatter, dims: Mapping[str, int]) -> dict[str, int]:
    """The parameters on a workload: the first variant whose condition holds, over the rest."""
    for variant in front.variants:
        if holds(variant.when, {**dims, **front.params}, variant.line):
            return {**front.params, **variant.params}
    return dict(front.params)


class Planner:
    """Evaluates one kernel file's symbolic launches for one workload."""

    def __init__(self, front: FrontMatter, task: Task, dims: Mapping[str, int]) -> None:
        self.front = front
        self.dims = dims
        self.params = params_for(front, dims)
        self.buffers = {argument.name: argument for argument in task.arguments}
        for name in front.params:
            if name in dims or name in self.buffers:
                what = "a dimension" if name in dims else "an argument"
                raise invalid(
                    f"parameter {name!r} has the name of {what} of task {task.name}",
                    front.lines.get("params"),
                )
        for name in front.specialize:
            if name not in dims:
                raise invalid(
                    f"specialize: {name!r} is not a dimension of task {task.name} "
                    f"({', '.join(dims)})",
                    front.lines.get("specialize"),
                )
        for name in front.scratch:
            if name in self.buffers or name in dims:
                raise invalid(
                    f"scratch: {name!r} is already a name of task {task.name}",
                    front.lines.get("scratch"),
                )
        self.env: dict[str, int] = {**dims, **self.params}
        self.specialised = {name: dims[name] for name in front.specialize}

    def plan(self) -> Plan:
        front = self.front
        for constraint in front.constraints:
            if not holds(constraint, self.params, None):
                raise invalid(
                    f"constraint {constraint.text!r} does not hold for the variant's params "
                    f"{self.params}",
                    front.lines.get("variants"),
                )
        line = front.lines.get("scratch")
        scratch = {
            name: _integer(size, self.env, line, 1, MAX_SCRATCH_BYTES, f"scratch: {name}")
            for name, size in front.scratch.items()
        }
        steps = tuple(self.steps(front.launches, preparing=False))
        if not any(isinstance(step, LaunchStep) for step in steps):
            raise invalid(
                f"nothing is launched for {dict(self.dims)}: every 'when' is false",
                front.lines.get("launches"),
            )
        return Plan(
            defines=tuple(sorted({**self.params, **self.specialised}.items())),
            steps=steps,
            prepare=tuple(self.steps(front.prepare, preparing=True)),
            scratch=scratch,
        )

    def steps(self, launches: Sequence[Launch | Memset], *, preparing: bool) -> Iterator[Step]:
        count = 0
        for launch in launches:
            for env in self.rounds(launch):
                if not holds(launch.when, env, launch.line):
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
        if buffer in self.front.scratch:
            return
        if preparing or buffer not in self.buffers or not self.buffers[buffer].written:
            raise invalid(f"memset: {buffer!r} is neither an output nor scratch", line)

    def launch(self, launch: Launch, env: Mapping[str, int], preparing: bool) -> LaunchStep:
        return LaunchStep(
            entry=entry_of(launch.kernel, {**self.params, **self.specialised}),
            grid=_dim3(launch.grid, env, launch.line, "grid", MAX_GRID),
            block=_dim3(launch.block, env, launch.line, "block", MAX_GRID),
            lds_bytes=_integer(launch.lds_bytes, env, launch.line, 0, 2**31 - 1, "lds_bytes"),
            args=tuple(self.arg(arg, env, launch.line, preparing) for arg in launch.args),
            cooperative=launch.cooperative,
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
        if arg in self.front.scratch:
            return arg
        if arg in self.buffers:
            if preparing and self.buffers[arg].role != "constant":
                raise invalid(f"prepare may use constant inputs and scratch, not {arg!r}", line)
            return arg
        if arg in self.dims:
            if self.dims[arg] >= 2**31:
                raise invalid(f"args: {arg} = {self.dims[arg]} does not fit in int32", line)
            return Scalar(value=self.dims[arg], type="int32")
        known = ", ".join((*self.buffers, *self.front.scratch, *self.dims))
        hint = f"; write {{value: {arg}, type: int32}}" if arg in self.env else ""
        raise invalid(f"args: unknown name {arg!r} (known: {known}){hint}", line)


def entry_of(name: str, values: Mapping[str, int]) -> str:
    """A kernel's name expression with the values of parameters and specialised dims put in."""
    base, bracket, arguments = name.partition("<")
    return base + re.sub(
        r"[A-Za-z_]\w*",
        lambda match: str(values.get(match[0], match[0])),
        " ".join((bracket + arguments).split()),
    )


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


def holds(expression: Expression, env: Mapping[str, int], line: int | None) -> bool:
    return bool(_value(expression, env, line, "condition"))
