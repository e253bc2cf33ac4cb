"""What a task is made of: Distribution, Argument, Workload."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from evaluators.dtypes import DTYPES, float_info, is_floating
from evaluators.expression import Env, Expression, ExpressionError
from evaluators.tasks.distribution import KINDS, Array, Distribution
from evaluators.tasks.workload import PLAIN, SUITES, Setting, Suite, Workload

__all__ = [
    "DTYPES",
    "KINDS",
    "PLAIN",
    "ROLES",
    "SUITES",
    "UNSAID",
    "VALUES",
    "Argument",
    "Array",
    "Distribution",
    "Role",
    "Setting",
    "Suite",
    "TaskError",
    "Workload",
    "float_info",
]

Role = Literal["in", "out", "inout", "constant"]

ROLES: tuple[Role, ...] = ("in", "out", "inout", "constant")
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


class TaskError(Exception):
    """A task that can't be used: one sentence with the file, what is wrong and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Argument:
    """One array a kernel is given, row-major. An out or inout has a tolerance.

    parameter: the dtype parameter that its dtype is one of; each: what the argument is with each of
    these. It stands for the first of them, until on() says which. strides: in elements, of a view
    into a longer buffer. error_budget: how many times wider the limits beside the naive seed's
    errors are (checks/budget.py). toleranced: False of an output that only check() in reference.py
    judges.
    """

    name: str
    dtype: str
    role: Role
    dimensions: tuple[Expression, ...]
    distribution: Distribution
    relative: Expression
    absolute: Expression
    error_budget: float = 1.0
    optional: bool = False
    strides: tuple[Expression, ...] | None = None
    toleranced: bool = True
    parameter: str = ""
    each: Mapping[str, "Argument"] = field(default_factory=dict)

    def on(self, setting: Setting) -> "Argument":
        """With the dtype that it has there."""
        dtype = setting.dtypes[self.parameter] if self.each else self.dtype
        return self if dtype == self.dtype else self.each[dtype]

    @property
    def np_dtype(self) -> np.dtype[Any]:
        return DTYPES[self.dtype]

    @property
    def written(self) -> bool:
        return self.role in ("out", "inout")

    def shape(self, env: Env) -> tuple[int, ...]:
        return tuple(dimension.integer(env) for dimension in self.dimensions)

    def steps(self, env: Env) -> tuple[int, ...] | None:
        """Its strides in elements; None where it is dense."""
        return None if self.strides is None else tuple(s.integer(env) for s in self.strides)

    def nbytes(self, env: Env) -> int:
        """Of its buffer."""
        return extent(self.shape(env), self.steps(env)) * self.np_dtype.itemsize

    def draw(self, rng: np.random.Generator, env: Env) -> Array:
        return self.distribution.draw(rng, self.shape(env), self.np_dtype, env)

    @property
    def floating(self) -> bool:
        return is_floating(self.np_dtype)

    def rounded(self, env: Env) -> bool:
        """Whether it may differ from the reference: with zero tolerance bits are compared."""
        return self.floating and (self.rtol(env) > 0.0 or self.atol(env) > 0.0)

    def rtol(self, env: Env) -> float:
        return float(self.relative.evaluate(env))

    def atol(self, env: Env) -> float:
        return float(self.absolute.evaluate(env))

    def of_parameter(self, parameter: str, each: Mapping[str, "Argument"]) -> "Argument":
        """The same as one of a dtype parameter's, whose first dtype this one has."""
        return replace(self, parameter=parameter, each=each)


def extent(shape: Sequence[int], steps: Sequence[int] | None) -> int:
    """Elements of the buffer that a view of that shape lies in."""
    if steps is None:
        return math.prod(shape)
    return 1 + sum((size - 1) * step for size, step in zip(shape, steps, strict=True))


def check_steps(shape: Sequence[int], steps: Sequence[int] | None) -> None:
    """Raises ExpressionError for strides with which elements lie in each other's place."""
    reached = 1
    for step, size in sorted(zip(steps or (), shape, strict=False)):
        if size > 1 and step < reached:
            raise ExpressionError(
                f"with strides {list(steps or ())} elements of shape {list(shape)} share a place"
            )
        reached += (size - 1) * step
