"""Kernels as people bring them, and the one edit that a processor of 64 lanes asks of some."""

import re
import shutil
from pathlib import Path

from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

KERNELS = Path(__file__).parents[3] / "kernels"
BROUGHT = sorted(file.parent for file in KERNELS.glob("brought/*/task.yaml"))
EXAMPLES = sorted(file.parent for file in KERNELS.glob("examples/*/task.yaml"))
SEED = Path("seeds", "naive.hip")

_MASKED = re.compile(r"\b__(?P<name>shfl\w*|ballot|any|all)_sync\(\s*\w+\s*,\s*")
"""An operation with a mask that is a number or a name."""


def maskless(text: str) -> str:
    """Without the masks of 32 lanes: __shfl_down_sync(0xffffffff, v, d) is __shfl_down(v, d, 32).

    Where a mask is wider the form is right too, if a wavefront's half is what was meant.
    """
    found = _MASKED.search(text)
    if found is None:
        return text
    rest = text[found.end() :]
    arguments = _arguments(rest)
    length = sum(map(len, arguments)) + len(arguments)  # with commas, and the closing parenthesis
    if found["name"].startswith("shfl") and len(arguments) == 2:
        arguments.append(" 32")
    whole = f"__{found['name']}({','.join(arguments)})"
    return text[: found.start()] + maskless(whole + rest[length:])


def _arguments(text: str) -> list[str]:
    """Of a call, from behind its opening parenthesis."""
    found, depth = [""], 0
    for letter in text:
        depth += letter in "(["
        depth -= letter in ")]"
        if depth < 0:
            break
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def without_masks(folder: Path, copies: Path) -> Path:
    """The task's folder, of which a copy is made where its kernel has such a mask."""
    text = (folder / SEED).read_text()
    edited = maskless(text)
    if edited == text:
        return folder
    copy = Path(shutil.copytree(folder, copies / folder.name))
    (copy / SEED).write_text(edited)
    return copy


def brought(folder: Path) -> tuple[Task, KernelSource]:
    return load_task(folder), parse_kernel((folder / SEED).read_text())
