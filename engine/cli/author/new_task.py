"""A new task's folder, and what a person does next."""

import shlex
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from evaluators.authoring.new_task import Made, write_draft, write_example


def new_task(arguments: Namespace, stream: IO[str]) -> None:
    """Write the folder and print what was understood, what is left, and the next commands.

    Raises TaskError.
    """
    folder = arguments.folder / arguments.name
    if arguments.from_kernel is None:
        made = write_example(folder)
    else:
        made = write_draft(folder, arguments.from_kernel, arguments.kernel, masks=arguments.masks)
    for line in _lines(made, arguments.from_kernel):
        print(line, file=stream)


def _lines(made: Made, source: Path | None) -> Iterator[str]:
    yield f"{made.folder}: task.yaml, reference.py, seeds/naive.hip"
    if source is None:
        yield "  a task that works, y = gelu(x + bias): write yours over it; its comments tell how"
        yield from _next(made)
        return
    yield f"understood of {source}:"
    yield from (f"  {line}" for line in made.understood)
    yield "you must say:"
    if not made.translated:
        yield "  what is right, in reference.py: it is drafted, and raises until it is written"
    else:
        yield "  whether reference.py is right: it was translated from the kernel, errors and all"
    yield from (f"  {line}" for line in made.says)
    yield "  what it computes, in the description of task.yaml"
    yield "every place is marked '# say:' in the files, where one is; take the marks out"
    yield from _next(made)


def _next(made: Made) -> Iterator[str]:
    folder = shlex.quote(str(made.folder))
    seed = shlex.quote(str(made.folder / "seeds" / "naive.hip"))
    yield "next:"
    yield f"  kernel-scientist evaluate {seed} --task {folder} --backend cpu"
    yield f"  kernel-scientist check-task {folder}"
    yield (
        f"  kernel-scientist run configs/quickstart.yaml task={folder} "
        f"name={shlex.quote(made.folder.name)}"
    )
