"""What one evaluation costs, here against another checkout of this repository; prints JSON.

    python -m scripts.evaluation_cost --other ../before --backend cpu --kernels 100

Both evaluate the same random kernels of the catalogue, in turn, each in a process of its own,
against the same anchor. Compiling is not counted.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, Self

import numpy as np

from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task
from operators.catalog.families import families
from operators.catalog.random_search import random_candidate

WORKER = """
import json, sys, time
from pathlib import Path
try:
    from evaluators.tasks.task_file import load_task
except ImportError:  # before the rooms
    from evaluators.task import load_task
from evaluators.device import backend
from evaluators.evaluate import Anchor, compile_kernel, opened
from evaluators.evaluation import Rejected

name, backend_name, anchor_file = sys.argv[1:]
task = load_task(name)
with opened(task, backend_name) as evaluator:
    compiler = backend(backend_name).compiler(arch=evaluator.device.info.arch)

    def compiled(path):
        return compile_kernel(Path(path).read_text(), task, compiler, backend_name)

    kernel, built = compiled(anchor_file)
    anchor = Anchor(kernel_id=kernel.id, kernel=kernel, compiled=built)
    print(json.dumps(evaluator.measure(*compiled(anchor_file), anchor).status), flush=True)
    for line in sys.stdin:
        try:
            kernel, built = compiled(line.strip())
        except Rejected as rejected:
            print(json.dumps({"status": rejected.status, "seconds": None}), flush=True)
            continue
        began = time.perf_counter()
        made = evaluator.measure(kernel, built, anchor)
        seconds = time.perf_counter() - began
        stages = dict(made.seconds)
        told = {"status": made.status, "reason": made.reason, "seconds": seconds, "stages": stages}
        print(json.dumps(told), flush=True)
"""


class Worker:
    """A checkout's evaluator in a process of its own."""

    def __init__(self, root: Path, task: str, backend: str, anchor: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER, task, backend, str(anchor)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), *sys.path[1:]])},
            cwd=root,
            text=True,
        )
        if (status := self._answer()) != "PASSED":
            raise SystemExit(f"{root}: the anchor is {status}")

    def measure(self, file: Path) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{file}\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = self._answer()
        return answer

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise SystemExit("a worker ended; what it said stands above")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--other", type=Path, required=True, help="the other checkout")
    options.add_argument("--task", default="sgemm")
    options.add_argument("--backend", default="cpu")
    options.add_argument("--kernels", type=int, default=100)
    options.add_argument("--for", type=float, default=math.inf, dest="span", help="seconds at most")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--anchor", choices=("catalogue", "naive"), default="catalogue")
    chosen = options.parse_args()
    if not (chosen.other / "evaluators").is_dir():
        options.error(f"--other {chosen.other}: no checkout of this repository is there")
    with tempfile.TemporaryDirectory() as folder:
        rows = list(_measured(chosen, Path(folder)))
    json.dump(_report(rows), sys.stdout, indent=1)
    print()


def _measured(chosen: argparse.Namespace, folder: Path) -> Iterator[dict[str, Any]]:
    """Each kernel by both, the one that goes first drawn at random."""
    task = load_task(chosen.task)
    rng = np.random.default_rng(chosen.seed)
    anchor = folder / "anchor.hip"
    known = families(task).sources
    usual = task.naive if chosen.anchor == "naive" else known[list(known)[-1]].text
    anchor.write_text(usual)
    until = time.monotonic() + chosen.span
    here, there = Path(__file__).parents[1], chosen.other.resolve()
    with (
        Worker(here, chosen.task, chosen.backend, anchor) as new,
        Worker(there, chosen.task, chosen.backend, anchor) as old,
    ):
        workers = {"new": new, "old": old}
        for i in range(chosen.kernels):
            file = folder / f"{i}.hip"
            file.write_text(random_candidate(task, rng).candidate.source)
            names = [str(name) for name in rng.permutation(list(workers))]
            found = {name: workers[name].measure(file) for name in names}
            print(f"{i}: {found['new']['status']} {found['old']['status']}", file=sys.stderr)
            yield {"kernel": parse_kernel(file.read_text()).id, **found}
            if time.monotonic() > until:
                break


def _report(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Medians over the kernels that both measured, and how often the verdicts differ."""
    both = [row for row in rows if row["new"]["seconds"] and row["old"]["seconds"]]
    alike = [row for row in both if row["new"]["status"] == row["old"]["status"]]
    seconds = {who: median(row[who]["seconds"] for row in alike) for who in ("new", "old")}
    ratios = [row["new"]["seconds"] / row["old"]["seconds"] for row in alike]
    return {
        "kernels": len(rows),
        "alike": len(alike),
        "median_s": seconds,
        "ratio_of_medians": seconds["new"] / seconds["old"],
        "median_of_ratios": median(ratios),
        "stages_s": {who: _stages(alike, who) for who in ("new", "old")},
        "different": [row for row in both if row not in alike],
    }


def _stages(rows: list[dict[str, Any]], who: str) -> dict[str, float]:
    return {
        stage: median(row[who]["stages"].get(stage, 0.0) for row in rows)
        for stage in ("check", "time", "device")
    }


if __name__ == "__main__":
    main()
