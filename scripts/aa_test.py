"""Whether times can be believed: a kernel against itself, against one 2% slower, and after faults.

For each kernel time: comparisons resampled from recorded blocks, live comparisons, and live
trials against a kernel with calibrated extra work; then kernels that fault. Writes JSON.
"""

import argparse
import json
import math
import shlex
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.device import backend
from evaluators.device_info import BACKENDS, BackendMissing
from evaluators.evaluation import Evaluation
from evaluators.measuring.intervals import speedup, tight, wins
from evaluators.measuring.policy import TimingPolicy, policy_of
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.weights import EQUAL
from scripts.lib.lab import FAULTS, Lab, write_task

TRUE_GAIN = 0.02
NEAR = 0.005
"""The calibrated extra work is 2% within so much, as the long run confirms."""
FALSE_RECORDED, FALSE_LIVE, FOUND = 0.01, 0.02, 0.95
FAULT_COST_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How much of everything."""

    times_us: tuple[float, ...]
    recorded: int
    resampled: int
    live: int
    trials: int
    elements: int
    deadline: float  # of time.monotonic()


def resampled(
    blocks: Mapping[str, Sequence[float]], policy: TimingPolicy, count: int
) -> dict[str, Any]:
    """Comparisons as a race makes them, stopping rule included, from blocks drawn anew."""
    rng = np.random.default_rng(0)
    won = lost = 0
    for _ in range(count):
        order = {label: rng.choice(np.asarray(v), policy.max_blocks) for label, v in blocks.items()}
        n = policy.min_blocks
        while n < policy.max_blocks:
            seen = {label: values[:n].tolist() for label, values in order.items()}
            if tight(seen, width=policy.width, loosest=policy.loosest, weights=EQUAL):
                break
            n += 1
        seen = {label: values[:n].tolist() for label, values in order.items()}
        won += wins(seen, weights=EQUAL)
        lost += wins(
            {label: [-value for value in values] for label, values in seen.items()}, weights=EQUAL
        )
    return {"comparisons": count, "false_wins": won, "false_losses": lost}


def repeated(
    compare: Callable[[], Evaluation], count: int, deadline: float
) -> tuple[list[Evaluation], list[str]]:
    """Comparisons until the deadline, and what went wrong with those that did not pass."""
    made: list[Evaluation] = []
    failed: list[str] = []
    while len(made) + len(failed) < count and time.monotonic() < deadline:
        one = compare()
        if one.passed:
            made.append(one)
        else:
            failed.append(f"{one.status}: {one.reason}")
    return made, failed


def slower_by(lab: Lab, rounds: int, time_us: float, slope: float) -> tuple[int, dict[str, Any]]:
    """Rounds for a kernel that is 2% slower, as a long run confirms it, corrected once."""
    extra = max(1, round(TRUE_GAIN * time_us / slope))
    base = lab.build(rounds)
    found: dict[str, Any] = {}
    for _ in range(3):
        ratio, low, high = speedup(
            lab.link(base, lab.build(rounds + extra)), (), 0.99, weights=EQUAL
        )
        found = {"rounds": rounds + extra, "gain": ratio - 1, "ci99": [low - 1, high - 1]}
        if abs(ratio - 1 - TRUE_GAIN) <= NEAR or ratio <= 1:
            break
        extra = max(1, round(extra * TRUE_GAIN / (ratio - 1)))
    return rounds + extra, found


def one_size(
    lab: Lab, target_us: float, sizes: Sizes, policy: TimingPolicy, share_s: float
) -> dict[str, Any]:
    """share_s: wall seconds for this kernel time, more than half of them for the live ones."""
    started = time.monotonic()
    rounds, time_us, slope = lab.rounds_for(target_us)
    same, again = lab.build(rounds), lab.build(rounds)
    blocks = lab.link(same, again)
    recorded = [value for values in blocks.values() for value in values]
    ratio, *ci99 = speedup(blocks, (), 0.99, weights=EQUAL)
    half = started + 0.55 * share_s
    live, live_failed = repeated(lambda: lab.compare(same, again), sizes.live, half)
    slow_rounds, gain = slower_by(lab, rounds, time_us, slope)
    slow = lab.build(slow_rounds)
    found, found_failed = repeated(lambda: lab.compare(same, slow), sizes.trials, started + share_s)
    won = [wins(one.blocks, weights=EQUAL) for one in live]
    result = {
        "target_us": target_us,
        "time_us": time_us,
        "rounds": rounds,
        "recorded": {
            "blocks": len(recorded),
            "ratio": ratio,
            "ci99": ci99,
            "block_sd": float(np.std(recorded, ddof=1)),
            **resampled(blocks, policy, sizes.resampled),
            "values": recorded,
        },
        "live": {
            "comparisons": len(live),
            "false_wins": sum(won),
            "failed": live_failed,
            "mean_ln_ratio": float(np.mean([math.log(one.speedup or 1) for one in live] or [0])),
            "device_s": float(np.median([one.seconds["device"] for one in live] or [0])),
            "telemetry": dict(live[-1].telemetry) if live else {},
        },
        "true_gain": {
            **gain,
            "trials": len(found),
            "found": sum(wins(one.blocks, weights=EQUAL) for one in found),
            "failed": found_failed,
        },
    }
    result["passed"] = _passed(result, sizes)
    return result


def _passed(result: Mapping[str, Any], sizes: Sizes) -> bool:
    recorded, live, true = result["recorded"], result["live"], result["true_gain"]
    return bool(
        recorded["false_wins"] <= FALSE_RECORDED * recorded["comparisons"]
        and live["comparisons"] == sizes.live
        and live["false_wins"] <= FALSE_LIVE * live["comparisons"]
        and abs(true["gain"] - TRUE_GAIN) <= NEAR
        and true["trials"] == sizes.trials
        and true["found"] >= FOUND * true["trials"]
    )


def faults(lab: Lab, policy: TimingPolicy) -> list[dict[str, Any]]:
    """Each bad kernel, and what it and its aftermath cost beside two good ones."""
    good = lab.build(64)
    usual_s = math.inf
    for _ in range(3):
        started = time.perf_counter()
        lab.compare(good, good)
        usual_s = min(usual_s, time.perf_counter() - started)
    results = []
    for name, code in FAULTS.items():
        bad = lab.build(64, code)
        started = time.perf_counter()
        fault = lab.compare(bad, good)
        answered = time.perf_counter()
        after = lab.compare(good, good)
        total_s = time.perf_counter() - started
        deadline_s = policy.deadline_s(1000.0) if fault.status == "TIMEOUT" else 0.0
        cost_s = total_s - usual_s - deadline_s
        results.append(
            {
                "fault": name,
                "verdict": fault.status,
                "reason": fault.reason,
                "answered_s": answered - started,
                "deadline_s": deadline_s,
                "cost_s": cost_s,
                "next": after.status,
                "passed": not fault.passed and after.passed and cost_s <= FAULT_COST_S,
            }
        )
    return results


def examine(name: str, index: int, sizes: Sizes) -> dict[str, Any]:
    policy = policy_of(name)
    long = replace(policy, link_blocks=sizes.recorded, link_budget_s=20.0)
    with tempfile.TemporaryDirectory() as folder:
        task = write_task(Path(folder), sizes.elements)
        with ChildEvaluator(
            task=task, backend_name=name, index=index, secret=time.time_ns(), policy=long
        ) as child:
            info = child.device.info
            lab = Lab(child, task, backend(name).compiler(arch=info.arch))
            fault_results = faults(lab, policy)
            kernels = []
            for i, target in enumerate(sizes.times_us):
                share_s = (sizes.deadline - time.monotonic()) / (len(sizes.times_us) - i)
                kernels.append(one_size(lab, target, sizes, policy, share_s))
                _tell(kernels[-1])
    return {
        "device": info.device_class,
        "kernels": kernels,
        "faults": fault_results,
        "passed": all(one["passed"] for one in (*kernels, *fault_results)),
    }


def _tell(kernel: Mapping[str, Any]) -> None:
    recorded, live, true = kernel["recorded"], kernel["live"], kernel["true_gain"]
    print(
        f"{kernel['time_us']:.4g} us: against itself {recorded['ratio']:.4f}, a block varies by "
        f"{recorded['block_sd']:.2%}, false wins {recorded['false_wins']} of "
        f"{recorded['comparisons']} resampled and {live['false_wins']} of {live['comparisons']} "
        f"live; a gain of {true['gain']:.2%} found in {true['found']} of {true['trials']}",
        flush=True,
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=BACKENDS, default="cpu")
    parser.add_argument("--device", type=int, default=0, help="among those visible (default 0)")
    parser.add_argument("--times-us", default="10,100,1000", help="kernel times to examine")
    parser.add_argument("--recorded", type=int, default=300, help="paired blocks to record")
    parser.add_argument("--resampled", type=int, default=1000, help="comparisons from them")
    parser.add_argument("--live", type=int, default=200, help="live comparisons for each time")
    parser.add_argument("--trials", type=int, default=100, help="trials of a true gain")
    parser.add_argument("--elements", type=int, help="that a launch copies")
    parser.add_argument("--seconds", type=float, default=240.0, help="for the whole run")
    parser.add_argument("--out", type=Path, default=Path("aa.json"))
    given = parser.parse_args(arguments)
    sizes = Sizes(
        times_us=tuple(float(word) for word in given.times_us.split(",")),
        recorded=given.recorded,
        resampled=given.resampled,
        live=given.live,
        trials=given.trials,
        elements=given.elements or (4096 if given.backend == "cpu" else 270_336),
        deadline=time.monotonic() + given.seconds,
    )
    try:
        result = examine(given.backend, given.device, sizes)
    except BackendMissing as missing:
        print(missing, file=sys.stderr)
        return 2
    command = shlex.join(["python", "-m", "scripts.aa_test", *(arguments or sys.argv[1:])])
    date = datetime.now(UTC).isoformat(timespec="seconds")
    given.out.write_text(json.dumps({"date": date, "command": command, **result}, indent=1) + "\n")
    for fault in result["faults"]:
        print(
            f"{fault['fault']}: {fault['verdict']}, {fault['cost_s']:.2f} s beyond the deadline, "
            f"the next kernel {fault['next']}"
        )
    print(f"{'PASSED' if result['passed'] else 'FAILED'}; written to {given.out}")
    return 0 if result["passed"] else 1


if __name__ == "__main__":
    sys.exit(main())
