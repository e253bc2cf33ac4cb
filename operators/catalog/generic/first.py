"""First edits: a first generation of kernels that are each one edit away from the naive seed."""

from collections.abc import Sequence
from itertools import zip_longest

from evaluators.device_info import DeviceInfo
from evaluators.tasks.task import Task
from operators.catalog.generic.edit import Edit, GenericTechnique
from operators.catalog.generic.proposals import draft_of, experiment_of
from operators.catalog.generic.techniques import GENERIC, edits
from operators.individual import Experiment
from operators.operator import Declined, Draft

First = tuple[GenericTechnique, Edit]


class FirstEdits:
    """One island's part of those that all islands share: techniques take turns, those of which
    most is expected first."""

    def __init__(
        self, task: Task, device: DeviceInfo, seed: str, *, most: int, place: int, islands: int
    ) -> None:
        """seed: the baseline's text; most: over all islands; place: the island's among them."""
        on_cpu = not device.judges_on_device
        self._edits: Sequence[First] = _in_turns(task, seed, on_cpu)[:most][place::islands]

    def __len__(self) -> int:
        return len(self._edits)

    def draft(self, number: int) -> Draft:
        """The island's own number-th, from 0. Raises Declined where there is none."""
        return draft_of(*self._at(number))

    def experiment(self, number: int) -> Experiment | None:
        """What was changed of the seed; None where there is no such edit."""
        if number >= len(self):
            return None
        technique, edit = self._at(number)
        expected = technique.cpu or technique.gpu or (0.0, 0.0)
        return experiment_of(technique, edit, expected)

    def _at(self, number: int) -> First:
        if number >= len(self):
            raise Declined("every first edit was tried")
        return self._edits[number]


def _in_turns(task: Task, seed: str, on_cpu: bool) -> list[First]:
    known = []
    for technique in GENERIC:
        expected = technique.cpu if on_cpu else technique.gpu
        if expected is not None:
            known.append((sum(expected), technique))
    known.sort(key=lambda one: -one[0])
    rows = [[(one, edit) for edit in edits(one, seed, task)] for _, one in known]
    return [one for turn in zip_longest(*rows) for one in turn if one is not None]
