"""What a task is made of: Distribution, Argument, Workload."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import ml_dtypes
import numpy as np

from evaluators.expression import Expression

Array = np.ndarray[Any, Any]
Role = Literal["in", "out", "inout", "constant"]
Suite = Literal["tests", "benchmarks", "held_out"]

SUITES: tuple[Suite, ...] = ("tests", "benchmarks", "held_out")
ROLES: tuple[Role, ...] = ("in", "out", "inout", "constant")
DTYPES: Mapping[str, np.dtype[Any]] = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float8_e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "int32": np.dtype(np.int32),
}
VALUES = (
    "spikes",
    "large",
    "small",
    "cancellation",
    "denormals",
    "signed_zeros",
    "nan",
    "infinity",
    "offset",
)
"""Classes of values that a task may admit beyond what its distributions draw."""
UNSAID = ("spikes", "large", "small")
"""Those of a task that says nothing, on inputs whose distribution has no bounds (normal), as far
as its naive seed and its types bear them; small ones only where outputs shrink as inputs do."""
KINDS: Mapping[str, tuple[str, ...]] = {
    "normal": ("mean", "scale"),
    "uniform": ("low", "high"),
    "integers": ("low", "high"),
    "zeros": (),
    "ones": (),
}


def float_info(dtype: np.dtype[Any]) -> Any:
    """numpy's finfo, of ml_dtypes' types too: eps, tiny, max, smallest_subnormal, nmant."""
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


class TaskError(Exception):
    """A task that can't be used: one sentence with the file, what is wrong and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How an input is drawn.

    kind: normal (mean, scale), uniform (low, high), integers (low inclusive, high exclusive),
    zeros, ones. through: a dtype that values are rounded through first.
    """

    kind: str = "normal"
    parameters: Mapping[str, float] = field(default_factory=dict)
    through: str | None = None

    def draw(self, rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        p = self.parameters
        match self.kind:
            case "normal":
                values: Array = np.asarray(rng.standard_normal(shape, dtype=np.float32))
                values *= np.float32(p.get("scale", 1))
                values += np.float32(p.get("mean", 0))
            case "uniform":
                low, high = p.get("low", 0.0), p.get("high", 1.0)
                values = np.asarray(rng.random(shape, dtype=np.float32))
                values *= np.float32(high - low)
                values += np.float32(low)
            case "integers":
                values = rng.integers(int(p.get("low", 0)), int(p.get("high", 2)), shape)
            case _:
                values = np.full(shape, float(self.kind == "ones"), dtype=np.float32)
        if self.through is not None:
            values = values.astype(DTYPES[self.through])
        return values.astype(dtype, copy=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One array a kernel is given, row-major. An out or inout has a tolerance."""

    name: str
    dtype: str
    role: Role
    dimensions: tuple[Expression, ...]
    distribution: Distribution
    relative: Expression
    absolute: Expression

    @property
    def np_dtype(self) -> np.dtype[Any]:
        return DTYPES[self.dtype]

    @property
    def written(self) -> bool:
        return self.role in ("out", "inout")

    def shape(self, dims: Mapping[str, int]) -> tuple[int, ...]:
        return tuple(dimension.integer(dims) for dimension in self.dimensions)

    def nbytes(self, dims: Mapping[str, int]) -> int:
        return int(np.prod(self.shape(dims), dtype=np.int64)) * self.np_dtype.itemsize

    @property
    def floating(self) -> bool:
        return not np.issubdtype(self.np_dtype, np.integer)

    def rounded(self, dims: Mapping[str, int]) -> bool:
        """Whether it may differ from the reference: with zero tolerance bits are compared."""
        return self.floating and (self.rtol(dims) > 0.0 or self.atol(dims) > 0.0)

    def rtol(self, dims: Mapping[str, int]) -> float:
        return float(self.relative.evaluate(dims))

    def atol(self, dims: Mapping[str, int]) -> float:
        return float(self.absolute.evaluate(dims))


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One shape of a task. suite: of which it is one; what may be told of it depends on that.
    weight: how much it counts in a score, such as how often it is called."""

    dims: Mapping[str, int]
    suite: Suite = field(compare=False)
    weight: float = field(default=1.0, compare=False)

    @property
    def label(self) -> str:
        return " ".join(f"{name}={value}" for name, value in self.dims.items())
