"""Task: what a kernel must compute, on which shapes, how exactly."""

import traceback
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from evaluators import text_file
from evaluators.expression import Expression, ExpressionError
from evaluators.tasks.arguments import (
    DTYPES,
    UNSAID,
    Argument,
    Array,
    Distribution,
    Suite,
    TaskError,
    Workload,
)
from evaluators.tasks.baselines import Baseline

__all__ = [
    "Argument",
    "Array",
    "Distribution",
    "Suite",
    "Task",
    "TaskError",
    "Workload",
]

Reference = Callable[..., Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A kernel problem. hash changes when task.yaml or reference.py does, but for operations and
    baselines.

    compute_dtype: whose peak bounds it; "" where it doesn't say. operations: how many of those that
    cost more than one flop (OPERATION_FLOPS), which flops don't count.
    values: the classes of values that it states; None where it says nothing.
    derives_held_out: its held-out shapes are made from its benchmarks, it states none itself.
    """

    name: str
    hash: str
    folder: Path
    description: str
    dims: tuple[str, ...]
    arguments: tuple[Argument, ...]
    flops: Expression | None
    bytes: Expression | None
    compute_dtype: str
    suites: Mapping[Suite, Mapping[str, tuple[Workload, ...]]]
    seeds: Mapping[str, str]
    operations: Mapping[str, Expression] = field(default_factory=dict)
    values: tuple[str, ...] | None = None
    derives_held_out: bool = False
    reference_text: str = ""  # of reference.py, for those who write kernels
    baselines: tuple[Baseline, ...] = ()  # beside the naive seed; no part of the hash

    @property
    def naive(self) -> str:
        """The baseline's text: the seed named naive, else the first by name."""
        return self.seeds.get("naive") or self.seeds[min(self.seeds)]

    @property
    def outputs(self) -> tuple[Argument, ...]:
        return tuple(argument for argument in self.arguments if argument.written)

    def unusual(self) -> dict[str, tuple[Argument, ...]]:
        """By class of values that kernels are tried with, the inputs that then hold such values:
        every one that is drawn, floating and no constant; if nothing is said, those drawn from a
        normal distribution."""
        kinds = ("normal",) if self.values is None else ("normal", "uniform")
        varied = tuple(
            a
            for a in self.arguments
            if a.role in ("in", "inout") and a.floating and a.distribution.kind in kinds
        )
        classes = UNSAID if self.values is None else self.values
        return dict.fromkeys(classes, varied) if varied else {}

    def workloads(self, suite: Suite, backend: str) -> tuple[Workload, ...]:
        """The shapes of a suite on a backend: its own list, else the default one."""
        by_backend = self.suites[suite]
        return by_backend.get(backend, by_backend.get("default", ()))

    def nbytes(self, workload: Workload) -> int:
        """Of all arguments."""
        return sum(argument.nbytes(workload.dims) for argument in self.arguments)

    def holds(self, workload: Workload) -> bool:
        """Whether its formulas make sense on a shape that no file states."""
        dims = workload.dims
        try:
            sizes = [size for a in self.arguments for size in a.shape(dims)]
            limits = [limit for a in self.arguments for limit in (a.rtol(dims), a.atol(dims))]
            for formula in (self.flops, self.bytes, *self.operations.values()):
                if formula is not None:
                    formula.evaluate(dims)
        except ExpressionError:
            return False
        return min(sizes) > 0 and min(limits) >= 0

    def inputs(self, workload: Workload, seed: int) -> dict[str, Array]:
        """Every in, inout and constant argument in its own dtype, drawn from the seed."""
        rng = np.random.default_rng([seed, zlib.crc32(workload.label.encode())])
        return {
            argument.name: argument.distribution.draw(
                rng, argument.shape(workload.dims), argument.np_dtype
            )
            for argument in self.arguments
            if argument.role != "out"
        }

    def reference(self, workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """What reference.py says, by output name: float64, or int64 for integer outputs.

        Inputs that are as wide already are not copied: it may write into them. Raises TaskError
        when it raises, or does not return every output in its shape and as numbers of its kind.
        """
        path = self.folder / "reference.py"
        function = load_reference(path)
        wide = {
            name: array.astype(_wide(array.dtype), copy=False) for name, array in inputs.items()
        }
        where = f"{path}: reference() on {workload.label}"
        try:
            results = function(**wide, **workload.dims)
        except Exception as error:  # the task's author may raise anything
            raise TaskError(
                f"{where} raised {_raised(error, path)}; it is called with "
                f"{', '.join([*wide, *workload.dims])} by name"
            ) from error
        if not isinstance(results, Mapping):
            raise TaskError(
                f"{where} must return a dict by output name, not {type(results).__name__}"
            )
        named: dict[str, Array] = {}
        for output in self.outputs:
            if output.name not in results:
                raise TaskError(f"{where} returned no {output.name!r}")
            result = _array(results[output.name], output, where)
            shape = output.shape(workload.dims)
            if result.shape != shape:
                raise TaskError(
                    f"{where}: {output.name} has shape {result.shape}, task.yaml says {shape}"
                )
            named[output.name] = result.astype(_wide(output.np_dtype))
        return named


class TaskContent:
    """A task by its content, as a key: equal ones are made of the same files."""

    def __init__(self, task: Task) -> None:
        self.task = task
        seeds, suites, operations = task.seeds.values(), str(task.suites), str(task.operations)
        self._content = task.hash, tuple(seeds), suites, operations

    def __hash__(self) -> int:
        return hash(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TaskContent) and self._content == other._content


def _array(value: Any, output: Argument, where: str) -> Array:
    """Raises TaskError for what is no array of real numbers, or no integers where those are due."""
    try:
        result = np.asarray(value)
    except ValueError as error:
        raise TaskError(f"{where}: {output.name} is no array ({error})") from None
    integers = np.issubdtype(output.np_dtype, np.integer)
    own = not integers and result.dtype in DTYPES.values()  # bfloat16 is of no kind to numpy
    if result.dtype.kind not in ("biu" if integers else "biuf") and not own:
        wanted = "integers" if integers else "real numbers"
        raise TaskError(
            f"{where}: {output.name} has dtype {result.dtype}, but must hold {wanted}, as "
            f"task.yaml calls it {output.dtype}"
        )
    return result


def _raised(error: Exception, path: Path) -> str:
    """ "ValueError: shapes differ (line 7)": the last line of the file that took part."""
    said = (str(error).strip().splitlines() or [""])[0]
    steps = traceback.extract_tb(error.__traceback__)
    lines = [step.lineno for step in steps if step.filename == str(path)]
    line = f" (line {lines[-1]})" if lines else ""
    return f"{type(error).__name__}{f': {said}' if said else ''}{line}"


def _wide(dtype: np.dtype[Any]) -> type[np.float64] | type[np.int64]:
    return np.int64 if np.issubdtype(dtype, np.integer) else np.float64


def read_text(path: Path) -> str:
    """A file of a task. Raises TaskError."""
    try:
        return text_file.read_text(path)
    except UnicodeDecodeError:
        raise TaskError(f"{path}: it is not UTF-8 text; save it as UTF-8") from None
    except OSError as error:
        raise TaskError(f"{path}: it can't be read: {error.strerror}") from None


_REFERENCES: dict[tuple[Path, str], Reference] = {}


def load_reference(path: Path) -> Reference:
    """The function reference of a task's own, trusted reference.py; read once per content."""
    if not path.is_file():
        raise TaskError(
            f"{path}: no such file; every task needs a reference.py with "
            "reference(**inputs, **dims)"
        )
    text = read_text(path)
    key = (path, text)
    if key not in _REFERENCES:
        # Not by import: its cache takes a file of the same size and second for the same file.
        module = ModuleType(f"reference_of_{path.parent.name}")
        module.__file__ = str(path)
        try:
            exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
        except SyntaxError as error:
            raise TaskError(f"{path}, line {error.lineno}: {error.msg}") from None
        except ImportError as error:
            raise TaskError(f"{path}: {error}; install it beside this package") from None
        except Exception as error:  # the task's author may raise anything
            raise TaskError(f"{path}: it can't be imported: {_raised(error, path)}") from error
        function = getattr(module, "reference", None)
        if not callable(function):
            raise TaskError(f"{path}: has no function reference(**inputs, **dims)")
        _REFERENCES[key] = function
    return _REFERENCES[key]
