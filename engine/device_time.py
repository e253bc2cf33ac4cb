"""What devices do in a search, and what they wait for where they do nothing."""

import time
from collections import defaultdict
from collections.abc import Callable

from engine.snapshot import DispatcherState
from engine.store.kinds.sessions import DevicesWatched

TELL_EVERY_S = 30.0
"""A killed campaign's log lacks so much of it."""

BETWEEN = "between one kernel and the next"
"""Where no device was ever seen idle."""

PAUSED = "paused by a person"


class DeviceTime:
    """Looks at the dispatcher several times a second; the store is told now and then.

    Work is counted by the dispatcher. The rest of the time is idle, and is shared out over what
    was seen to be waited for: the compiler, models, or islands that asked for nothing.
    """

    def __init__(
        self,
        session: int,
        before: DispatcherState,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """From now on the search runs. session: its number; before: the state until now."""
        self._session, self._clock = session, clock
        self._before, self._offered_s = before.busy_s, before.offered_s
        self._looked = self._told = clock()
        self._seen: defaultdict[str, float] = defaultdict(float)  # idle seconds, by the reason
        self._count = 0

    def look(self, state: DispatcherState, *, models_asked: bool, paused: bool = False) -> None:
        """models_asked: whether calls of models are in flight; paused: by a person."""
        now = self._clock()
        seconds, self._looked = now - self._looked, now
        if state.idle_devices:
            reason = PAUSED if paused else _reason(state, models_asked)
            self._seen[reason] += state.idle_devices * seconds
        if state.quarantined:
            self._seen["left alone after faults"] += state.quarantined * seconds

    @property
    def due(self) -> bool:
        """Whether the store is to be told again."""
        return self._clock() - self._told >= TELL_EVERY_S

    def tell(self, state: DispatcherState) -> DevicesWatched:
        """Everything so far, as an event."""
        self._told = self._clock()
        elapsed_s = state.offered_s - self._offered_s
        busy_s = {what: spent - self._before.get(what, 0.0) for what, spent in state.busy_s.items()}
        idle_s = max(0.0, elapsed_s - sum(busy_s.values()))
        seen_s = sum(self._seen.values())
        seen = {reason: idle_s * part / seen_s for reason, part in self._seen.items() if seen_s}
        told = DevicesWatched(
            number=self._session,
            count=self._count,
            busy_s={what: round(spent, 3) for what, spent in busy_s.items() if spent > 0},
            idle_s={why: round(spent, 3) for why, spent in (seen or {BETWEEN: idle_s}).items()},
        )
        self._count += 1
        return told


def _reason(state: DispatcherState, models_asked: bool) -> str:
    if state.compiling:
        return "waiting for the compiler"
    if models_asked:
        return "waiting for models"
    return "waiting for islands to ask"
