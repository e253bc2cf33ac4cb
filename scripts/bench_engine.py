"""Measures the engine's own overhead: a whole campaign whose compile and measure return at once."""

import argparse
import json
import math
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from statistics import fmean

from engine.campaign import run_campaign
from engine.config import parse_config
from engine.dispatch.workbench import Blocks, Built
from engine.store.replay import replay
from evaluators.device import Compiled
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Rejected, Status, Verdict
from evaluators.kernel.source import KernelSource, kernel_id, parse_kernel
from evaluators.measuring.intervals import gains
from evaluators.measuring.policy import Anchor
from evaluators.probes.probe import Answer, BuiltProbe, parse_probe
from evaluators.processes.child_evaluator import RemoteDevice
from evaluators.tasks.arguments import Suite
from evaluators.tasks.task_file import load_task

INFO = DeviceInfo(
    backend="cpu",
    judges_on_device=False,
    private_process=False,
    name="nothing",
    arch="x86-64",
    engine="cpu-fission",
    compiler="none",
    wavefront=64,
    lds_bytes=1 << 16,
    max_threads=1024,
    cache_bytes=1 << 20,
)
NOTHING = RemoteDevice(INFO)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantWorkbench:
    """Compiles nothing and measures nothing: every kernel passes, its id decides how fast.

    binary_bytes: the size of a compiled kernel, which travels from the task to the device.
    """

    task_hash: str
    labels: tuple[str, ...]
    binary_bytes: int

    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        compiled = Compiled(
            kernel_id=kernel_id(source),
            backend=info.backend,
            arch=info.arch,
            engine=info.engine,
            compiler=info.compiler,
            binaries={},
            log="x" * self.binary_bytes,
        )
        return Built(kernel=parse_kernel(source), compiled=compiled)

    def compile_probe(self, text: str, info: DeviceInfo) -> BuiltProbe | Answer:
        try:
            probe = parse_probe(text)
        except Rejected as rejected:
            return Answer.of_rejected(text, rejected)
        built = self.compile(load_task("sgemm").naive, info)
        assert isinstance(built, Built)
        return BuiltProbe(probe=probe, compiled=built.compiled, cases=())

    def open(self, device: int) -> "AbstractContextManager[InstantEvaluator]":
        return nullcontext(InstantEvaluator(workbench=self))

    def watch(self, built: Built, info: DeviceInfo, turn: int) -> Verdict:
        return Verdict(status=Status.PASSED)

    def open_afresh(self, device: int, turn: int) -> "AbstractContextManager[InstantEvaluator]":
        return self.open(device)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantEvaluator:
    """See InstantWorkbench; every kernel is right on held-out shapes too."""

    workbench: InstantWorkbench
    device: RemoteDevice = NOTHING

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        times_us = self._times_us(kernel.id)
        blocks = self._blocks(kernel.id, anchor.kernel_id, 10) if anchor else {}
        links = (*anchor.links, blocks) if anchor else ()
        gain = fsum(fmean(values[0] for values in link.values()) for link in links)
        info = self.device.info
        return Evaluation(
            kernel_id=kernel.id,
            task_hash=self.workbench.task_hash,
            device_class=info.device_class,
            status=Status.PASSED,
            times_us=times_us,
            blocks=blocks,
            gains=gains(blocks, anchor.links if anchor else (), times_us),
            links=len(anchor.links) if anchor else 0,
            anchor_id=anchor.kernel_id if anchor else None,
            speedup=math.exp(gain),
            device=info.name,
        )

    def probe(self, built: BuiltProbe) -> Answer:
        probe = built.probe
        return Answer(
            probe_id=probe.id,
            question=probe.question,
            status=Status.PASSED,
            sentences=("Nothing was measured.",),
        )

    def verify(self, kernel: KernelSource, compiled: Compiled, suite: Suite) -> Verdict:
        return Verdict(status=Status.PASSED)

    def watch(self, kernel: KernelSource) -> Verdict:
        return Verdict(status=Status.PASSED)

    def link(self, kernel: KernelSource, compiled: Compiled, anchor: Anchor) -> Blocks:
        return self._blocks(kernel.id, anchor.kernel_id, 30)

    def _times_us(self, kernel_id: str) -> dict[str, float]:
        return {
            label: 100.0 + int(kernel_id[:6], 16) % 997 + place
            for place, label in enumerate(self.workbench.labels)
        }

    def _blocks(self, kernel_id: str, anchor_id: str, count: int) -> Blocks:
        ours, theirs = self._times_us(kernel_id), self._times_us(anchor_id)
        return {label: (math.log(theirs[label] / ours[label]),) * count for label in ours}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evaluations", type=int, default=3000)
    parser.add_argument("--islands", type=int, default=2)
    parser.add_argument("--cycles-in-flight", type=int, default=8)
    parser.add_argument("--binary-bytes", type=int, default=30_000)
    parser.add_argument("--operators", choices=("random", "catalog"), default="random")
    arguments = parser.parse_args()
    task = load_task("sgemm")
    workbench = InstantWorkbench(
        task_hash=task.hash,
        labels=tuple(w.label for w in task.workloads("benchmarks", "cpu")),
        binary_bytes=arguments.binary_bytes,
    )
    with tempfile.TemporaryDirectory() as folder:
        config = parse_config(
            {
                "task": "sgemm",
                "name": "bench",
                "runs_dir": folder,
                "budgets": {"evaluations": arguments.evaluations},
                "islands": {
                    "count": arguments.islands,
                    "cycles_in_flight": arguments.cycles_in_flight,
                },
                "operators": [{"kind": arguments.operators}],
                "tracking": "none",
            },
            where="scripts/bench_engine.py",
        )
        load_before = os.getloadavg()[0]
        summary = run_campaign(config, workbench=workbench)
        whole = replay(Path(folder) / "bench" / "store.sqlite")
    measured_s = whole.last_evaluated_at - whole.first_evaluated_at
    json.dump(
        {
            "candidates_per_s": round(summary.evaluations["total"] / measured_s, 1),
            "operators": arguments.operators,
            "candidates": summary.evaluations["total"],
            "seconds": round(measured_s, 3),
            "start_s": round(summary.elapsed_s - measured_s, 3),
            "cores": len(os.sched_getaffinity(0)),
            "load_before": round(load_before, 2),
        },
        sys.stdout,
        indent=2,
    )
    print()


if __name__ == "__main__":
    main()
