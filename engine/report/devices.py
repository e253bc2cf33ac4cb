"""What devices worked on, and what they waited for, over all sessions."""

from collections import Counter
from dataclasses import dataclass

from engine.history.history import History


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the devices' time in searches. seconds: over all devices; tone: its colour."""

    what: str
    busy: bool
    seconds: float
    share: float
    tone: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceUse:
    """parts: work first, the longest first. untold: numbers of sessions that told nothing;
    cut_short: of those that were killed, so that their last half minute is missing."""

    parts: tuple[Part, ...]
    seconds: float
    untold: tuple[int, ...]
    cut_short: tuple[int, ...]

    @property
    def busy_share(self) -> float:
        return sum(part.share for part in self.parts if part.busy)


def device_use(history: History) -> DeviceUse:
    busy: Counter[str] = Counter()
    idle: Counter[str] = Counter()
    for watched in history.devices.values():
        busy.update(watched.busy_s)
        idle.update(watched.idle_s)
    seconds = busy.total() + idle.total()
    parts = (*_parts(busy, True, seconds), *_parts(idle, False, seconds))
    told = history.devices.keys()
    searched = [one for one in history.replay.sessions if one.search_began_at is not None]
    untold = [one.started.number for one in searched if one.started.number not in told]
    cut_short = [
        one.started.number
        for one in searched
        if one.finished is None and one.started.number in told
    ]
    return DeviceUse(parts=parts, seconds=seconds, untold=tuple(untold), cut_short=tuple(cut_short))


def _parts(spent: Counter[str], busy: bool, seconds: float) -> list[Part]:
    ordered = sorted(spent.items(), key=lambda one: (-one[1], one[0]))
    return [
        Part(what=what, busy=busy, seconds=amount, share=amount / seconds, tone=tone % 5)
        for tone, (what, amount) in enumerate(ordered)
        if amount > 0
    ]
