"""A budget of error: how much less exact than the task's naive seed a kernel may be."""

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from evaluators.dtypes import float_info, is_floating
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.arguments import Argument, Workload

Array = np.ndarray[Any, Any]

RMS_TIMES = 6.0
"""Honest float32 kernels (any order of summation, with and without FMA, three products of tf32)
stayed below 1.2 times the naive seed's rms error, except where an ulp of the output is more than
that; 14 bits of one factor's mantissa gave 11.7 times and more (sgemm, K up to 4096)."""
LARGEST_TIMES = 10.0
"""Of the same kernels the honest ones' largest error was at most 2.6 times the seed's."""
UNUSUAL_TIMES = 10.0
"""More than that where inputs hold spikes and the like: an honest gelu had 12 times the error of
another one. Values that a kernel cannot bear are out by factors of thousands."""
FEW_ELEMENTS = 64
"""Errors of fewer elements of an output tell little."""
LEAST = 1e-30
"""Of tolerance: where the reference is nothing but zeros."""
FLOAT32_ULP = 2.0**-23
FLOAT64_ULPS = 2.0**-50
"""Four of them: the reference, in float64 itself, is no more exact than that."""


UNLIMITED = sys.float_info.max
"""Not infinity: that is the error of a NaN."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Error:
    """Of one output, in units of what its task's tolerance allows each element.

    largest: of all elements. rms: root of the mean square of what goes beyond one ulp of the
    output's own type. ulp: root of the mean square of the reference's rounding_unit().
    fraction: the largest part of a limit that is used up.
    """

    largest: float
    rms: float = 0.0
    ulp: float = 0.0
    fraction: float = 0.0

    def beside(self, other: "Error") -> "Error":
        """The worse of both in everything."""
        return Error(
            largest=max(self.largest, other.largest),
            rms=max(self.rms, other.rms),
            ulp=max(self.ulp, other.ulp),
            fraction=max(self.fraction, other.fraction),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """What an output's Error may be, in the same units: RMS_TIMES and LARGEST_TIMES wider times
    the honest one."""

    largest: float = UNLIMITED
    rms: float = UNLIMITED
    wider: float = 1.0

    def beside(self, other: "Limit") -> "Limit":
        """The wider of both in everything."""
        return Limit(
            largest=max(self.largest, other.largest),
            rms=max(self.rms, other.rms),
            wider=max(self.wider, other.wider),
        )


NONE = Limit()


@dataclass(frozen=True, slots=True, kw_only=True)
class Standard:
    """What a draw's outputs are held to, by output; those that are not there are held to the
    task's tolerance only.

    limits: on errors, added once they are measured (measuring/rounding.py). scales: what each
    element's error is measured in, in place of the task's tolerance. values: the class of values
    in the inputs, if it is a special one.
    """

    limits: dict[str, Limit] = field(default_factory=dict)
    scales: Mapping[str, Array] = field(default_factory=dict)
    values: str = ""


ORDINARY = Standard()


def rounding_unit(dtype: np.dtype[Any]) -> float:
    """What honest arithmetic for such outputs may add to the rounding of the result, relative to
    it: a float32 ulp; where outputs are narrower a quarter of theirs, since intermediate results
    are often rounded to their type, too; where they are float64 a few of its ulps.
    """
    if dtype == np.float64:
        return FLOAT64_ULPS
    return max(FLOAT32_ULP, float(float_info(dtype).eps) / 4 if is_floating(dtype) else 0.0)


def has_few(output: Argument, workload: Workload) -> bool:
    """Whether an output has less than FEW_ELEMENTS on a shape."""
    return math.prod(output.shape(workload.env)) < FEW_ELEMENTS


def limit_of(
    honest: Sequence[Error], *, few: bool = False, unusual: bool = False, budget: float = 1.0
) -> Limit:
    """From errors of the naive seed on one output, one a draw.

    What varies between draws, as the error of a single sum does, varies more between kernels: to
    the largest of the seed's rms errors their range is added. Never below as many units of
    rounding: a seed may be exact where others need not be. few: see has_few(); there what goes
    beyond an ulp is often nothing and seldom much (a sum near zero of large parts), so whole
    errors count: of honest sums held to twelve others one of some 50,000 is refused. unusual:
    draws of a special class of values. budget: the output's own error_budget.
    """
    found = [error.largest if few else error.rms for error in honest]
    rms = max(2 * max(found) - min(found), *(error.ulp for error in honest), LEAST)
    largest = max(3 * rms, *(error.largest for error in honest))
    wider = budget * (UNUSUAL_TIMES if unusual else 1.0)
    return Limit(rms=RMS_TIMES * wider * rms, largest=LARGEST_TIMES * wider * largest, wider=wider)


def spent(output: Argument, error: Error, limit: Limit, *, of_tolerance: float = 1.0) -> Error:
    """The error with the fraction of the tightest limit that it is.

    of_tolerance: how much of the task's tolerance its unit is; 0 where that does not count.
    Raises Rejected(WRONG) beyond a limit.
    """
    for what, found, most, times in (
        ("rms", error.rms, limit.rms, RMS_TIMES * limit.wider),
        ("largest", error.largest, limit.largest, LARGEST_TIMES * limit.wider),
    ):
        if found > most:
            raise Rejected(
                Status.WRONG,
                f"{output.name} is less exact than {_arithmetic(output)}: its {what} error is "
                f"{found / most * times:.3g}x that of the task's naive seed, or of rounding "
                f"alone (limit {times:g}x)",
                inexact=True,
            )
    parts = error.largest / limit.largest, error.rms / limit.rms
    return replace(error, fraction=max(error.largest * of_tolerance, *parts))


def _arithmetic(output: Argument) -> str:
    known = output.dtype in ("float32", "float64")
    return f"{output.dtype} arithmetic" if known else "the task asks for"
