"""`python -m evaluators.profile.target FILE --task T --backend B`: what a profiler watches.

It launches one kernel file a few times on one shape, on data of the task, and judges nothing.
"""

import argparse
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from evaluators.checks.span import Part, Span
from evaluators.device import Buffer, Session, backend
from evaluators.device_info import known_backends, target_of
from evaluators.evaluate import compile_kernel
from evaluators.kernel.plan import Plan
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

LAUNCHES = 3
DEADLINE_S = 120.0
ALIGNMENT = 256


def shape_of(task: Task, backend_name: str, label: str = "") -> Workload:
    """The benchmark shape of that label; by default the one with the most bytes.

    Raises ValueError, with the labels that there are.
    """
    shapes = task.workloads("benchmarks", backend_name)
    if not label:
        return max(shapes, key=task.nbytes)
    for workload in shapes:
        if workload.label == label:
            return workload
    known = "; ".join(workload.label for workload in shapes)
    raise ValueError(f"{task.name} has no benchmark shape {label!r}: choose one of {known}")


def launch_file(path: Path, task: Task, backend_name: str, workload: Workload, times: int) -> None:
    """Raises Rejected, BackendMissing."""
    module = backend(backend_name)
    source = path.read_text(encoding="utf-8")
    kernel, compiled = compile_kernel(source, task, module.compiler(), backend_name)
    plan = kernel.plan(task, workload, target_of(backend_name))
    sizes = _sizes(task, workload, plan)
    room = sum(nbytes + ALIGNMENT for nbytes in sizes.values())
    with (
        closing(module.open_device(0)) as device,
        device.open(compiled, memory_bytes=room) as session,
    ):
        buffers = {name: session.alloc(nbytes) for name, nbytes in sizes.items()}
        for attempt in range(times):
            _fill(session, buffers, task, workload)
            if plan.prepare and not attempt:
                session.run(plan, buffers, deadline_s=DEADLINE_S, prepare=True)
            session.run(plan, buffers, deadline_s=DEADLINE_S)


def _sizes(task: Task, workload: Workload, plan: Plan) -> dict[str, int]:
    arguments = task.on(workload).arguments
    return {one.name: one.nbytes(workload.env) for one in arguments} | dict(plan.scratch)


def _fill(session: Session, buffers: Mapping[str, Buffer], task: Task, workload: Workload) -> None:
    inputs = task.inputs(workload, seed=1)
    parts = {a.name: Part.of(a, workload.env) for a in task.on(workload).arguments}
    for name, buffer in buffers.items():
        if name in inputs:
            session.write(buffer, Span(part=parts[name], start=0).laid(inputs[name]))
        else:
            session.fill(buffer, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--task", required=True)
    parser.add_argument("--backend", required=True, choices=known_backends())
    parser.add_argument("--shape", default="", help="a benchmark shape's label")
    parser.add_argument("--launches", type=int, default=LAUNCHES)
    parsed = parser.parse_args()
    task = load_task(parsed.task)
    workload = shape_of(task, parsed.backend, parsed.shape)
    launch_file(parsed.file, task, parsed.backend, workload, parsed.launches)


if __name__ == "__main__":
    main()
