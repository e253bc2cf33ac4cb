"""Campaigns in a folder: where their stores are, and whether they run, ended or were killed."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from engine.stopping.targets import reached_by
from engine.store.budget import spent
from engine.store.replay import Replay
from engine.store.run_folder import STORE
from engine.store.store import StoreError, driven_since, is_driven

State = Literal["starting", "running", "ended", "killed"]
"""Whether a process runs it now, and how its last session ended."""


def store_of(run: Path) -> Path:
    """The store of a campaign's folder, or the store itself. Raises StoreError."""
    try:
        store = run if run.is_file() else run / STORE
        there = store.is_file()
    except OSError as error:
        raise StoreError(f"{run}: it can't be looked into ({error.strerror})") from None
    if not there:
        raise StoreError(
            f"{run}: no campaign is here; name the folder of one, such as runs/quickstart"
        )
    return store


def name_of(run: Path) -> str:
    """A campaign's name for people: its folder's, also where that is named "." or by a link."""
    return Path(os.path.abspath(run)).name


def stores_in(folder: Path) -> Iterator[Path]:
    """The stores of all campaigns in a folder of runs, by name."""
    yield from sorted(folder.glob(f"*/{STORE}"))


def state_of(whole: Replay, store: Path) -> State:
    """A store on another node's disk shows no process there: such a campaign counts as killed."""
    last = whole.sessions[-1] if whole.sessions else None
    return state_by(
        store,
        last_at=last.ended_at if last else None,
        finished=bool(last and last.finished),
    )


def state_by(store: Path, *, last_at: float | None, finished: bool) -> State:
    """last_at: when the last session last stored something, None where there is no session.
    finished: whether it ended in order.

    Who has ended a session may still tell MLflow; who began after it is starting.
    """
    if not is_driven(store):
        return "ended" if finished else "killed"
    return "starting" if last_at is None or driven_since(store) > last_at else "running"


def searches_no_more(whole: Replay, store: Path) -> bool:
    """Whether it runs, and only measures its best again: what is asked of it now, a resumption
    does."""
    if state_of(whole, store) != "running":
        return False
    last, over = whole.sessions[-1], spent(whole, whole.budgets)
    done = over is not None and not over.of_calls
    return bool(done or last.finished or last.search_ended_at or reached_by(whole))
