"""Initial design: a first generation that is spread over all families and their spaces."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.kernel.grid import Rows
from evaluators.kernel.source import KernelSource
from evaluators.tasks.task import Task
from operators.catalog import mfma_roofline
from operators.catalog.brought import starts, trapped_families, without_trapped
from operators.catalog.families import Params
from operators.catalog.search_space import search_space
from operators.catalog.structure import Techniques
from operators.finding import Finding
from operators.individual import Candidate, Experiment
from operators.operator import Declined, Draft
from operators.tuning.space import Floats, Space, space_of

CANDIDATES = 32
"""Points at random that each further one is chosen from."""

REPORT = "initial design: "


def family_of(report: str) -> str:
    """Of the kernel that a point of the design was reported with; "" of any other."""
    return report.removeprefix(REPORT).partition(",")[0] if report.startswith(REPORT) else ""


class InitialDesign:
    """One island's part of a design that all islands share: they begin in different places.

    Families take turns. Within one, each point is the furthest of some random ones from those
    before: best candidate sampling (Mitchell, SIGGRAPH 1991).
    """

    def __init__(
        self,
        task: Task,
        seed: int,
        *,
        per_family: int,
        most: int,
        place: int,
        islands: int,
        brought: Sequence[Finding] = (),
        techniques: Techniques = "all",
        device: DeviceInfo | None = None,
    ) -> None:
        """device: where a roofline of it says which points of a family come first. most: points
        over all islands; place: the island's among those that share the design; brought: rules of
        other campaigns, whose points come first, and whose trapped families do not come."""
        sources = search_space(task, techniques).sources
        self._first = starts(brought, sources)[:most]
        names = without_trapped(list(sources), trapped_families(brought))
        self._all = list(sources)
        self._sources: Mapping[str, KernelSource] = {name: sources[name] for name in names}
        self._known = sources
        self._seed = seed
        self._task, self._device = task, device
        spread = min(most - len(self._first), per_family * len(self._sources))
        self._numbers = range(place, len(self._first) + spread, islands)
        self._of_each = math.ceil(spread / max(1, len(self._sources)))
        self._points: dict[str, list[dict[str, int]]] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def draft(self, number: int) -> Draft:
        """The island's own number-th, from 0. Raises Declined where there is none."""
        if number >= len(self):
            raise Declined("the initial design is at its end")
        name, params = self._point(self._numbers[number])
        kernel = self._known[name].with_params(params)
        values = ", ".join(f"{key} = {value}" for key, value in kernel.params.items())
        return Draft(
            candidate=Candidate.from_source(kernel.text),
            report=f"{REPORT}{name}, {values}",
        )

    def experiment(self, number: int) -> Experiment | None:
        """A point of a family is no change of the seed."""
        return None

    def _point(self, number: int) -> tuple[str, Params]:
        """Of all islands' design. Raises Declined."""
        if number < len(self._first):
            return self._first[number]
        turn, family = divmod(number - len(self._first), len(self._sources))
        name = list(self._sources)[family]
        points = self._of(name)
        if turn >= len(points):
            raise Declined(f"{name} has no {turn + 1} points")
        return name, points[turn]

    def _of(self, name: str) -> list[dict[str, int]]:
        if name not in self._points:
            rng = np.random.default_rng((self._seed, self._all.index(name)))
            space = space_of(self._sources[name])
            foreseen = self._foreseen(name)
            points = [space.params(row) for row in spread(space, self._of_each, rng)]
            self._points[name] = [*foreseen, *(one for one in points if one not in foreseen)]
        return self._points[name][: self._of_each]

    def _foreseen(self, name: str) -> list[dict[str, int]]:
        """Points of a family that a roofline finds fastest; none where there is none."""
        if name != mfma_roofline.FAMILY or self._device is None:
            return []
        if not mfma_roofline.applies(self._device):
            return []
        stated = self._task.workloads("benchmarks", self._device.backend)
        shapes = [mfma_roofline.sizes_of(self._task, one) for one in stated]
        found = mfma_roofline.starts(self._sources[name], shapes, self._device, self._of_each)
        return [dict(one) for one in found]


def spread(space: Space, count: int, rng: np.random.Generator) -> Rows:
    """So many feasible points far from each other; fewer where there are no more."""
    rows = space.draw(rng, count * CANDIDATES)
    features = space.features(rows)
    nearest = np.full(len(rows), math.inf)
    chosen: list[int] = []
    for turn in range(min(count, len(rows))):
        offered = np.arange(turn, len(rows), count)  # each time others
        offered = offered[nearest[offered] > 0]
        if not len(offered):
            continue
        chosen.append(int(offered[np.argmax(nearest[offered])]))
        nearest = np.minimum(nearest, _distances(features, chosen[-1]))
    return rows[chosen]


def _distances(features: Floats, place: int) -> Floats:
    return np.asarray(np.abs(features - features[place]).sum(axis=1))
