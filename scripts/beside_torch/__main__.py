"""Times a kernel beside PyTorch's own operation on an NVIDIA GPU, by shape; prints JSON.

python -m scripts.beside_torch runs/sgemm/best.hip --task sgemm

Both work on the same memory, in turn, and each call is a graph of as many applications as there
are sets of inputs, so that neither finds its inputs in a cache. ratio is PyTorch's time over the
kernel's, with its 95% interval: above 1 the kernel is the faster one. PyTorch multiplies float32
without TF32, as its defaults have it.
"""

import json
import math
import sys
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from evaluators.device import Buffer, backend
from evaluators.device_info import BackendMissing, DeviceFault
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.measuring.intervals import speedup
from evaluators.measuring.lane import Lane
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task
from evaluators.weights import EQUAL
from scripts.lib.arguments import whole_from
from scripts.search.outputs import reason_of

BACKEND = "cuda"
DEADLINE_S = 10.0
POLICY = TimingPolicy(copies_bytes=1 << 30)  # more than any cache holds
MOST_DIFFERENCE = 1e-2
"""Between outputs, relative to the largest: beyond it the two do not do the same."""

Operation = Callable[[Any, Mapping[str, Any]], object]
"""Called with torch and the arguments' tensors by name; writes the outputs."""

OPERATIONS: Mapping[str, Operation] = {
    "sgemm": lambda torch, own: torch.matmul(own["a"], own["b"], out=own["c"]),
    "softmax": lambda torch, own: torch.softmax(own["x"], dim=-1, out=own["y"]),
    "sum_reduction": lambda torch, own: torch.sum(own["x"], dim=0, keepdim=True, out=own["out"]),
    "transpose": lambda torch, own: own["y"].copy_(own["x"].T),
}

