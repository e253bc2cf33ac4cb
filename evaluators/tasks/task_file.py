"""Tasks as files: load_task(), and what task.yaml may say."""

import hashlib
from pathlib import Path
from typing import Any

from evaluators.device_info import OPERATION_FLOPS, known_backends
from evaluators.expression import Expression, ExpressionError, Number
from evaluators.lined_yaml import LinedDict, LinedList, YamlError, load
from evaluators.spelling import did_you_mean
from evaluators.tasks.arguments import (
    DTYPES,
    PLAIN,
    SUITES,
    VALUES,
    Argument,
    Setting,
    Suite,
    TaskError,
    Workload,
    check_steps,
)
from evaluators.tasks.baselines import Baseline, read_baselines
from evaluators.tasks.ragged import ragged_shapes
from evaluators.tasks.reference_file import load_reference, read_text
from evaluators.tasks.task import Task
from evaluators.tasks.task_arguments import TaskArguments

KEYS = (
    *("description", "dims", "attributes", "dtypes", "arguments"),
    *("flops", "operations", "bytes", "compute_dtype", "values", "baselines", *SUITES),
)


class TaskFile(TaskArguments):
    """A task.yaml's tree, read part by part; every complaint carries file and line."""

    def __init__(self, path: Path, tree: Any) -> None:
        if isinstance(tree, LinedDict):
            self.path = path
            self.known_keys(tree, KEYS, required=("arguments", "tests", "benchmarks"))
        super().__init__(path, tree)

    def compute_dtype(self) -> str:
        """Whose peak bounds the task; "" where it doesn't say."""
        if "compute_dtype" not in self.tree:
            return ""
        line = self.tree.line_of("compute_dtype")
        return self.one_of(self.tree["compute_dtype"], DTYPES, "compute_dtype", line)

    def values(self) -> tuple[str, ...] | None:
        """Which classes of values the task admits; None where it says nothing."""
        if "values" not in self.tree:
            return None
        sequence = self.sequence(self.tree, "values")
        return tuple(self.one_of(v, VALUES, "values", line) for v, line in sequence.numbered())

    def suites(self) -> dict[Suite, dict[str, tuple[Workload, ...]]]:
        """Without held_out, with shapes that are derived, as far as the task's formulas hold."""
        suites = {suite: self.suite(suite) for suite in SUITES}
        if "held_out" not in self.tree:
            suites["held_out"] = {
                key: tuple(one for one in shapes if self._holds(one))
                for key, shapes in ragged_shapes(suites).items()
            }
        return suites

    def baselines(self) -> tuple[Baseline, ...]:
        return read_baselines(self, self.tree, self.path.parent)

    def _holds(self, workload: Workload) -> bool:
        try:
            self.sizes(workload, "held_out", 1)
        except TaskError:
            return False
        return True

    def optional(self, key: str) -> Expression | None:
        if key not in self.tree:
            return None
        return self.expression(self.tree[key], key, self.tree.lines[key], floats=True)

    def operations(self) -> dict[str, Expression]:
        """How many of those that cost more than one flop, by name."""
        counts = self.mapping(self.tree, "operations")
        for name, line in counts.lines.items():
            self.one_of(name, OPERATION_FLOPS, "operations:", line)
        return {
            name: self.expression(count, f"operations: {name}", counts.lines[name], floats=True)
            for name, count in counts.items()
        }

    def suite(self, suite: Suite) -> dict[str, tuple[Workload, ...]]:
        value = self.tree.get(suite)
        if value is None:
            return {}
        if isinstance(value, LinedList):
            return {"default": self.shapes(self.sequence(self.tree, suite, least=1), suite)}
        if not isinstance(value, LinedDict):
            raise self.fail(f"{suite} must be a list of shapes", self.tree.lines[suite])
        known = ("default", *known_backends())
        self.known_keys(value, known)
        return {key: self.shapes(self.sequence(value, key, least=1), suite) for key in value}

    def shapes(self, sequence: LinedList, suite: Suite) -> tuple[Workload, ...]:
        workloads = []
        for shape, line in sequence.numbered():
            workload = self.workload(shape, suite, line)
            self.sizes(workload, suite, line)
            workloads.append(workload)
        return tuple(workloads)

    def workload(self, shape: Any, suite: Suite, line: int) -> Workload:
        """Every dim, and what differs from the defaults beside."""
        weighted = ("weight",) if suite == "benchmarks" and "weight" not in self.dims else ()
        may = (*self.attributes, *self.dtypes, *self.optional_names, *weighted)
        if not isinstance(shape, LinedDict) or not set(self.dims) <= set(shape):
            raise self.fail(f"{suite}: a shape gives each of {', '.join(self.dims)}", line)
        for name in shape:
            if name not in self.dims and name not in may:
                beside = f", and maybe {', '.join(may)}" if may else ""
                raise self.fail(
                    f"{suite}: a shape gives each of {', '.join(self.dims)}{beside}, not {name}",
                    line,
                )
        for name in self.dims:
            value = shape[name]
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise self.fail(f"{suite}: {name} must be a positive integer", line)
        weight = shape.get("weight", 1.0) if weighted else 1.0
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 < weight < 1e9:
            raise self.fail(f"{suite}: weight must be a positive number, not {weight!r}", line)
        return Workload(
            dims={name: shape[name] for name in self.dims},
            suite=suite,
            setting=self.setting(shape, suite, line),
            weight=float(weight),
        )

    def setting(self, shape: LinedDict, suite: Suite, line: int) -> Setting:
        """What a shape says of attributes, dtypes and optional arguments, over the defaults."""
        if not (self.attributes or self.dtypes or self.optional_names):
            return PLAIN
        attributes = {}
        for name, default in self.attributes.items():
            what = f"{suite}: {name}"
            value = self.number(shape.get(name, default), what, line)
            if isinstance(default, float) and not isinstance(value, bool):
                value = float(value)
            if type(value) is not type(default):
                kind = {bool: "true or false", int: "an integer"}.get(type(default), "a number")
                raise self.fail(f"{what} must be {kind}, as its default is, not {value!r}", line)
            attributes[name] = value
        dtypes = {
            name: self.one_of(shape.get(name, known[0]), known, f"{suite}: {name}", line)
            for name, known in self.dtypes.items()
        }
        nulls = {name: name in shape for name in self.optional_names}
        for name in self.optional_names:
            if shape.get(name) is not None:
                raise self.fail(f"{suite}: {name} may be null or left out, no more", line)
        return Setting(attributes=attributes, dtypes=dtypes, nulls=nulls)

    def sizes(self, workload: Workload, suite: Suite, line: int) -> None:
        """Every expression of the task must hold for every shape, told at load time."""
        setting = workload.setting
        for argument in self.arguments:
            if not setting.nulls.get(argument.name, False):
                self._argument_sizes(argument.on(setting), workload, suite, line)
        work = {key: self.optional(key) for key in ("flops", "bytes")}
        operations = {f"operations: {name}": one for name, one in self.operations().items()}
        for what, count in {**work, **operations}.items():
            if count is not None:
                self._at_least(0, count, what, workload, suite, line)

    def _argument_sizes(
        self, argument: Argument, workload: Workload, suite: Suite, line: int
    ) -> None:
        name, env = argument.name, workload.env
        for part in argument.dimensions:
            self._at_least(1, part, f"{name}: shape", workload, suite, line)
        for part in argument.strides or ():
            self._at_least(1, part, f"{name}: strides", workload, suite, line)
        for key, part in (("rtol", argument.relative), ("atol", argument.absolute)):
            self._at_least(0, part, f"{name}: {key}", workload, suite, line)
        what = "shape"
        try:
            shape = argument.shape(env)
            what = "strides"
            check_steps(shape, argument.steps(env))
            what = "distribution"
            argument.distribution.check(env, argument.np_dtype)
        except ExpressionError as error:
            raise self.fail(f"{name}: {what} on {workload.label}: {error}", line) from None

    def _at_least(
        self, least: int, part: Expression, what: str, workload: Workload, suite: Suite, line: int
    ) -> None:
        try:
            whole = least > 0  # sizes are
            value: Number = (part.integer if whole else part.evaluate)(workload.env)
        except ExpressionError as error:
            raise self.fail(f"{what} on {workload.label}: {error}", line) from None
        if value < least:
            raise self.fail(f"{what} is {value} on {workload.label} ({suite})", line)

    def seeds(self) -> dict[str, str]:
        folder = self.path.parent / "seeds"
        seeds = {path.stem: read_text(path) for path in sorted(folder.glob("*.hip"))}
        if not seeds:
            raise TaskError(f"{folder}: holds no *.hip file; the naive kernel goes there")
        return seeds


