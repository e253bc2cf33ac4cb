"""Many alike cases: a part of them in every run, the others in the soak."""

from collections.abc import Iterable
from typing import Any

import pytest


def one_in(count: int, cases: Iterable[Any]) -> list[Any]:
    """Of so many cases one, the first, stays in every run. A tuple holds several arguments."""
    return [case if i % count == 0 else soaked(case) for i, case in enumerate(cases)]


def soaked(case: Any) -> Any:
    """A case for pytest.mark.parametrize that only the soak tries."""
    if hasattr(case, "marks"):  # pytest.param()
        return pytest.param(*case.values, id=case.id, marks=[*case.marks, pytest.mark.soak])
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.soak)
