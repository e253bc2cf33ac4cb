"""A kernel as people write it: what it is launched with, and what it makes of that."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluators.acceptance.launching import launch
from evaluators.kernel.plan import Dim3, LaunchStep

Array = np.ndarray[Any, Any]
Wanted = Mapping[str, Any]

DRAWN = np.random.default_rng(20)
INTS = DRAWN.integers(-1000, 1000, 4096).astype(np.int32)
SMALL = DRAWN.integers(-8, 9, 4096)
LONG = DRAWN.integers(0, 2**63, 64).astype(np.uint64) * 2 + 1
LANES = np.arange(64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Real:
    """file: of tests/kernels/emulated. arrays: by name, in the arguments' order.

    wanted: arrays afterwards, exactly. more: arguments behind the arrays.
    """

    name: str
    file: str
    entry: str
    arrays: Mapping[str, Array]
    wanted: Wanted
    block: Dim3 = (64, 1, 1)
    grid: Dim3 = (1, 1, 1)
    more: Sequence[int] = ()
    cooperative: bool = False

    @property
    def step(self) -> LaunchStep:
        step = launch(self.entry, [*self.arrays, *self.more], block=self.block, grid=self.grid)
        return replace(step, cooperative=self.cooperative)


def zeros(count: int, dtype: Any = np.int32) -> Array:
    return np.zeros(count, dtype)


def waves(of: Array) -> Array:
    return of.reshape(-1, 64)


def one(file: str, entry: str, arrays: Mapping[str, Array], wanted: Wanted, **more: Any) -> Real:
    name = more.pop("name", entry)
    return Real(name=name, file=file, entry=entry, arrays=arrays, wanted=wanted, **more)
