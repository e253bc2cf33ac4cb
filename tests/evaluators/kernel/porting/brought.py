"""Kernels as people bring them, and the one edit that a processor of 64 lanes asks of some."""

import re
import shutil
from pathlib import Path

from evaluators.authoring.drafting.device_code import without_masks
from evaluators.kernel.source import KernelSource, parse_kernel
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

KERNELS = Path(__file__).parents[3] / "kernels"
BROUGHT = sorted(file.parent for file in KERNELS.glob("brought/*/task.yaml"))
EXAMPLES = sorted(file.parent for file in KERNELS.glob("examples/*/task.yaml"))
SEED = Path("seeds", "naive.hip")

_VOTE = re.compile(r"\b__(ballot|any|all)_sync\(\w+, ")


def maskless(folder: Path, copies: Path) -> Path:
    """The task's folder, of which a copy is made where its kernel has masks of 32 bits: shuffles
    without them as new-task --masks writes them, votes as they are right in blocks of 32."""
    text = (folder / SEED).read_text()
    edited = _VOTE.sub(r"__\1(", without_masks(text)[0])
    if edited == text:
        return folder
    copy = Path(shutil.copytree(folder, copies / folder.name))
    (copy / SEED).write_text(edited)
    return copy


def brought(folder: Path) -> tuple[Task, KernelSource]:
    return load_task(folder), parse_kernel((folder / SEED).read_text())
