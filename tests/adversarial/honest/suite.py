"""The honest suite: right kernels in many people's styles and precisions, for every shipped task.

Each is right on every shape, within float32's rounding, free of races and in bounds, with
wavefronts of 32 and of 64 lanes. Whoever mends a check against cheats must leave them all passing.
"""

from collections.abc import Mapping
from pathlib import Path

import pytest

KERNELS = {
    f"{file.parent.name}/{file.stem}": file
    for file in sorted(Path(__file__).parent.glob("*/*.hip"))
}
"""By task and name."""

UNSUPPORTED_ON_CPU: Mapping[str, str] = {
    "transpose/vector_extension": "ext_vector_type",  # clang's; g++ does not know it
}
"""May be UNSUPPORTED there, told with its line and this word; nothing else but PASSED."""

REFUSED: Mapping[str, Mapping[str, str]] = {
    "cpu": {},
    "cpu-fibers": {},
    "hip": {},
    "cuda": {
        "transpose/vector_extension": "UNSUPPORTED: NVRTC knows no ext_vector_type",
    },
}
"""By backend or oracle, right kernels refused or misjudged today, and how: to be emptied."""


def task_of(name: str) -> str:
    return KERNELS[name].parent.name


def kernels(where: str, *, every: int = 1) -> list[object]:
    """Every kernel's name as a parameter; those between every so many run in the soak only."""
    found: list[object] = []
    for i, name in enumerate(KERNELS):
        marks: list[pytest.MarkDecorator] = []
        if reason := REFUSED[where].get(name):
            marks.append(pytest.mark.xfail(strict=True, raises=AssertionError, reason=reason))
        elif i % every:
            marks.append(pytest.mark.soak)
        found.append(pytest.param(name, marks=marks, id=name))
    return found
