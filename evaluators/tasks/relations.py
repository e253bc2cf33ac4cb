"""What holds between the dims and attributes of all stated shapes, and so of every other one."""

from collections.abc import Mapping, Sequence
from itertools import permutations

from evaluators.tasks.workload import Setting, Workload


def settings_of(stated: Sequence[Workload]) -> list[Setting]:
    """What the workloads set beside their sizes, each combination once."""
    found: list[Setting] = []
    for workload in stated:
        if workload.setting not in found:
            found.append(workload.setting)
    return found


def always(stated: Sequence[Workload], a: str, b: str) -> bool:
    """Whether a, which is not always the same, divides b in every stated shape."""
    values = {workload.dims[a] for workload in stated}
    return len(values) > 1 and all(w.dims[b] % w.dims[a] == 0 for w in stated)


def related(shape: Workload, stated: Sequence[Workload]) -> bool:
    """Whether dims that divide another in all stated shapes, or are at most another, are here; so
    too an integer attribute and a dim."""
    sizes = [_sizes(one) for one in stated]
    here = _sizes(shape)
    for a, b in permutations(here, 2):
        if a not in shape.dims and b not in shape.dims:
            continue
        if all(one[a] > 0 and one[b] % one[a] == 0 for one in sizes) and here[b] % here[a]:
            return False
        if all(one[a] <= one[b] for one in sizes) and here[a] > here[b]:
            return False
    return True


def _sizes(workload: Workload) -> Mapping[str, int]:
    """Dims, and attributes that may be bounded by them: a count of neighbours is one of a row's."""
    attributes = {
        name: value
        for name, value in workload.setting.attributes.items()
        if isinstance(value, int) and not isinstance(value, bool)
    }
    return {**workload.dims, **attributes}
