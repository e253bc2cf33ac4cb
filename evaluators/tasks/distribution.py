"""Distribution: how an input is drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluators.dtypes import DTYPES, is_floating
from evaluators.expression import Env, Expression, ExpressionError, Number

Array = np.ndarray[Any, Any]

KINDS: Mapping[str, tuple[str, ...]] = {
    "normal": ("mean", "scale"),
    "uniform": ("low", "high"),
    "integers": ("low", "high"),
    "zeros": (),
    "ones": (),
}
UNSTATED = "unstated"
"""Of an integer input that inputs() in reference.py is to make."""
_DEFAULTS: Mapping[str, Mapping[str, Number]] = {
    "normal": {"mean": 0.0, "scale": 1.0},
    "uniform": {"low": 0.0, "high": 1.0},
    "integers": {"low": 0, "high": 2},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """How an input is drawn.

    kind: normal (mean, scale), uniform (low, high), integers (low inclusive, high exclusive),
    zeros, ones. through: a dtype that values are rounded through first.
    """

    kind: str = "normal"
    parameters: Mapping[str, Number | Expression] = field(default_factory=dict)
    through: str | None = None

    def given(self, env: Env) -> dict[str, Number]:
        """Every parameter of the kind, in numbers; whole ones for integers."""
        stated = {
            name: value.evaluate(env) if isinstance(value, Expression) else value
            for name, value in self.parameters.items()
        }
        values = {**_DEFAULTS.get(self.kind, {}), **stated}
        whole = self.kind == "integers"
        return {name: int(value) if whole else float(value) for name, value in values.items()}

    def check(self, env: Env, dtype: np.dtype[Any]) -> None:
        """Raises ExpressionError for integers that there are none of, or that no such element
        holds."""
        p = self.given(env)
        if self.kind != "integers":
            return
        low, high = p["low"], p["high"]
        if high <= low:
            raise ExpressionError(f"there is no integer from {low} up to, but not, {high}")
        if dtype == np.bool_:
            least, most = 0, 1
        elif is_floating(dtype):
            return
        else:
            least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        if low < least or high - 1 > most:
            raise ExpressionError(f"{low} to {high - 1} is more than {least} to {most}")

    def draw(
        self, rng: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype[Any], env: Env
    ) -> Array:
        p = self.given(env)
        match self.kind:
            case "normal":
                values: Array = np.asarray(rng.standard_normal(shape, dtype=np.float32))
                values *= np.float32(p["scale"])
                values += np.float32(p["mean"])
            case "uniform":
                low, high = p["low"], p["high"]
                values = np.asarray(rng.random(shape, dtype=np.float32))
                values *= np.float32(high - low)
                values += np.float32(low)
            case "integers":
                of_numpy = np.uint64 if p["high"] > 2**63 else np.int64
                values = rng.integers(int(p["low"]), int(p["high"]), shape, dtype=of_numpy)
            case _:
                values = np.full(shape, float(self.kind == "ones"), dtype=np.float32)
        if self.through is not None:
            values = values.astype(DTYPES[self.through])
        return values.astype(dtype, copy=False)
