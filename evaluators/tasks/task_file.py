"""Tasks as files: load_task(), and what task.yaml may say."""

import hashlib
from math import inf
from pathlib import Path
from typing import Any, cast

from evaluators.device_info import OPERATION_FLOPS, known_backends
from evaluators.expression import (
    RESERVED_NAMES,
    Expression,
    ExpressionError,
    Number,
    parse_expression,
)
from evaluators.lined_yaml import LinedDict, LinedList, Reader, YamlError, load
from evaluators.spelling import did_you_mean, shortened, storable
from evaluators.tasks.arguments import (
    DTYPES,
    KINDS,
    ROLES,
    SUITES,
    VALUES,
    Argument,
    Distribution,
    Role,
    Suite,
    TaskError,
    Workload,
)
from evaluators.tasks.baselines import Baseline, read_baselines
from evaluators.tasks.ragged import ragged_shapes
from evaluators.tasks.task import Task, load_reference, read_text

KEYS = (
    *("description", "dims", "arguments", "flops", "operations", "bytes", "compute_dtype"),
    *("values", "baselines", *SUITES),
)
ARGUMENT_KEYS = ("name", "dtype", "shape", "role", "distribution", "rtol", "atol")


class TaskFile(Reader):
    """A task.yaml's tree, read part by part; every complaint carries file and line."""

    def __init__(self, path: Path, tree: Any) -> None:
        self.path = path
        if not isinstance(tree, LinedDict):
            raise self.fail("a task is a mapping", 1)
        self.tree = tree
        self.known_keys(tree, KEYS, required=("dims", "arguments", "tests", "benchmarks"))
        self.dims = self._dims()
        self.arguments = self._arguments()

    def fail(self, reason: str, line: int) -> TaskError:
        return TaskError(f"{self.path}, line {line}: {shortened(storable(reason))}")

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

    def expression(self, value: Any, what: str, line: int, *, floats: bool = False) -> Expression:
        try:
            expression = parse_expression(value, floats=floats)
        except ExpressionError as error:
            raise self.fail(f"{what}: {error}", line) from None
        for name in sorted(expression.names - set(self.dims)):
            raise self.fail(f"{what}: {name!r} is not in dims", line)
        return expression

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

    def _dims(self) -> tuple[str, ...]:
        sequence = self.sequence(self.tree, "dims", least=1)
        for name, line in sequence.numbered():
            if not (isinstance(name, str) and name.isidentifier()) or name in RESERVED_NAMES:
                raise self.fail(f"dims: {name!r} is not a name", line)
        if len(set(sequence)) != len(sequence):
            raise self.fail("dims: a name stands twice", sequence.line)
        return tuple(sequence)

    def _arguments(self) -> tuple[Argument, ...]:
        sequence = self.sequence(self.tree, "arguments", least=1)
        arguments = tuple(self.argument(tree, line) for tree, line in sequence.numbered())
        names = [*self.dims, *(argument.name for argument in arguments)]
        if len(set(names)) != len(names):
            raise self.fail("arguments: a name stands twice", sequence.line)
        if not any(argument.written for argument in arguments):
            raise self.fail("arguments: none has the role out or inout", sequence.line)
        return arguments

    def argument(self, tree: Any, line: int) -> Argument:
        if not isinstance(tree, LinedDict):
            raise self.fail("an argument is a mapping {name: ..., dtype: ..., ...}", line)
        self.known_keys(tree, ARGUMENT_KEYS, required=("name", "dtype", "shape", "role"))
        name, dtype, role = tree["name"], tree["dtype"], tree["role"]
        if not (isinstance(name, str) and name.isidentifier()):
            raise self.fail(f"{name!r} is not a name", line)
        self.one_of(dtype, DTYPES, f"{name}: dtype", line)
        self.one_of(role, ROLES, f"{name}: role", line)
        written = role in ("out", "inout")
        for key in ("rtol", "atol"):
            if written and key not in tree:
                raise self.fail(f"{name}: an output needs a tolerance, rtol and atol", line)
            if not written and key in tree:
                raise self.fail(f"{name}: {key} is for outputs", tree.lines[key])
        if role == "out" and "distribution" in tree:
            raise self.fail(f"{name}: an out is never drawn; leave out distribution", line)
        drawn = tree.get("distribution", "zeros" if role == "out" else "normal")
        shape = self.sequence(tree, "shape", least=1)
        return Argument(
            name=name,
            dtype=dtype,
            role=cast(Role, role),
            dimensions=tuple(self.expression(s, f"{name}: shape", line) for s in shape),
            distribution=self.distribution(drawn, name, dtype, line),
            relative=self.expression(tree.get("rtol", 0), f"{name}: rtol", line, floats=True),
            absolute=self.expression(tree.get("atol", 0), f"{name}: atol", line, floats=True),
        )

    def distribution(self, value: Any, name: str, dtype: str, line: int) -> Distribution:
        body: dict[str, Any] = dict(value) if isinstance(value, LinedDict) else {"kind": value}
        kind = self.one_of(body.pop("kind", None), KINDS, f"{name}: distribution", line)
        if dtype == "int32" and kind in ("normal", "uniform"):
            raise self.fail(f"{name}: an int32 is drawn from 'integers', not {kind!r}", line)
        through = body.pop("through", None)
        if through is not None:
            self.one_of(through, DTYPES, f"{name}: through", line)
        for key, number in body.items():
            if key not in KINDS[kind]:
                raise self.fail(f"{name}: distribution {kind} has no {key!r}", line)
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise self.fail(f"{name}: {key} must be a number, not {number!r}", line)
        return Distribution(kind=kind, parameters=body, through=through)

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
            if not isinstance(shape, LinedDict) or set(shape) - {"weight"} != set(self.dims):
                raise self.fail(f"{suite}: a shape gives each of {', '.join(self.dims)}", line)
            weight = self.weight(shape, suite, line)
            for name, value in shape.items():
                if name == "weight" and "weight" not in self.dims:
                    continue
                if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                    raise self.fail(f"{suite}: {name} must be a positive integer", line)
            dims = {name: shape[name] for name in self.dims}
            workload = Workload(dims=dims, suite=suite, weight=weight)
            self.sizes(workload, suite, line)
            workloads.append(workload)
        return tuple(workloads)

    def weight(self, shape: LinedDict, suite: Suite, line: int) -> float:
        """Of a benchmark; 1 where it says none."""
        value = shape.get("weight", 1)
        if "weight" in self.dims or "weight" not in shape:
            return 1.0
        if suite != "benchmarks":
            raise self.fail(f"{suite}: weight is for benchmarks, which are scored", line)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < inf:
            raise self.fail(f"{suite}: weight must be a positive number, not {value!r}", line)
        return float(value)

    def sizes(self, workload: Workload, suite: Suite, line: int) -> None:
        """Every expression of the task must hold for every shape, told at load time."""
        env = workload.dims
        for argument in self.arguments:
            checked: list[tuple[str, Expression]] = [
                *((f"{argument.name}: shape", part) for part in argument.dimensions),
                (f"{argument.name}: rtol", argument.relative),
                (f"{argument.name}: atol", argument.absolute),
            ]
            for what, expression in checked:
                try:
                    value: Number = expression.evaluate(env)
                except ExpressionError as error:
                    raise self.fail(f"{what} on {workload.label}: {error}", line) from None
                if value < (1 if what.endswith("shape") else 0):
                    raise self.fail(f"{what} is {value} on {workload.label} ({suite})", line)
        work = {key: self.optional(key) for key in ("flops", "bytes")}
        operations = {f"operations: {name}": one for name, one in self.operations().items()}
        for what, count in {**work, **operations}.items():
            if count is not None:
                try:
                    value = count.evaluate(env)
                except ExpressionError as error:
                    raise self.fail(f"{what} on {workload.label}: {error}", line) from None
                if value < 0:
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
