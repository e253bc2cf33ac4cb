"""Measures the points of a kernel's space into a T4 table; run again it goes on.

Name one of the catalogue's families (--family) or a file (--kernel). The points come in a random
order, so that a table that is not complete is a fair sample. Needs no Ray.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import yaml

from engine.dispatch.workbench import Broken
from engine.ending import kept_interrupts
from evaluators.device_info import BackendMissing, known_backends
from evaluators.evaluation import Rejected
from evaluators.kernel.grid import Grid
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.task import Task, TaskError
from evaluators.tasks.task_file import load_task
from operators.catalog.families import families
from scripts.lib.arguments import whole_from
from scripts.search.measuring import record
from scripts.search.outputs import output, reason_of
from scripts.search.recording import Recorder, Recording
from scripts.search.table import TIME, TableError

MOST = 1 << 31
"""Values of a kernel's parameters are below it."""


def with_shapes(named: str, shapes: Sequence[Mapping[str, int]], folder: Path) -> Task:
    """The task with these benchmarks in place of its own, in a folder that is made; without any,
    the task itself. Raises TaskError."""
    task = load_task(named)
    if not shapes:
        return task
    for shape in shapes:
        if shape.keys() != set(task.dims):
            raise TableError(f"--shape needs {', '.join(task.dims)}, not {', '.join(shape)}")
    shutil.copytree(task.folder, folder)
    tree = yaml.safe_load((folder / "task.yaml").read_text())
    tree["benchmarks"] = [dict(shape) for shape in shapes]
    (folder / "task.yaml").write_text(yaml.safe_dump(tree, sort_keys=False))
    return load_task(folder)


def with_values(kernel: KernelSource, values: Mapping[str, Sequence[int]]) -> KernelSource:
    """The kernel with a smaller space; a parameter of one value is fixed. Raises TableError."""
    for name in values:
        if name not in kernel.space:
            known = ", ".join(kernel.space)
            raise TableError(f"--values {name}: the space has {known}")
    space = {name: values.get(name, known) for name, known in kernel.space.items()}
    rest = {name: value for name, value in kernel.params.items() if name not in space}
    grid = Grid(space, kernel.constraints, rest)
    if not grid.small:
        raise TableError(f"its space has {grid.size} points; choose fewer with --values")
    if not len(grid.rows):
        raise TableError("no point of that space holds the kernel's constraints")
    return kernel.with_params(grid.params(0)).with_space(space)


def _numbers(text: str) -> tuple[str, tuple[int, ...]]:
    name, _, values = text.partition("=")
    try:
        found = tuple(int(one) for one in values.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"write NAME=1,2,4 and not {text!r}") from None
    if len(set(found)) < len(found):
        raise argparse.ArgumentTypeError(f"{text!r} has a value twice")
    if max(map(abs, found)) >= MOST:
        raise argparse.ArgumentTypeError(f"{text!r}: a parameter's value is below {MOST}")
    return name, found


def _shape(text: str) -> dict[str, int]:
    pairs = [one.partition("=") for one in text.replace(" ", ",").split(",") if one]
    try:
        found = {name: int(value) for name, _, value in pairs}
    except ValueError:
        found = {}
    if not found or len(found) < len(pairs):
        raise argparse.ArgumentTypeError(f"write M=256,N=256, each once, and not {text!r}")
    if min(found.values()) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}: a dimension is 1 or more")
    return found


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not seconds >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds from 0")
    return seconds


def _table(text: str) -> Path:
    if not text.endswith((".T4.json", ".T4.json.gz")):
        raise argparse.ArgumentTypeError(f"{text!r} must end in .T4.json or .T4.json.gz")
    return output(text)


def _kernel(task: Task, family: str, file: Path | None) -> tuple[str, KernelSource]:
    if file is not None:
        try:
            return file.stem, parse_kernel(file.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise TableError(f"{file} can't be read: {reason_of(error)}") from None
        except Rejected as error:
            raise TableError(f"{file}: {error}") from None
    known = families(task).sources
    if family not in known:
        names = ", ".join(known) or "none"
        raise TableError(f"--family {family!r} is none of this task's ({names}); or name --kernel")
    return family, known[family]


def _given(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Ends with 2 where they can't be used together."""
    parser = argparse.ArgumentParser(prog="record_table", description=__doc__)
    parser.add_argument("--task", required=True, help="a shipped task's name, or a folder")
    parser.add_argument("--backend", choices=known_backends(), default="cpu")
    parser.add_argument("--device", type=whole_from(0), default=0)
    parser.add_argument("--family", default="")
    parser.add_argument("--kernel", type=Path)
    parser.add_argument("--shape", type=_shape, action="append", default=[], metavar="M=64,N=64")
    parser.add_argument("--values", type=_numbers, action="append", default=[], metavar="TM=1,2,4")
    cores = max(1, len(os.sched_getaffinity(0)) - 1)
    parser.add_argument("--workers", type=whole_from(1), default=cores)
    parser.add_argument("--seconds", type=_seconds, default=float("inf"))
    parser.add_argument("--seed", type=whole_from(0), default=0)
    parser.add_argument("--out", type=_table, required=True, help="*.T4.json.gz")
    given = parser.parse_args(arguments)
    if given.family and given.kernel:
        parser.error("name --family or --kernel, not both")
    named = [name for name, _ in given.values]
    if twice := [name for name in named if named.count(name) > 1]:
        parser.error(f"--values {twice[0]} is there twice")
    if any(given.shape.count(shape) > 1 for shape in given.shape):
        parser.error("a --shape is there twice")
    return given


def main(arguments: Sequence[str] | None = None) -> int:
    given = _given(arguments)
    try:
        with kept_interrupts(), tempfile.TemporaryDirectory() as folder:
            task = with_shapes(given.task, given.shape, Path(folder) / "task")
            family, kernel = _kernel(task, given.family, given.kernel)
            recording = Recording(
                named=given.task,
                task=task,
                backend=given.backend,
                device=given.device,
                family=family,
                kernel=with_values(kernel, dict(given.values)),
                seed=given.seed,
            )
            recorder = record(recording, given.out, workers=given.workers, seconds=given.seconds)
    except (BackendMissing, Broken, Rejected, TableError, TaskError) as error:
        print(f"record_table: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        print(f"record_table: {where}{reason_of(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            f"record_table: interrupted; {given.out} has what was measured, and the same command "
            "goes on",
            file=sys.stderr,
        )
        return 130
    except MemoryError:
        print(
            "record_table: the memory does not hold it: choose a smaller --shape", file=sys.stderr
        )
        return 1
    except BrokenProcessPool:
        print("record_table: a process was killed: use fewer --workers", file=sys.stderr)
        return 1
    print(json.dumps(_result(recorder, recording, given.out)))
    return 0


def _result(recorder: Recorder, recording: Recording, table: Path) -> dict[str, object]:
    rows = recorder.rows
    return {
        "table": str(table),
        "points": len(recording.kernel.grid.rows),
        "recorded": len(rows),
        "by_status": dict(Counter(row.status.value for row in rows)),
        "naive_us": recorder.naive_us,
        "best_ms": min((row.times_ms[TIME] for row in rows if row.times_ms), default=None),
    }


if __name__ == "__main__":
    sys.exit(main())
