"""Planner: a kernel file's symbolic launches, evaluated for one workload."""

import re
from collections.abc import Iterator, Mapping, Sequence

from evaluators.device_info import Target
from evaluators.dtypes import CPP
from evaluators.evaluation import Rejected, Status
from evaluators.expression import Env, Expression, ExpressionError
from evaluators.kernel.front_matter import FrontMatter, Launch, Memset, invalid
from evaluators.kernel.given import Giver
from evaluators.kernel.plan import Dim3, LaunchStep, MemsetStep, Plan, Step
from evaluators.tasks.task import Task
from evaluators.tasks.workload import Setting, Workload, spelled

MAX_STEPS = 4096
MAX_SCRATCH_BYTES = 2**38
MAX_GRID: Dim3 = (2**31 - 1, 65535, 65535)


def env_for(workload: Workload, target: Target) -> Env:
    """What expressions of a kernel file know beside its params."""
    return {"WAVEFRONT": target.wavefront, **workload.env}


def params_for(front: FrontMatter, env: Env) -> dict[str, int]:
    """The parameters on a workload: the first variant whose condition holds, over the rest."""
    for variant in front.variants:
        if holds(variant.when, {**env, **front.params}, variant.line):
            return {**front.params, **variant.params}
    return dict(front.params)


def check_backend(front: FrontMatter, target: Target) -> None:
    """Raises Rejected(UNSUPPORTED): the file is for other backends."""
    if front.backends and target.backend not in front.backends:
        raise Rejected(
            Status.UNSUPPORTED,
            f"the file is for {' and '.join(front.backends)} only, by its key 'backends', and not "
            f"for {target.backend}",
            line=front.lines.get("backends"),
        )


class Planner:
    """Evaluates one kernel file's symbolic launches for one workload."""

    def __init__(self, front: FrontMatter, task: Task, workload: Workload, target: Target) -> None:
        check_backend(front, target)
        self.front = front
        self.workload = workload
        env = env_for(workload, target)
        self.params = params_for(front, env)
        self.arguments = {argument.name: argument for argument in task.on(workload).arguments}
        self._check_names(task)
        self.env: Env = {**env, **self.params}
        self.specialised = specialised(front, task, workload)

    def _check_names(self, task: Task) -> None:
        """Raises Rejected(INVALID): one name for two things."""
        front, setting = self.front, self.workload.setting
        kinds = {
            "a dimension": self.workload.dims,
            "an argument": {*self.arguments, *setting.nulls},
            "an attribute": setting.attributes,
            "a dtype parameter": setting.dtypes,
        }
        for name in front.params:
            for what, names in kinds.items():
                if name in names:
                    raise invalid(
                        f"parameter {name!r} has the name of {what} of task {task.name}",
                        front.lines.get("params"),
                    )
        for name in front.scratch:
            if any(name in names for names in kinds.values()):
                raise invalid(
                    f"scratch: {name!r} is already a name of task {task.name}",
                    front.lines.get("scratch"),
                )

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
                f"nothing is launched for {self.workload.label}: every 'when' is false",
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

    def rounds(self, launch: Launch | Memset) -> Iterator[Env]:
        """One environment for each repetition."""
        if isinstance(launch, Memset) or launch.repeat is None:
            yield self.env
            return
        name, count = launch.repeat
        if name in self.env or name in self.arguments:
            raise invalid(f"repeat: {name!r} is already a name", launch.line)
        for i in range(_integer(count, self.env, launch.line, 0, MAX_STEPS, "repeat")):
            yield {**self.env, name: i}

    def writable(self, buffer: str, line: int, preparing: bool) -> None:
        if buffer in self.front.scratch:
            return
        if self.workload.setting.nulls.get(buffer, False):
            raise invalid(
                f"memset: {buffer!r} is null here; give the step when: not is_null({buffer})", line
            )
        argument = self.arguments.get(buffer)
        if preparing or argument is None or not argument.written:
            raise invalid(f"memset: {buffer!r} is neither an output nor scratch", line)

    def launch(self, launch: Launch, env: Env, preparing: bool) -> LaunchStep:
        giver = Giver(self.front, self.arguments, self.workload, env, launch.line, preparing)
        return LaunchStep(
            entry=entry_of(launch.kernel, self.spelled()),
            grid=_dim3(launch.grid, env, launch.line, "grid", MAX_GRID),
            block=_dim3(launch.block, env, launch.line, "block", MAX_GRID),
            lds_bytes=_integer(launch.lds_bytes, env, launch.line, 0, 2**31 - 1, "lds_bytes"),
            args=tuple(giver.given(arg) for arg in launch.args),
            cooperative=launch.cooperative,
        )

    def spelled(self) -> dict[str, int | str]:
        """What a kernel's name expression may name."""
        return {**spelled_in_cpp(self.workload.setting), **self.params, **self.specialised}


def specialised(front: FrontMatter, task: Task, workload: Workload) -> dict[str, int | str]:
    """What is compiled in, by name. Raises Rejected(INVALID): a name that can't be."""
    values = {**spelled_in_cpp(workload.setting), **workload.dims}
    for name in front.specialize:
        if name in values:
            continue
        line = front.lines.get("specialize")
        if name in workload.setting.attributes:
            raise invalid(f"specialize: {name!r} is no integer; pass it as an argument", line)
        also = [*workload.setting.attributes, *workload.setting.dtypes]
        raise invalid(
            f"specialize: {name!r} is not a dimension{', attribute or dtype' if also else ''} of "
            f"task {task.name} ({', '.join([*workload.dims, *also])})",
            line,
        )
    return {name: values[name] for name in front.specialize}


def spelled_in_cpp(setting: Setting) -> dict[str, int | str]:
    """Dtype parameters, and attributes that are no decimals, as C++ writes them."""
    attributes: dict[str, int | str] = {
        name: spelled(value) if isinstance(value, bool) else value
        for name, value in setting.attributes.items()
        if isinstance(value, int)
    }
    return {**attributes, **{name: CPP[dtype] for name, dtype in setting.dtypes.items()}}


def entry_of(name: str, values: Mapping[str, int | str]) -> str:
    """A kernel's name expression with the values of parameters, specialised dims, attributes and
    dtypes put in."""
    base, bracket, arguments = name.partition("<")
    return base + re.sub(
        r"[A-Za-z_]\w*",
        lambda match: str(values.get(match[0], match[0])),
        " ".join((bracket + arguments).split()),
    )


def _integer(
    expression: Expression, env: Env, line: int | None, low: int, high: int, what: str
) -> int:
    try:
        value = expression.integer(env)
    except ExpressionError as error:
        raise invalid(f"{what}: {error}", line) from None
    if not low <= value <= high:
        raise invalid(f"{what} is {value}, must be {low} to {high}", line)
    return value


def _dim3(parts: Sequence[Expression], env: Env, line: int, what: str, most: Dim3) -> Dim3:
    values = [_integer(p, env, line, 1, m, what) for p, m in zip(parts, most, strict=False)]
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z


def holds(expression: Expression, env: Env, line: int | None) -> bool:
    try:
        return bool(expression.evaluate(env))
    except ExpressionError as error:
        raise invalid(f"condition: {error}", line) from None