Timed = Callable[[], float]
"""Makes one call; returns microseconds an application."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """Two who work on the same memory. difference: the largest one between the outputs of the
    two, relative to the largest output."""

    kernel: Timed
    library: Timed
    difference: float


def main(argv: Sequence[str] | None = None) -> int:
    asked = _parser().parse_args(argv)
    try:
        found = measure(asked.kernel, asked.task, asked.blocks)
    except (OSError, UnicodeDecodeError) as error:
        told = f"can't be read: {reason_of(error)}"
    except (BackendMissing, DeviceFault, Rejected, TaskError) as error:
        told = str(error)
    else:
        print(json.dumps(found, indent=1))
        return 0
    print(f"beside_torch: {asked.kernel}: {told}", file=sys.stderr)
    return 2


def measure(file: Path, task_name: str, blocks: int) -> dict[str, Any]:
    """Raises BackendMissing, DeviceFault, OSError, Rejected, TaskError, UnicodeDecodeError."""
    task = load_task(task_name)
    if task.name not in OPERATIONS:
        known = ", ".join(OPERATIONS)
        raise TaskError(
            f"of task {task.name} no operation of PyTorch is known here, but of {known}"
        )
    if _layout(task) != _layout(load_task(task.name)):
        raise TaskError(
            f"{task_name} has other arguments than the shipped task {task.name}, whose operation "
            "of PyTorch is known here"
        )
    source = file.read_text(encoding="utf-8")
    torch = _torch()
    device = backend(BACKEND).open_device(0)
    try:
        kernel, compiled = compile_kernel(
            source, task, backend(BACKEND).compiler(arch=device.info.arch), BACKEND
        )
        shapes = {}
        ratios: dict[str, list[float]] = {}
        for workload in task.workloads("benchmarks", BACKEND):
            with Lane(device, task, [workload], kernel, compiled, POLICY) as lane:
                sides = on_torch(torch, lane, task, workload)
                shapes[workload.label], ratios[workload.label] = paired(sides, blocks)
        return {
            "kernel": compiled.kernel_id,
            "task": task.name,
            "device": device.info.name,
            "torch": str(torch.__version__),
            "blocks": blocks,
            "shapes": shapes,
            "over_shapes": _estimate(ratios),
        }
    finally:
        device.close()


def _layout(task: Task) -> list[tuple[str, ...]]:
    """What an operation relies on."""
    return [
        (one.name, one.dtype, one.role, *(size.text for size in one.dimensions))
        for one in task.arguments
    ]


def paired(sides: Sides, blocks: int) -> tuple[dict[str, Any], list[float]]:
    """Times by turns, each first as often as the other: what is told of a shape, and
    ln(library's time / kernel's time) by block. Raises Rejected."""
    if not sides.difference <= MOST_DIFFERENCE:
        raise Rejected(
            Status.WRONG,
            f"its outputs differ from PyTorch's by {sides.difference:.2g} of the largest: check it "
            "with `kernel-scientist evaluate`",
        )
    times: dict[str, list[float]] = {"kernel": [], "library": []}
    for block in range(-1, blocks):  # the first warms both up
        for name in ("kernel", "library")[:: 1 if block % 2 else -1]:
            times[name].append(getattr(sides, name)())
    kept = {name: values[1:] for name, values in times.items()}
    ratios = [
        math.log(library / kernel)
        for kernel, library in zip(kept["kernel"], kept["library"], strict=True)
    ]
    told = {
        "kernel_us": round(median(kept["kernel"]), 3),
        "torch_us": round(median(kept["library"]), 3),
        **_estimate({"": ratios}),
        "difference": float(f"{sides.difference:.2g}"),
    }
    return told, ratios


def _estimate(ratios: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """The geometric mean over shapes."""
    middle, low, high = speedup(ratios, weights=EQUAL)
    return {"ratio": round(middle, 4), "ci95": [round(low, 4), round(high, 4)]}


def _torch() -> Any:
    """Raises BackendMissing."""
    try:
        import torch
    except ImportError:
        raise BackendMissing("PyTorch is missing: pip install torch") from None
    if not torch.cuda.is_available():
        raise BackendMissing("PyTorch finds no NVIDIA GPU, or is a build without CUDA")
    return torch


def on_torch(torch: Any, lane: Lane, task: Task, workload: Workload) -> Sides:
    """Both on the lane's memory, after each ran there. Raises Rejected."""
    memory = lane.memories[workload.label]
    bindings = memory.bindings[: lane.applications(workload.label, sys.maxsize)]
    sets = [_tensors(torch, task, workload, binding) for binding in bindings]
    operation = OPERATIONS[task.name]
    for own in sets:
        for argument in task.arguments:
            own[argument.name].normal_()
    memory.prepare(deadline_s=DEADLINE_S)

    def kernel() -> float:
        return memory.session.time(memory.plan, bindings, deadline_s=DEADLINE_S) / len(bindings)

    kernel()
    torch.cuda.synchronize()
    outputs = [argument.name for argument in task.outputs]
    ours = {name: sets[0][name].clone() for name in outputs}
    for own in sets:
        operation(torch, own)
    torch.cuda.synchronize()
    differences = [
        float((ours[name] - sets[0][name]).abs().max() / sets[0][name].abs().max())
        for name in outputs
    ]
    difference = math.nan if any(map(math.isnan, differences)) else max(differences)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for own in sets:
            operation(torch, own)
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def library() -> float:
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        return float(start.elapsed_time(end)) * 1e3 / len(sets)

    return Sides(kernel=kernel, library=library, difference=difference)


def _tensors(
    torch: Any, task: Task, workload: Workload, binding: Mapping[str, Buffer]
) -> dict[str, Any]:
    return {
        argument.name: torch.as_tensor(
            _Span(
                {
                    "shape": argument.shape(workload.env),
                    "typestr": argument.np_dtype.str,
                    "data": (binding[argument.name].offset, False),
                    "version": 3,
                }
            ),
            device="cuda",
        )
        for argument in task.arguments
    }


class _Span:
    """Memory of a session, as PyTorch takes it (CUDA Array Interface, version 3)."""

    def __init__(self, interface: Mapping[str, Any]) -> None:
        self.__cuda_array_interface__ = interface


def _parser() -> ArgumentParser:
    parser = ArgumentParser(
        prog="beside_torch", description=__doc__, formatter_class=RawDescriptionHelpFormatter
    )
    parser.add_argument("kernel", type=Path, metavar="KERNEL.hip")
    parser.add_argument("--task", required=True, help=f"of {', '.join(OPERATIONS)}")
    parser.add_argument("--blocks", type=whole_from(2), default=20, help="of one call of each")
    return parser


if __name__ == "__main__":
    sys.exit(main())
