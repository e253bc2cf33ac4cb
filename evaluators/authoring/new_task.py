"""A new task's folder: the example to write over, or a draft from a program with a kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evaluators.authoring.drafting.draft import draft
from evaluators.authoring.drafting.writing import files
from evaluators.device_info import target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.arguments import SUITES, TaskError
from evaluators.tasks.task_file import load_task
from evaluators.text_file import read_text

EXAMPLE = Path(__file__).parent / "example"
EXAMPLE_FILES = ("task.yaml", "reference.py", "seeds/naive.hip")
DRAFTED = (".hip", ".cu", ".cpp", ".cuh", ".h", ".hpp", ".cc")
MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A folder that was written. understood, says: of a draft, what its file told and what a person
    must say. translated: whether reference.py is written already."""

    folder: Path
    understood: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    translated: bool = True


def write_example(folder: Path) -> Made:
    """A task that evaluate passes at once. Raises TaskError: the folder is there already."""
    _write(folder, {name: (EXAMPLE / name).read_text(encoding="utf-8") for name in EXAMPLE_FILES})
    return Made(folder=folder)


def write_draft(
    folder: Path, file: Path, kernels: Sequence[str] = (), *, masks: bool = False
) -> Made:
    """A task from a .hip or .cu file. kernels: which of it, by default those that belong together.

    Raises TaskError: the folder is there already, the file can't be read, or holds no one problem.
    """
    _refuse_existing(folder)
    made = draft(_program(file), file.name, kernels, masks=masks)
    _write(folder, files(made, folder.name))
    return Made(
        folder=folder,
        understood=tuple(made.understood),
        says=(*made.says, *_troubles(folder)),
        translated=bool(made.body),
    )


def _program(file: Path) -> str:
    if file.suffix not in DRAFTED:
        raise TaskError(f"{file}: a kernel's source is a .hip or .cu file; name one")
    try:
        if file.stat().st_size > MOST_BYTES:
            raise TaskError(f"{file}: more than {MOST_BYTES >> 20} MiB; cut out what matters")
        return read_text(file, "replace").replace("\r\n", "\n")
    except OSError as error:
        raise TaskError(f"{file}: it can't be read ({error.strerror}); name a .hip file") from None


def _troubles(folder: Path) -> list[str]:
    """What would be refused of a draft: told now, and not by the next command."""
    try:
        task = load_task(folder)
        kernel = parse_kernel(task.naive)
        for suite in SUITES:
            for key, shapes in task.suites[suite].items():
                for workload in shapes:
                    kernel.plan(task, workload, target_of("hip" if key == "default" else key))
    except TaskError as error:
        return [f"{error}"]
    except Rejected as rejected:
        line = f", line {rejected.line}" if rejected.line else ""
        return [f"{folder / 'seeds' / 'naive.hip'}{line}: {rejected.reason}"]
    return []


def _refuse_existing(folder: Path) -> None:
    if folder.exists():
        raise TaskError(f"{folder}: is there already; name another, or remove it first")


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    _refuse_existing(folder)
    try:
        for name, text in texts.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise TaskError(f"{folder}: it can't be written ({error.strerror}); name another") from None