SHIPPED = Path(__file__).parents[1] / "tasks"


def _references(folder: Path) -> list[str]:
    """What right means: reference.py and, for large shapes on GPUs, maybe a reference.hip."""
    on_device = folder / "reference.hip"
    files = [folder / "reference.py", *([on_device] if on_device.is_file() else [])]
    return [read_text(file) for file in files]


UNMEASURED = ("operations", "baselines")
"""Keys that change no verdict and no time of a kernel."""


def _measured(text: str, tree: Any) -> str:
    """task.yaml without these keys."""
    lines, keys = text.splitlines(keepends=True), tree.lines if isinstance(tree, LinedDict) else {}
    left_out: set[int] = set()
    for first in (keys[key] for key in UNMEASURED if key in keys):
        if [*keys.values()].count(first) > 1:
            continue
        following = min((line for line in keys.values() if line > first), default=len(lines) + 1)
        left_out.update(range(first, following))
    return "".join(text for line, text in enumerate(lines, 1) if line not in left_out)


def shipped_tasks() -> tuple[str, ...]:
    """Names of the tasks in the package."""
    return tuple(sorted(path.parent.name for path in SHIPPED.glob("*/task.yaml")))


def load_task(name_or_path: str | Path) -> Task:
    """A shipped task by name, or any folder with task.yaml, reference.py and seeds/*.hip.

    Raises TaskError.
    """
    folder = SHIPPED / name_or_path if str(name_or_path) in shipped_tasks() else Path(name_or_path)
    path = folder / "task.yaml"
    if not path.is_file():
        shipped = shipped_tasks()
        guess = did_you_mean(str(name_or_path), shipped)
        raise TaskError(
            f"no task {str(name_or_path)!r}{guess}: name one of {', '.join(shipped)}, "
            "or a folder that holds task.yaml, reference.py and seeds/*.hip"
        )
    text = read_text(path)
    try:
        tree = load(text)
    except YamlError as error:
        raise TaskError(f"{path}, line {error.line}: {error.reason}") from None
    reference = folder / "reference.py"
    load_reference(reference)
    file = TaskFile(path.resolve(), tree)
    arguments = file.arguments
    content = "\0".join([_measured(text, tree), *_references(folder)])
    return Task(
        name=path.resolve().parent.name,
        hash=hashlib.sha256(content.encode()).hexdigest()[:16],
        folder=path.resolve().parent,
        description=str(file.tree.get("description", "")).strip(),
        dims=file.dims,
        attributes=file.attributes,
        dtypes=file.dtypes,
        arguments=arguments,
        flops=file.optional("flops"),
        operations=file.operations(),
        bytes=file.optional("bytes"),
        compute_dtype=file.compute_dtype(),
        suites=file.suites(),
        values=file.values(),
        derives_held_out="held_out" not in file.tree,
        seeds=file.seeds(),
        reference_text=read_text(reference),
        baselines=file.baselines(),
    )
