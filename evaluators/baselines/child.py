"""The process that runs one baseline on one core of the host: trusted code, and no kernel's."""

import ctypes
import mmap
import os
import pickle
import sys
import time
from typing import Any, NoReturn

import numpy as np

from evaluators.baselines.arguments import view
from evaluators.baselines.batch import Batch
from evaluators.baselines.making import load_baseline, make_batch
from evaluators.baselines.messages import Done, Drop, Request, Run, Share, Span
from evaluators.evaluation import Rejected
from evaluators.sandbox.confine import die_with_parent
from evaluators.sandbox.frames import Ended, own_pipes, receive, send
from evaluators.tasks.baselines import Baseline

BATCHES_KEPT = 16


class Serving:
    """Memories by number, and batches that were made for them."""

    def __init__(self, baseline: Baseline) -> None:
        self._baseline = baseline
        self._memories: dict[int, mmap.mmap] = {}
        self._batches: dict[tuple[object, ...], Batch] = {}

    def answer(self, request: Request) -> Done:
        try:
            match request:
                case Share():
                    load_baseline(self._baseline, "cpu")
                    self._share(request)
                case Drop(number=number):
                    self._drop(number)
                case Run():
                    return Done(taken_us=self._run(request))
        except Rejected as rejected:
            return Done(rejected=rejected)
        return Done()

    def _share(self, request: Share) -> None:
        descriptor = os.open(request.path, os.O_RDWR)
        self._memories[request.number] = mmap.mmap(descriptor, request.nbytes)
        os.close(descriptor)

    def _drop(self, number: int) -> None:
        """Arrays may still be held by who made them; the map goes with the last."""
        self._batches = {key: one for key, one in self._batches.items() if key[0] != number}
        self._memories.pop(number, None)

    def _run(self, request: Run) -> float:
        batch = self._batch(request)
        began = time.process_time_ns()
        batch.enqueue()
        taken_us = (time.process_time_ns() - began) / 1e3
        batch.finish()
        return taken_us

    def _batch(self, request: Run) -> Batch:
        spans = tuple(tuple(one.items()) for one in request.bindings)
        key = (request.memory, request.workload.label, spans)
        if key not in self._batches:
            while len(self._batches) >= BATCHES_KEPT:
                del self._batches[next(iter(self._batches))]
            memory, workload = self._memories[request.memory], request.workload
            arguments = request.task.on(workload).arguments
            bindings = [
                {a.name: view(_bytes(memory, one[a.name]), a, workload) for a in arguments}
                for one in request.bindings
            ]
            self._batches[key] = make_batch(
                self._baseline, request.task, workload, bindings, backend="cpu"
            )
        return self._batches[key]


def _bytes(memory: mmap.mmap, span: Span) -> np.ndarray[Any, np.dtype[np.uint8]]:
    start, nbytes = span
    return np.frombuffer(memory, np.uint8, nbytes, start)


def serve(serving: Serving, requests: int, answers: int) -> NoReturn:
    while True:
        try:
            request = receive(requests)
        except Ended:
            os._exit(0)
        send(answers, serving.answer(request))


def main() -> NoReturn:
    """Arguments: parent process, core, and the baseline, pickled, as hexadecimal digits."""
    die_with_parent(ctypes.CDLL(None, use_errno=True), int(sys.argv[1]))
    os.sched_setaffinity(0, {int(sys.argv[2])})
    requests, answers = own_pipes()
    baseline = pickle.loads(bytes.fromhex(sys.argv[3]))
    serve(Serving(baseline), requests, answers)


if __name__ == "__main__":
    main()
