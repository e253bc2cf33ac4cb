"""Measuring the points of a recording: compiled in processes of their own, ahead of the device."""

import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from itertools import islice
from pathlib import Path

from engine.dispatch.workbench import BackendWorkbench, Built, OpenEvaluator, raising_broken
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.policy import Anchor, policy_of
from scripts.lib.bare_loop import begin_compiling, compile_in_process
from scripts.lib.pools import Pool, pool_of, result_of
from scripts.search.recording import Recorder, Recording
from scripts.search.table import TableError

AHEAD = 3
"""Kernels compiled, or being compiled, for each compile process."""

SAVE_EVERY_S = 20.0


def record(recording: Recording, path: Path, *, workers: int, seconds: float) -> Recorder:
    """Until all points are measured, or the seconds are over. Raises TableError, Broken."""
    recorder = Recorder(path, recording)
    left = recorder.left()
    workbench = BackendWorkbench(
        task=str(recording.task.folder),
        backend=recording.backend,
        secret=recording.seed,
        policy=replace(
            policy_of(recording.backend), min_blocks=3, max_blocks=6, width=0.02, budget_s=0.2
        ),
    )
    until = time.monotonic() + seconds
    with raising_broken(), workbench.open(recording.device) as evaluator:
        begun = (workbench, evaluator.device.info, frozenset[int]())
        with pool_of(workers, begin_compiling, begun) as pool:
            naive = result_of(pool.submit(compile_in_process, recording.task.naive))
            if isinstance(naive, Evaluation):
                raise TableError(f"the naive seed does not compile: {naive.reason}")
            first = evaluator.measure(naive.kernel, naive.compiled, None)
            if not first.passed:
                raise TableError(f"the naive seed is {first.status}: {first.reason}")
            recorder.begin(evaluator.device.info.name, first.times_us)
            anchor = Anchor(kernel_id=naive.kernel_id, kernel=naive.kernel, compiled=naive.compiled)
            compiled = _compiled(pool, recording.kernel, left, AHEAD * workers)
            saved = time.monotonic()
            try:
                for point, built in compiled:
                    recorder.add(point, _verdict(evaluator, built, anchor))
                    if time.monotonic() - saved > SAVE_EVERY_S:
                        recorder.save()
                        saved = time.monotonic()
                        _tell(recorder, len(left))
                    if time.monotonic() > until:
                        break
            finally:
                recorder.save()
            pool.cancel()
    return recorder


def _verdict(evaluator: OpenEvaluator, built: Built | Evaluation, anchor: Anchor) -> Evaluation:
    if isinstance(built, Evaluation):
        return built
    return evaluator.measure(built.kernel, built.compiled, anchor)


def _compiled(
    pool: Pool,
    kernel: KernelSource,
    points: Sequence[dict[str, int]],
    ahead: int,
) -> Iterator[tuple[dict[str, int], Built | Evaluation]]:
    """In order, compiled ahead by as much as keeps every process busy."""
    waiting: list[tuple[dict[str, int], Future[Built | Evaluation]]] = []
    coming = iter(points)
    while True:
        for point in islice(coming, ahead - len(waiting)):
            source = kernel.with_params(point).text
            waiting.append((point, pool.submit(compile_in_process, source)))
        if not waiting:
            return
        point, future = waiting.pop(0)
        yield point, result_of(future)


def _tell(recorder: Recorder, points: int) -> None:
    passed = sum(row.status is Status.PASSED for row in recorder.rows)
    text = f"{len(recorder.rows)} points, {passed} passed"
    print(text, file=sys.stderr, flush=True)
