"""Scores of searches: share of the optimum, area under best so far, beside random search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Curves = np.ndarray[Any, np.dtype[np.float64]]
"""Best share of the optimum so far, by seed and evaluation."""

RESAMPLES = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mean:
    """Of seeds, with the 95% interval of a bootstrap over them, and the worst."""

    mean: float
    low: float
    high: float
    worst: float

    @classmethod
    def of(cls, values: np.ndarray[Any, np.dtype[np.float64]]) -> "Mean":
        drawn = _resampled(values)
        low, high = (float(np.quantile(drawn, share)) for share in (0.025, 0.975))
        return cls(
            mean=float(values.mean()),
            low=low,
            high=high,
            worst=float(values.min()),
        )

    def as_json(self) -> dict[str, float]:
        return {
            "mean": round(self.mean, 4),
            "low": round(self.low, 4),
            "high": round(self.high, 4),
            "worst": round(self.worst, 4),
        }


def area(curves: Curves) -> np.ndarray[Any, np.dtype[np.float64]]:
    """By seed: the mean over all evaluations of the best share so far."""
    return np.asarray(curves.mean(axis=1))


def over_random(curves: Curves, random: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """By seed: 0.0 as good as the expected curve of random search, 1.0 the optimum from the first.

    In times, the best so far is (optimum / share); at each evaluation the part of the way from
    random search's time to the optimum, then the mean. Willemsen et al., A Methodology for
    Comparing Optimization Algorithms for Auto-Tuning (Future Generation Computer Systems, 2024).
    """
    floor = 1e-3
    ours = 1 / np.maximum(curves, floor)
    theirs = 1 / np.maximum(np.array(random[: curves.shape[1]]), floor)
    way = np.maximum(theirs - 1, 1e-6)
    # What finds nothing at first is not worse than all that follows is good.
    return np.asarray(np.clip((theirs - ours) / way, -1.0, 1.0).mean(axis=1))


def summary(curves: Curves, random: Sequence[float], at: Sequence[int]) -> dict[str, Any]:
    """What the JSON says of one search on one table."""
    return {
        "seeds": len(curves),
        "share": {str(k): Mean.of(curves[:, k - 1]).as_json() for k in at},
        "area": Mean.of(area(curves)).as_json(),
        "over_random": Mean.of(over_random(curves, random)).as_json(),
    }


def paired(ours: Curves, theirs: Curves, at: Sequence[int]) -> dict[str, Any]:
    """Ours less theirs, seed by seed: of the share at some evaluations, and of the area."""
    seeds = min(len(ours), len(theirs))
    ours, theirs = ours[:seeds], theirs[:seeds]
    return {
        "share": {str(k): Mean.of(ours[:, k - 1] - theirs[:, k - 1]).as_json() for k in at},
        "area": Mean.of(area(ours) - area(theirs)).as_json(),
    }


def over_tables(found: Mapping[str, Curves], at: Sequence[int]) -> dict[str, Any]:
    """Of one search: the mean of the tables' means, resampling seeds on each."""
    told: dict[str, Any] = {"tables": len(found), "share": {}}
    for k in at:
        told["share"][str(k)] = _joint([curves[:, k - 1] for curves in found.values()])
    told["area"] = _joint([area(curves) for curves in found.values()])
    return told


def _joint(groups: Sequence[np.ndarray[Any, np.dtype[np.float64]]]) -> dict[str, float]:
    drawn = np.mean([_resampled(values) for values in groups], axis=0)
    return {
        "mean": round(float(np.mean([values.mean() for values in groups])), 4),
        "low": round(float(np.quantile(drawn, 0.025)), 4),
        "high": round(float(np.quantile(drawn, 0.975)), 4),
        "worst": round(float(min(values.min() for values in groups)), 4),
    }


def _resampled(
    values: np.ndarray[Any, np.dtype[np.float64]],
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Means of bootstrap samples, the same for the same number of seeds."""
    rng = np.random.default_rng(len(values))
    return np.asarray(values[rng.integers(len(values), size=(RESAMPLES, len(values)))].mean(axis=1))
