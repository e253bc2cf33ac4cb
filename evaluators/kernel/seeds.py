"""A task's seeds by backend: those that are for it, and the baseline among them."""

from collections.abc import Mapping
from dataclasses import replace

from evaluators.evaluation import Rejected
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task import Task


def seeds_for(task: Task, backend: str) -> Mapping[str, str]:
    """Texts by name, the baseline first: the seed named naive, or else the first by name.

    One that can't be read is for every backend, so that it is told. Raises TaskError where there is
    none.
    """
    taken = {name: text for name, text in task.seeds.items() if _takes(text, backend)}
    if not taken:
        raise TaskError(
            f"{task.folder / 'seeds'}: no seed is for the backend {backend} (see their key "
            "'backends'); add one that is, against which kernels are timed"
        )
    return {name: taken[name] for name in sorted(taken, key=lambda name: (name != "naive", name))}


def naive_of(task: Task, backend: str) -> str:
    """The baseline's text. Raises TaskError."""
    return next(iter(seeds_for(task, backend).values()))


def on_backend(task: Task, backend: str) -> Task:
    """The task with the seeds that are for the backend, so that its naive seed is the baseline, and
    no kernel for others is made for it. Raises TaskError where there is none.
    """
    return replace(task, seeds=dict(seeds_for(task, backend)), backend=backend)


def _takes(text: str, backend: str) -> bool:
    try:
        backends = parse_kernel(text).backends
    except Rejected:
        return True
    return not backends or backend in backends
