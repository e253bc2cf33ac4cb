"""What a task's shapes need of a device's memory, and references of its time: known before."""

from dataclasses import dataclass

from evaluators.checks.gpu_outputs import reference_bytes
from evaluators.device_info import BackendMissing, DeviceInfo, target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.seeds import naive_of
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.arguments import SUITES, Workload
from evaluators.tasks.task import Task

GIB = float(1 << 30)
LANES = 2
"""A kernel and its rival share arguments in a race, and have scratch of their own."""
DRAWS = 3
"""So many draws' references lie beside each other."""
TOLD_BYTES = 1 << 30
"""What is less is not worth a word."""
REFERENCE_SHARE = 0.15
"""Of a GPU's peak in double precision: about what a plain reference.hip reaches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """nbytes: at least, for a race over all benchmark shapes and the references of the largest
    shape, whose label, bytes of arguments, of references and of the naive seed's scratch, and
    flops the others are."""

    nbytes: int
    label: str
    arguments: int
    references: int
    scratch: int
    flops: float

    def told(self, info: DeviceInfo | None = None) -> str:
        """ "at least 17 GiB of the device's 79 GiB; 1.5 GiB of arguments, ... on M=...":"""
        has = info.memory_bytes if info is not None else 0
        of = f" of the device's {has / GIB:.0f} GiB" if has else ""
        text = (
            f"at least {self.nbytes / GIB:.1f} GiB{of}; the largest shape, {self.label}, has "
            f"{self.arguments / GIB:.2g} GiB of arguments, {self.references / GIB:.2g} GiB of "
            f"references a draw, {self.scratch / GIB:.2g} GiB of the naive seed's scratch"
        )
        peak = info.peak_flops.get("float64", 0.0) if info and info.judges_on_device else 0.0
        if not peak or not self.flops:
            return text
        return f"{text}, and a reference takes about {self.flops / (REFERENCE_SHARE * peak):.1g} s"


def memory_need(task: Task, backend: str) -> Need | None:
    """Of the shapes that a backend's tests, benchmarks and held-out shapes state; None without."""
    shapes = [one for suite in SUITES for one in task.workloads(suite, backend)]
    if not shapes:
        return None
    each = {one.label: _bytes(task, one, backend) for one in shapes}
    raced = sum(
        arguments + LANES * scratch
        for arguments, _, scratch in (
            each[one.label] for one in task.workloads("benchmarks", backend)
        )
    )
    largest = max(shapes, key=lambda one: sum(each[one.label]))
    arguments, references, scratch = each[largest.label]
    return Need(
        nbytes=max(raced, arguments + LANES * scratch) + DRAWS * references,
        label=largest.label,
        arguments=arguments,
        references=references,
        scratch=scratch,
        flops=float(task.flops.evaluate(largest.env)) if task.flops else 0.0,
    )


def memory_text(task: Task, backend: str, info: DeviceInfo | None = None) -> str:
    """ "memory: at least 17 GiB ..."; "" where it is little."""
    need = memory_need(task, backend)
    if need is None or need.nbytes < TOLD_BYTES:
        return ""
    return f"memory: {need.told(info)}"


def require_memory(task: Task, info: DeviceInfo) -> None:
    """Raises BackendMissing: shapes do not fit. An emulated device leaves large ones out."""
    if not info.timed or not info.memory_bytes:
        return
    need = memory_need(task, info.backend)
    if need is not None and need.nbytes > info.memory_bytes:
        raise BackendMissing(
            f"the task {task.name} needs {need.told(info)}: take a device with more memory, or a "
            "task folder with smaller shapes"
        )


def _bytes(task: Task, workload: Workload, backend: str) -> tuple[int, int, int]:
    """Arguments, references of one draw, the naive seed's scratch."""
    try:
        plan = parse_kernel(naive_of(task, backend)).plan(task, workload, target_of(backend))
        scratch = sum(plan.scratch.values())
    except Rejected:  # told where the seed is looked at
        scratch = 0
    return task.nbytes(workload), sum(reference_bytes(task, workload).values()), scratch
