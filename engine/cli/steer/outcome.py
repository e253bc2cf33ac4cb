"""What became of something that a person put into a campaign's inbox: its store is looked at."""

import time
from pathlib import Path

from engine.history.campaigns import state_of
from engine.store.events import CycleFinished, CycleStarted, Drafted
from engine.store.replay import Replay, replay
from engine.store.steering import Injected
from evaluators.evaluation import Evaluation
from evaluators.kernel.source import kernel_id

LOOK_EVERY_S = 1.0


def await_outcome(store: Path, entry: str) -> tuple[Evaluation | None, str]:
    """The verdict on what it became; else why there is none, in a sentence.

    entry: its name in the inbox. Raises StoreError.
    """
    while True:
        whole = replay(store)
        runs = state_of(whole, store) in ("starting", "running")
        found = outcome(whole, entry)
        if found is not None:
            return found
        if not runs:
            return None, "the campaign ended before it was measured; a resumption measures it"
        time.sleep(LOOK_EVERY_S)


def outcome(whole: Replay, entry: str) -> tuple[Evaluation | None, str] | None:
    """The same of now; None: it is under way."""
    event = next((one for one in whole.injected if one.entry == entry), None)
    if event is None:
        return None
    if event.what == "kernel":
        evaluation = whole.scores.evaluations.get(kernel_id(event.text))
        return None if evaluation is None else (evaluation, "")
    return _of_idea(whole, event)


def _of_idea(whole: Replay, idea: Injected) -> tuple[Evaluation | None, str] | None:
    """Its cycle's last kernel, which is a repair where the first one failed."""
    own = [event for event, _ in whole.history(idea.island)]
    cycle = next(
        (one.cycle for one in own if isinstance(one, CycleStarted) and one.idea == idea.number),
        None,
    )
    finished = next(
        (one for one in own if isinstance(one, CycleFinished) and one.cycle == cycle), None
    )
    if finished is None:
        return None
    drafts = [one for one in own if isinstance(one, Drafted) and one.cycle == cycle]
    if drafts:
        return whole.scores.evaluations[drafts[-1].kernel_id], ""
    if finished.duplicates:
        return None, "the model wrote a kernel that the island knew already"
    declined = "; ".join(finished.declined) or "it gave no reason"
    return None, f"the model wrote no kernel for it: {declined}"
