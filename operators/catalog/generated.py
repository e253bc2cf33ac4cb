"""Families made for a task: kernels written from what its reference computes."""

from collections.abc import Callable, Mapping
from typing import Any

from evaluators.tasks.task import Task
from operators.catalog.formula.code import Unwritable
from operators.catalog.formula.permutes import permute_kernel
from operators.catalog.formula.products import product_kernel
from operators.catalog.formula.row_kernel import NEUTRAL
from operators.catalog.formula.rows import element_kernel, row_kernel
from operators.catalog.formula.scans import scan_kernel
from operators.catalog.formula.trace import Formula, formula

WRITERS: Mapping[str, tuple[tuple[str, ...], Callable[[Task, Formula], Any]]] = {
    # by family: the kind of problem that it is written for, further kinds that it serves beside
    # their own families, and what its template is given
    "product_tile": (("product",), product_kernel),
    "product_lds": (("product",), product_kernel),
    "scan": (("scan",), scan_kernel),
    "rows": (("rows",), row_kernel),
    "permute": (("permute",), permute_kernel),
    "elements": (("elements", "permute"), element_kernel),
}


def written_for(task: Task) -> tuple[str | None, dict[str, tuple[str, dict[str, Any]]]]:
    """The kind of problem, and by family a template and what it is given.

    None and nothing where the reference can't be read, or is of no kind that is known.
    """
    found = formula(task)
    if found is None:
        return None, {}
    kind = None
    made: dict[str, tuple[str, dict[str, Any]]] = {}
    for family, (kinds, write) in WRITERS.items():
        if kind not in (None, *kinds):
            continue
        try:
            given = write(task, found)
        except (Unwritable, RecursionError):
            continue
        kind = kind or kinds[0]
        made[family] = f"formula_{family}", {"k": given, "neutral": NEUTRAL}
    return kind, made
