"""Whether a planted gain or loss of 5% is found, by the timer and by the profiler; prints JSON.

A copy kernel with extra work is compared with one that does about 5% more of it, in both roles:
swapped labels must give reciprocal ratios. Where the device's profiler is installed, it times
both as well.
"""

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median
from typing import Any

from evaluators.device import backend
from evaluators.device_info import BACKENDS, BackendMissing
from evaluators.evaluation import Evaluation
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.profile.profiler import profile_source
from scripts.lib.lab import Built, Lab, write_task

PLANTED = 0.05
PROFILER_S = 120.0


def by_timer(lab: Lab, quick: Built, slow: Built, trials: int) -> dict[str, Any]:
    """Gains (the quick one against the slow one) and losses, in turn."""
    gains: list[Evaluation] = []
    losses: list[Evaluation] = []
    for _ in range(trials):
        gains.append(lab.compare(quick, slow))
        losses.append(lab.compare(slow, quick))
    right = [one for one in (*gains, *losses) if one.passed and one.ci95]
    pairs = [(a.speedup or 0.0) * (b.speedup or 0.0) for a, b in zip(gains, losses, strict=True)]
    return {
        "comparisons": 2 * trials,
        "passed": len(right),
        "gain": median(one.speedup or 0.0 for one in gains),
        "loss": median(one.speedup or 0.0 for one in losses),
        "gains_found": sum(one.ci95 is not None and one.ci95[0] > 1 for one in gains),
        "losses_found": sum(one.ci95 is not None and one.ci95[1] < 1 for one in losses),
        "product_of_swapped": {
            "geometric_mean": math.exp(fmean(math.log(one) for one in pairs if one > 0)),
            "furthest_from_1": max(pairs, key=lambda one: abs(one - 1)),
        },
    }


def by_profiler(lab: Lab, quick: Built, slow: Built, times: int) -> dict[str, Any]:
    """The slow kernel's time over the quick one's, as the vendor's profiler has them."""
    found: dict[str, list[float]] = {"quick": [], "slow": []}
    for _ in range(times):
        for name, (kernel, _) in (("quick", quick), ("slow", slow)):
            made = profile_source(
                kernel.text,
                lab.task.folder,
                lab.child.backend,
                info=lab.child.device.info,
                deadline_s=PROFILER_S,
            )
            if not made.kernels:
                return {"reason": made.reason}
            found[name].append(sum(kernel.time_us for kernel in made.kernels))
    ratio = median(found["slow"]) / median(found["quick"])
    return {"times_us": found, "ratio": ratio, "found": ratio > 1 + PLANTED / 2}


def examine(given: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        task = write_task(Path(folder), given.elements)
        with ChildEvaluator(task=task, backend_name=given.backend, secret=time.time_ns()) as child:
            info = child.device.info
            lab = Lab(child, task, backend(given.backend).compiler(arch=info.arch))
            rounds, time_us, slope = lab.rounds_for(given.us)
            extra = max(1, round(PLANTED * time_us / slope))
            quick, slow = lab.build(rounds), lab.build(rounds + extra)
            return {
                "device": info.device_class,
                "planted": PLANTED,
                "time_us": time_us,
                "timer": by_timer(lab, quick, slow, given.trials),
                "profiler": by_profiler(lab, quick, slow, given.profiles),
            }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--backend", choices=BACKENDS, default="cpu")
    parser.add_argument("--us", type=float, default=200.0, help="of the kernel, about")
    parser.add_argument("--elements", type=int, default=1 << 18)
    parser.add_argument("--trials", type=int, default=20, help="gains, and as many losses")
    parser.add_argument("--profiles", type=int, default=3, help="of each kernel")
    given = parser.parse_args(arguments)
    try:
        print(json.dumps(examine(given), indent=1))
    except BackendMissing as error:
        print(f"planted_gain.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
