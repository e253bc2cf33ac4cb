"""A baseline of any kind but a kernel: what it needs is loaded, and its batches are made."""

from collections.abc import Sequence
from importlib.util import find_spec

from evaluators.baselines.arguments import Places
from evaluators.baselines.batch import Batch, telling
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.arguments import Workload
from evaluators.tasks.baselines import Baseline
from evaluators.tasks.task import Task


def make_batch(
    baseline: Baseline,
    task: Task,
    workload: Workload,
    bindings: Sequence[Places],
    *,
    backend: str,
    stream: int | None = None,
) -> Batch:
    """stream: of a GPU, the driver's handle; None on cpu. Raises Rejected: UNSUPPORTED where what
    it needs is not installed, else LAUNCH_ERROR: its own code raised something."""
    with telling(baseline):
        match baseline.kind:
            case "torch":
                from evaluators.baselines.torch_batch import TorchBatch

                return TorchBatch(baseline, task, workload, bindings, backend, stream)
            case "call":
                from evaluators.baselines.calls import CallBatch

                return CallBatch(baseline, task, workload, bindings, stream)
            case "numpy":
                from evaluators.baselines.numpy_batch import NumpyBatch

                return NumpyBatch(baseline, task, workload, bindings)
    raise ValueError(f"a baseline of kind {baseline.kind} is compiled, as kernels are")


def load_baseline(baseline: Baseline, backend: str) -> None:
    """Beforehand what takes seconds, such as importing torch. Raises Rejected, as make_batch."""
    with telling(baseline):
        match baseline.kind:
            case "torch":
                from evaluators.baselines.torch_batch import torch_for

                torch_for(backend)
            case "call":
                from evaluators.baselines.calls import load_function

                load_function(baseline)


def check_installed(baseline: Baseline) -> None:
    """What can be told at once, before a process is started for it. Raises Rejected."""
    if baseline.kind == "torch" and find_spec("torch") is None:
        raise Rejected(Status.UNSUPPORTED, "torch is not installed here")
