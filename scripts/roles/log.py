"""A recorded campaign as its islands saw it, cycle by cycle, by the code that resumes it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from engine.config import CampaignConfig, parse_config
from engine.islands.memory import Memory
from engine.store.events import Added, CycleStarted, Drafted, Migrated, Selected
from engine.store.kinds.profiles import Profiled
from engine.store.kinds.revisions import Revised
from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE
from engine.store.store import read_events
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.measuring.gain import gain, spread_on
from operators.individual import Individual
from operators.operator import Selection
from scripts.roles.situations import Ratio, SituationError

Place = tuple[int, int]
"""Island and cycle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """An island as one of its cycles began. tuned, profiles: see operators.operator.Context."""

    island: int
    cycle: int
    tournament: tuple[Individual, ...]
    known: Mapping[str, Individual]
    tuned: Mapping[str, Individual]
    profiles: Mapping[str, tuple[str, ...]]


class Log:
    """The whole store of a campaign. Raises StoreError, ConfigError, SituationError."""

    def __init__(self, run_dir: Path) -> None:
        store = run_dir / STORE if run_dir.is_dir() else run_dir
        self.whole: Replay = replay(store)
        self.config: CampaignConfig = parse_config(
            dict(self.whole.campaign.config), where=str(store)
        )
        told = self.whole.sessions[-1].started.info if self.whole.sessions else None
        if told is None:
            raise SituationError(
                f"{store} does not describe its device, as it was written by an early version or "
                "ended before it began; record a campaign anew"
            )
        self.device: DeviceInfo = told
        self._numbers: dict[tuple[str, str], int] = {}  # of events in the whole log
        self.selections: dict[Place, Selection] = {}
        for stored in read_events(store):
            event = stored.event
            self._numbers[event.kind, event.key] = stored.seq
            if isinstance(event, Selected):
                self.selections[event.island, event.cycle] = event.selection

    @cached_property
    def moments(self) -> dict[Place, Moment]:
        """Every cycle that chose among kernels, in the order of the log."""
        found = [one for island in range(self.config.islands.count) for one in self._of(island)]
        found.sort(key=lambda one: self._began((one.island, one.cycle)))
        return {(one.island, one.cycle): one for one in found}

    def _of(self, island: int) -> Iterator[Moment]:
        islands, mix = self.config.islands, self.config.operators_of(island)
        memory = Memory(islands.capacity, mix)
        for event, individuals in self.whole.history(island):
            match event:
                case Added() | Migrated():
                    memory.take_in(individuals)
                case Revised():
                    memory.revise(event.number, individuals[0].evaluation)
                case Profiled():
                    memory.profiles[event.kernel_id] = event.advice
                case CycleStarted():
                    memory.hear(individuals)
                    memory.take_heard()
                    if event.restarted and mix.evolves:
                        memory.restart()
                    tournament = memory.members(event.tournament)
                    yield Moment(
                        island=island,
                        cycle=event.cycle,
                        tournament=tournament,
                        known=memory.shown(tournament),
                        tuned=dict(memory.tuned),
                        profiles=dict(memory.profiles),
                    )
                case _:
                    pass  # nothing that an island knows by

    def _began(self, place: Place) -> int:
        island, cycle = place
        return self._numbers[CycleStarted.kind, f"i{island}/c{cycle}"]

    def drafts(self) -> Iterator[tuple[Drafted, Moment, Evaluation]]:
        """Kernels of cycles that were judged, each once, with how their island was then."""
        for drafted in self.whole.first_drafts.values():
            moment = self.moments.get((drafted.island, drafted.cycle))
            if moment is not None and drafted.kernel_id in self.whole.scores.evaluations:
                yield drafted, moment, self.whole.scores.first(drafted.kernel_id)

    def children(self, moment: Moment) -> Mapping[str, list[Evaluation]]:
        """By Base: what passed of the kernels that were drafted from it after a cycle began."""
        began = self._began((moment.island, moment.cycle))
        found: dict[str, list[Evaluation]] = {}
        for drafted in self.whole.first_drafts.values():
            verdict = self.whole.scores.evaluations.get(drafted.kernel_id)
            later = self._numbers[Drafted.kind, drafted.key] > began
            if drafted.parents and later and verdict is not None and verdict.passed:
                found.setdefault(drafted.parents[0], []).append(verdict)
        return found

    def gain(self, kernel: Evaluation, other: Evaluation) -> Ratio | None:
        """As the campaign itself reckons it; None where it can't, or they are one kernel."""
        return gain(kernel, other, spread_on(self.device))
