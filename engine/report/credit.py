"""What credit went by: of each arm how often it was asked, and what it gained for what it cost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from matplotlib.figure import Figure

from engine.credit.credit import worth
from engine.report.plots import SERIES, Plot, counting_axis, plot
from engine.store.events import CycleFinished, CycleStarted
from engine.store.kinds.credit import Earned
from engine.store.replay import Replay

THIRDS = 3
MOST_LINES = 8
"""Arms in the plot: further colours look like these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """shares: its mean chance in each third of the cycles that chose. kernels: it was asked for;
    gained: the share of the time saved for sure, over all of them; per_kernel, per_minute,
    per_dollar: the same for what was spent, None: nothing was."""

    choice: str
    name: str
    shares: tuple[float, ...]
    kernels: int
    gained: float
    per_minute: float | None
    per_dollar: float | None

    @property
    def per_kernel(self) -> float | None:
        return self.gained / self.kernels if self.kernels else None


@dataclass(slots=True)
class _Sums:
    chances: list[float] = field(default_factory=list)
    kernels: int = 0
    gained: float = 0.0
    seconds: float = 0.0
    dollars: float = 0.0

    def add(self, one: Earned, *, over_best: bool) -> None:
        self.kernels += bool(one.origin)
        self.gained += worth(one.over_best if over_best else one.gain, one.deviation)
        self.seconds += one.seconds
        self.dollars += one.dollars

    def arm(self, choice: str, name: str) -> Arm:
        return Arm(
            choice=choice,
            name=name,
            shares=tuple(_thirds(self.chances)),
            kernels=self.kernels,
            gained=self.gained,
            per_minute=60 * self.gained / self.seconds if self.seconds else None,
            per_dollar=self.gained / self.dollars if self.dollars else None,
        )


def credit_of(replay: Replay) -> tuple[Arm, ...]:
    """Over all islands; () where credit decided nothing."""
    sums: dict[tuple[str, str], _Sums] = {}
    for index in replay.islands:
        started: dict[int, CycleStarted] = {}
        for event, _ in replay.history(index):
            if isinstance(event, CycleStarted) and event.shares:
                started[event.cycle] = event
                for choice, arm, chance in _chances(event):
                    sums.setdefault((choice, arm), _Sums()).chances.append(chance)
            elif isinstance(event, CycleFinished) and event.cycle in started:
                for choice, arm, one in _earned(started.pop(event.cycle), event):
                    over_best = choice == "operator"
                    sums.setdefault((choice, arm), _Sums()).add(one, over_best=over_best)
    return tuple(found.arm(*key) for key, found in sorted(sums.items()))


def credit_plot(replay: Replay) -> Plot | None:
    """Each operator's chance, cycle by cycle in the order in which they began, over all islands."""
    events = [event.shares["operator"] for event in replay.cycles if "operator" in event.shares]
    if len(events) < 2:
        return None
    names = list(dict.fromkeys(name for shares in events for name in shares))[:MOST_LINES]

    def draw(figure: Figure) -> None:
        panel = figure.subplots()
        for name, colour in zip(names, SERIES, strict=False):
            values = [100 * shares.get(name, 0.0) for shares in events]
            panel.plot(range(1, 1 + len(values)), values, color=colour, linewidth=1.2, label=name)
        counting_axis(panel)
        panel.set_xlabel("cycles, in the order in which they began")
        panel.set_ylabel("chance in percent")
        panel.legend(loc="lower right", ncols=4, bbox_to_anchor=(1.0, 1.0))

    return plot("credit", "The chance of each operator.", draw, width=8.4, height=2.8)


def _chances(event: CycleStarted) -> Iterator[tuple[str, str, float]]:
    for choice, arms in event.shares.items():
        for arm, chance in arms.items():
            yield choice, arm, chance


def _earned(started: CycleStarted, finished: CycleFinished) -> Iterator[tuple[str, str, Earned]]:
    """Choice, arm and what it earned: a kernel counts for who wrote it, and its cycle's arms."""
    for one in finished.earned:
        for choice in started.shares:
            if choice in started.drawn:
                yield choice, finished.asked.get(choice, started.drawn[choice]), one
            elif one.model and one.role in choice.split(" and "):
                yield choice, one.model, one


def _thirds(chances: Iterable[float]) -> Iterator[float]:
    values = list(chances)
    for third in range(THIRDS):
        part = values[third * len(values) // THIRDS : (third + 1) * len(values) // THIRDS]
        if part:
            yield sum(part) / len(part)
