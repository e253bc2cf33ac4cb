"""What became of something that a person put into a campaign's inbox: its store is looked at."""

import time
from pathlib import Path

from engine.history.brought import Brought, brought_into
from engine.history.campaigns import state_of
from engine.store.replay import replay

LOOK_EVERY_S = 1.0


def await_outcome(store: Path, entry: str) -> Brought | None:
    """Wait until that is settled; None: the campaign ended first.

    entry: its name in the inbox. Raises StoreError.
    """
    while True:
        whole = replay(store)
        found = next((one for one in brought_into(whole) if one.event.entry == entry), None)
        if found is not None and found.settled:
            return found
        if state_of(whole, store) not in ("starting", "running"):
            return None
        time.sleep(LOOK_EVERY_S)
