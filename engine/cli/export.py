"""A kernel file, or a campaign's best kernel, written as code for other programs."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from engine.cli.evaluate import NoSuchKernel
from engine.store.kept_task import find_task
from engine.store.replay import replay
from engine.store.run_folder import STORE
from evaluators.evaluation import Rejected, Status
from evaluators.export.header import cpp_header, header_name
from evaluators.export.submission import FILE as SUBMISSION_FILE
from evaluators.export.submission import enter, form_of, submission
from evaluators.kernel.seeds import naive_of
from evaluators.kernel.source import KernelSource, kernel_id, parse_kernel
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from evaluators.text_file import read_text

BEST = "best.hip"
SUBMISSION = "submission"


def export_file(arguments: Namespace, stream: IO[str]) -> None:
    """Write the file, and print where it is and how it is used.

    Raises NoSuchKernel (also for one that can't be planned, or a file that can't be written),
    TaskError, StoreError.
    """
    if arguments.task is None and not arguments.file.exists():
        raise NoSuchKernel(
            f"{arguments.file} is not there; name a kernel file, or a campaign's folder"
        )
    path: Path = arguments.file / BEST if arguments.file.is_dir() else arguments.file
    task = load_task(arguments.task or _task_of(path.parent))
    is_submission = arguments.form == SUBMISSION
    backend = "hip" if is_submission else arguments.backend
    try:
        kernel = parse_kernel(_read(path))
        text = submission(kernel, task) if is_submission else cpp_header(kernel, task, backend)
    except Rejected as rejected:
        why = (
            ""
            if rejected.status is Status.UNSUPPORTED
            else "; only a kernel that passes is exported"
        )
        raise NoSuchKernel(f"{path}: {rejected}{why}") from None
    name = SUBMISSION_FILE if is_submission else f"{header_name(kernel, task)}.hpp"
    out: Path = arguments.out or Path(name)
    _write(out, text)
    if arguments.file.is_dir() and kernel.id == kernel_id(naive_of(task, backend)):
        print("note: this is the naive seed: nothing faster was found", file=sys.stderr)
    told = _entered(out, task) if is_submission else _included(out, kernel, task)
    for line in told:
        print(line, file=stream)


def _write(out: Path, text: str) -> None:
    try:
        out.write_text(text)
    except OSError as error:
        raise NoSuchKernel(f"{out} can't be written ({error.strerror}): name another") from None


def _task_of(run_dir: Path) -> str:
    """The task of the campaign whose folder it is. Raises NoSuchKernel where it is none."""
    if not (run_dir / STORE).is_file():
        raise NoSuchKernel(
            "the launcher's arguments are a task's: name the task by --task, or export a "
            "campaign's folder"
        )
    return find_task(replay(run_dir / STORE), run_dir)


def _read(path: Path) -> str:
    try:
        return read_text(path)
    except OSError as error:
        reason = error.strerror
    except UnicodeDecodeError:
        reason = "it is not UTF-8"
    raise NoSuchKernel(
        f"{path}: the kernel file can't be read ({reason}); name a .hip file, or a campaign's "
        "folder that has found a kernel"
    )


def _included(out: Path, kernel: KernelSource, task: Task) -> Iterator[str]:
    """How a header is used."""
    name, options = header_name(kernel, task), kernel.options
    more = "".join(f" {option}" for option in options)
    yield f"wrote {out}: launch() and scratch_bytes() in namespace {name}"
    yield f"in one source file: #define {name.upper()}_IMPLEMENTATION, then #include it; build with"
    yield f"  hipcc -std=c++20 -O3 --offload-arch=gfx942{more}"
    yield "  nvcc -std=c++20 --expt-relaxed-constexpr -O3 -arch=sm_90" + (
        " --use_fast_math" * ("-ffast-math" in options)
    )


def _entered(out: Path, task: Task) -> Iterator[str]:
    """How a judge is given a submission."""
    form = form_of(task)
    yield f"wrote {out}: custom_kernel() for GPU MODE's judge; try it, then enter it, with"
    yield f"  {enter(form, out, 'test')}"
    yield f"  {enter(form, out, 'leaderboard')}"
    yield "we have never entered one: what the judge says of it is not known"
