"""A torch expression as a baseline, on tensors that are the bindings' own memory."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from evaluators.baselines.arguments import Places, check_shape, given, named_outputs
from evaluators.baselines.batch import telling
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.arguments import Argument, Workload
from evaluators.tasks.baselines import Baseline
from evaluators.tasks.task import Task


class TorchBatch:
    """See Batch. The expression knows the arguments as tensors, the sizes, torch and math.

    On a GPU all applications are captured into one graph, as those of kernels are, and replayed
    on the session's own stream; what can't be captured is enqueued call by call. torch's replay()
    on that stream took 22 to 90 us a call more than the driver's, which the session therefore asks
    itself where torch gives the graph away (from 2.10 on; seen with 2.11 on an H100).
    """

    def __init__(
        self,
        baseline: Baseline,
        task: Task,
        workload: Workload,
        bindings: Sequence[Places],
        backend: str,
        stream: int | None,
    ) -> None:
        self._torch: Any = torch_for(backend)
        self._baseline, self._task, self._workload = baseline, task, workload
        self._code = compile(baseline.text, f"<baseline {baseline.name}>", "eval")
        self._stream = None if stream is None else self._torch.cuda.ExternalStream(stream)
        self._tensors = [
            {
                argument.name: self._tensor(argument, workload, places[argument.name])
                for argument in task.on(workload).arguments
            }
            for places in bindings
        ]
        known = {"torch": self._torch, "math": math}
        self._names = [{**known, **given(task, workload, one)} for one in self._tensors]
        self._values: list[Any] = []
        self._graph: Any = None

    def warm(self) -> None:
        """The first binding's, then a graph of all."""
        with telling(self._baseline), self.current():
            self._values = [eval(self._code, self._names[0])]
            self._stream.synchronize() if self._stream is not None else None
            self._values = []
            self._capture()

    def graph(self) -> Any:
        handle = getattr(self._graph, "raw_cuda_graph_exec", None)
        return None if handle is None else handle()

    def enqueue(self) -> None:
        with telling(self._baseline):
            if self._graph is not None:
                self._graph.replay()
            else:
                self._values = self._evaluated()

    def finish(self) -> None:
        with telling(self._baseline), self.current():
            for value, tensors in zip(self._values, self._tensors, strict=True):
                for name, one in named_outputs(value, self._task, self._workload).items():
                    check_shape(name, one.shape, tensors[name].shape)
                    if one.data_ptr() != tensors[name].data_ptr():  # else it wrote there itself
                        tensors[name].copy_(one)
        if self._graph is None:
            self._values = []

    def _evaluated(self) -> list[Any]:
        return [eval(self._code, names) for names in self._names]

    def current(self) -> AbstractContextManager[None]:
        if self._stream is None:
            return nullcontext()
        made: AbstractContextManager[None] = self._torch.cuda.stream(self._stream)
        return made

    def _capture(self) -> None:
        """Its results stay in the graph's own memory, from one replay to the next."""
        if self._stream is None:
            return
        graph = self._torch.cuda.CUDAGraph()
        try:
            with self._torch.cuda.graph(graph, stream=self._stream):
                self._values = self._evaluated()
        except RuntimeError:  # such as an operation that waits for the device
            self._values = []
            return
        self._graph = graph

    def _tensor(self, argument: Argument, workload: Workload, place: Any) -> Any:
        """On the argument's memory, without a copy. place: an array, or an address."""
        torch, own = self._torch, getattr(self._torch, argument.dtype, None)
        if own is None:
            raise Rejected(
                Status.UNSUPPORTED, f"torch {torch.__version__} has no {argument.dtype} tensors"
            )
        # As whole numbers of its size: numpy, and the interface for arrays, know no bfloat16.
        plain = np.dtype(f"i{argument.np_dtype.itemsize}")
        if self._stream is None:
            return torch.from_numpy(place.view(plain)).view(own)
        span = _Span(place, argument.shape(workload.env), argument.steps(workload.env), plain)
        return torch.as_tensor(span, device="cuda").view(own)


class _Span:
    """Memory of a session, as torch takes it (CUDA Array Interface, version 3)."""

    def __init__(
        self,
        address: int,
        shape: tuple[int, ...],
        steps: tuple[int, ...] | None,
        dtype: np.dtype[Any],
    ) -> None:
        """steps: strides in elements; None where it is dense."""
        self.__cuda_array_interface__ = {
            "shape": shape,
            "strides": None if steps is None else tuple(step * dtype.itemsize for step in steps),
            "typestr": dtype.str,
            "data": (address, False),
            "version": 3,
        }


def torch_for(backend: str) -> Any:
    """Raises Rejected(UNSUPPORTED): torch is not here, or does not see the backend's devices."""
    try:
        import torch
    except ImportError:
        raise Rejected(Status.UNSUPPORTED, "torch is not installed here") from None
    torch.backends.cudnn.allow_tf32 = False  # float32 is float32, as for torch's products
    products = torch.backends.cuda.matmul  # parts of a sum are not rounded to half precision
    products.allow_fp16_reduced_precision_reduction = False
    products.allow_bf16_reduced_precision_reduction = False
    if backend == "cpu":
        torch.set_num_threads(1)  # a kernel has one core
        return torch
    if backend == "hip" and getattr(torch.version, "hip", None) is None:
        raise Rejected(Status.UNSUPPORTED, "torch is installed here without ROCm")
    if backend == "cuda" and getattr(torch.version, "cuda", None) is None:
        raise Rejected(Status.UNSUPPORTED, "torch is installed here without CUDA")
    if not torch.cuda.is_available():
        raise Rejected(Status.UNSUPPORTED, "torch sees no GPU here")
    return torch
