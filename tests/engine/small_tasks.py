"""Shipped tasks on small shapes: a campaign of them takes seconds."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from evaluators.tasks.task_file import load_task

Shapes = Sequence[Mapping[str, int]]

SHAPES: Mapping[str, Mapping[str, Shapes]] = {
    "transpose": {
        "tests": [{"R": 33, "C": 65}],
        "benchmarks": [{"R": 64, "C": 128}, {"R": 200, "C": 75}],
        "held_out": [{"R": 96, "C": 31}],
    },
    "sgemm": {
        "tests": [{"M": 33, "N": 17, "K": 20}],
        "benchmarks": [{"M": 64, "N": 64, "K": 64}],
        "held_out": [{"M": 48, "N": 80, "K": 32}],
    },
}


def small(name: str, folder: Path) -> Path:
    """The task of that name in the folder, which is made."""
    shutil.copytree(load_task(name).folder, folder)
    text = (folder / "task.yaml").read_text()
    suites = {suite: [dict(shape) for shape in shapes] for suite, shapes in SHAPES[name].items()}
    (folder / "task.yaml").write_text(text[: text.index("tests:")] + yaml.safe_dump(suites))
    return folder
