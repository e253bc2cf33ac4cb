"""What people and other campaigns brought into a campaign, and what became of it."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from engine.store.events import Added, CycleFinished, CycleStarted, Drafted
from engine.store.kinds.steering import Injected
from engine.store.replay import Replay
from evaluators.evaluation import Evaluation
from evaluators.kernel.source import kernel_id

UNDER_WAY = "under way"
LEFT = "not tried yet: it is when the campaign goes on"
INJECTED, CARRIED = "injected", "carried"
"""By a person; from another campaign."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """evaluation: of the kernel that it is, or that a model made of it; None while that is under
    way, and where there will be none. why: then, in a clause."""

    event: Injected
    kernel_id: str = ""
    evaluation: Evaluation | None = None
    why: str = ""

    @property
    def settled(self) -> bool:
        return self.evaluation is not None or self.why not in (UNDER_WAY, LEFT)


def brought_into(whole: Replay) -> Iterator[Brought]:
    """In the order in which it came."""
    for event in whole.injected:
        yield _kernel(whole, event) if event.what == "kernel" else _idea(whole, event)


def counted(whole: Replay) -> str:
    """ "2 injected kernels, 1 injected idea, 8 carried kernels"; "" where nothing was brought."""
    kinds = Counter(f"{INJECTED if one.entry else CARRIED} {one.what}" for one in whole.injected)
    return ", ".join(f"{many} {kind}{'s' * (many > 1)}" for kind, many in kinds.items())


def _kernel(whole: Replay, event: Injected) -> Brought:
    """Its verdict may be older than it is: the campaign had the kernel then."""
    identity = kernel_id(event.text)
    evaluation = whole.scores.evaluations.get(identity)
    why = "" if evaluation else _open(whole)
    return Brought(event=event, kernel_id=identity, evaluation=evaluation, why=why)


def _open(whole: Replay) -> str:
    ended = bool(whole.sessions) and bool(whole.sessions[-1].finished)
    return LEFT if ended else UNDER_WAY


def _idea(whole: Replay, event: Injected) -> Brought:
    """Its cycle's last kernel, which is a repair where the first one failed."""
    own = [one for one, _ in whole.history(event.island)]
    started = (one for one in own if isinstance(one, CycleStarted) and one.idea == event.number)
    cycle = next((one.cycle for one in started), None)
    told = [one for one in own if isinstance(one, Added) and one.cycle == cycle]
    ended = [one for one in own if isinstance(one, CycleFinished) and one.cycle == cycle]
    if cycle is None or not ended:
        return Brought(event=event, why=_open(whole))
    drafts = [one for one in own if isinstance(one, Drafted) and one.cycle == cycle]
    if told and drafts:
        identity = drafts[-1].kernel_id
        evaluation = whole.scores.evaluations[identity]
        return Brought(event=event, kernel_id=identity, evaluation=evaluation)
    if ended[0].duplicates:
        return Brought(event=event, why="the model wrote a kernel that the island knew already")
    declined = "; ".join(ended[0].declined) or "it gave no reason"
    return Brought(event=event, why=f"the model wrote no kernel for it: {declined}")
