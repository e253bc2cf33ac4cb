"""Whether a result holds when it is measured again: final measurements and a later, longer one.

Kernels of the catalogue, each measured several times as `kernel-scientist evaluate` does, every
other time beside a busy process, and once more for longer at the end. Prints JSON: how many of
the intervals hold the longer measurement, and how wide they are. With --state it can be run in
pieces: what is there already is not measured again.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from evaluators.device import backend
from evaluators.device_info import BACKENDS
from evaluators.evaluate import compile_kernel, evaluate_file, opened
from evaluators.evaluation import Rejected
from evaluators.measuring.intervals import Sittings
from evaluators.measuring.policy import Anchor
from evaluators.measuring.sittings import Sitting, brief, sit, spread_of
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from evaluators.weights import weights_of
from operators.catalog.random_search import random_candidate
from operators.operator import Declined

SPIN = "import os\nparent = os.getppid()\nwhile os.getppid() == parent: pass"
"""It ends with this process, however that ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """tasks: in turn for each kernel; seconds: of a final measurement, and of the later one."""

    backend: str
    tasks: tuple[str, ...]
    kernels: int
    times: int
    seconds: float
    later_s: float
    seed: int


@contextmanager
def busy(wanted: bool) -> Iterator[None]:
    """Beside as many processes that compute as there are cores, where that is wanted."""
    count = len(os.sched_getaffinity(0)) if wanted else 0
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def kernels(sizes: Sizes, folder: Path) -> Iterator[tuple[str, Path]]:
    """A task and a kernel file of it each, that compile; the same for the same seed."""
    compiler = backend(sizes.backend).compiler()
    rng = np.random.default_rng(sizes.seed)
    made = 0
    while made < sizes.kernels:
        name = sizes.tasks[made % len(sizes.tasks)]
        task = load_task(name)
        try:
            source = random_candidate(task, rng).candidate.source
            kernel, _ = compile_kernel(source, task, compiler, sizes.backend)
        except (Declined, Rejected):
            continue
        file = folder / f"{kernel.id}.hip"
        file.write_text(source)
        made += 1
        yield name, file


def final(sizes: Sizes, name: str, file: Path, beside: bool) -> dict[str, Any]:
    """One final measurement, as a person's."""
    began = time.time()
    with busy(beside):
        made = evaluate_file(file, name, sizes.backend, seconds=sizes.seconds)
    return {
        "kernel": file.stem,
        "task": name,
        "at": began,
        "lasted_s": time.time() - began,
        "busy": beside,
        "said": made.busy,
        "status": made.status,
        "speedup": made.speedup,
        "ci95": made.ci95,
        "sittings": made.sittings,
    }


def later(sizes: Sizes, name: str, file: Path) -> dict[str, Any]:
    """Sittings for as long as the later measurement lasts, without an interval of its own."""
    task = load_task(name)
    began, until = time.time(), time.monotonic() + sizes.later_s
    compiler = backend(sizes.backend).compiler()
    kernel, compiled = compile_kernel(file.read_text(), task, compiler, sizes.backend)
    anchor = naive(task, sizes.backend)
    held: list[Sitting] = []
    while not held or time.monotonic() < until:
        turn = len(held) % backend(sizes.backend).device_count()
        private = backend(sizes.backend).private_process
        policy = brief(sizes.backend, None)
        index = 0 if private else turn
        with opened(task, sizes.backend, index=index, policy=policy) as evaluator:
            held.append(sit(evaluator, kernel, compiled, [anchor], check=False))
    blocks = [one.blocks[anchor.kernel_id] for one in held if one.verdict.passed]
    weights = weights_of(task.workloads("benchmarks", sizes.backend))
    made = Sittings(blocks, spread_of(sizes.backend), weights)
    return {
        "kernel": file.stem,
        "task": name,
        "at": began,
        "speedup": math.exp(made.ln_ratio),
        "sittings": made.count,
    }


def naive(task: Task, backend_name: str) -> Anchor:
    compiler = backend(backend_name).compiler()
    kernel, compiled = compile_kernel(task.naive, task, compiler, backend_name)
    return Anchor(kernel_id=kernel.id, kernel=kernel, compiled=compiled)


def measure(sizes: Sizes, folder: Path, state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What is missing in the state, piece by piece; the state after each.

    Round after round over all kernels, so that measurements of one are far apart in time.
    """
    chosen = list(kernels(sizes, folder))
    for turn in range(sizes.times):
        for place, (name, file) in enumerate(chosen):
            key = f"{file.stem}/{turn}"
            if key not in state["finals"]:
                beside = (place + turn) % 2 == 1
                state["finals"][key] = final(sizes, name, file, beside)
                yield state
    for name, file in chosen:
        if file.stem not in state["later"] and state["finals"][f"{file.stem}/0"]["speedup"]:
            state["later"][file.stem] = later(sizes, name, file)
            yield state


def summary(state: dict[str, Any]) -> dict[str, Any]:
    """covered: of the finals whose kernel was measured later; widths: (high - low) / estimate."""
    judged = [
        {
            **one,
            "held": one["ci95"][0] <= state["later"][one["kernel"]]["speedup"] <= one["ci95"][1],
        }
        for one in state["finals"].values()
        if one["ci95"] and one["kernel"] in state["later"]
    ]
    return {
        "finals": len(judged),
        "covered": sum(one["held"] for one in judged),
        **{f"width_{name}": _width(judged, beside) for name, beside in _ARMS.items()},
        **{f"covered_{name}": _share(judged, beside) for name, beside in _ARMS.items()},
        "lasted_s": fmean(one["lasted_s"] for one in judged) if judged else None,
        "load": os.getloadavg()[1],
        "missed": [one for one in judged if not one["held"]],
    }


_ARMS = {"alone": False, "beside_busy": True}


def _width(judged: Sequence[dict[str, Any]], beside: bool) -> float | None:
    widths = [
        (one["ci95"][1] - one["ci95"][0]) / one["speedup"]
        for one in judged
        if one["busy"] == beside
    ]
    return median(widths) if widths else None


def _share(judged: Sequence[dict[str, Any]], beside: bool) -> str:
    arm = [one["held"] for one in judged if one["busy"] == beside]
    return f"{sum(arm)} of {len(arm)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=BACKENDS, default="cpu")
    parser.add_argument("--tasks", default="sgemm,softmax,transpose")
    parser.add_argument("--kernels", type=int, default=20)
    parser.add_argument("--times", type=int, default=3, help="final measurements of each kernel")
    parser.add_argument("--seconds", type=float, default=24.0, help="of a final measurement")
    parser.add_argument("--later", type=float, default=120.0, help="seconds of the later one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--state", type=Path, required=True, help="a folder; it is gone on with")
    parser.add_argument("--for", type=float, default=math.inf, dest="span", help="seconds at most")
    given = parser.parse_args(arguments)
    sizes = Sizes(
        backend=given.backend,
        tasks=tuple(given.tasks.split(",")),
        kernels=given.kernels,
        times=given.times,
        seconds=given.seconds,
        later_s=given.later,
        seed=given.seed,
    )
    given.state.mkdir(parents=True, exist_ok=True)
    file = given.state / "coverage.json"
    state = json.loads(file.read_text()) if file.is_file() else {"finals": {}, "later": {}}
    until = time.monotonic() + given.span
    for changed in measure(sizes, given.state, state):
        file.write_text(json.dumps(changed, indent=1) + "\n")
        if time.monotonic() > until:
            break
    print(json.dumps(summary(state), indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
