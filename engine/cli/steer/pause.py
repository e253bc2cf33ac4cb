"""Pausing a campaign that runs in another process, and letting it go on."""

from collections.abc import Sequence
from pathlib import Path
from typing import IO

from engine.cli.usage import FAILED, OK, UsageError
from engine.commands import command, resume_command, shown
from engine.history.campaigns import searches_no_more, store_of
from engine.inbox import ask_to_pause, is_to_pause, let_go_on
from engine.store.replay import replay
from engine.store.run_folder import STORE
from engine.store.store import is_driven


def pause(run: Path, stream: IO[str]) -> int:
    """Returns the exit code. Raises StoreError."""
    store = store_of(run)
    whole, run_dir = replay(store), store.parent
    if not is_driven(store):
        print(
            f"{shown(run_dir)} does not run, so there is nothing to pause; "
            f"'{resume_command(run_dir)}' goes on with it",
            file=stream,
        )
        return FAILED
    if searches_no_more(whole, store):
        print(
            f"{shown(run_dir)} searches no more, so there is nothing to pause: it measures its "
            "best again, and ends",
            file=stream,
        )
        return FAILED
    ask_to_pause(run_dir)
    print(
        f"{shown(run_dir)} pauses: what is under way ends, and nothing else begins; "
        f"'{resume_command(run_dir)}' lets it go on",
        file=stream,
    )
    return OK


def go_on(run: Path, stream: IO[str], *, budgets: Sequence[str]) -> bool:
    """Let a campaign go on that runs and was paused; False: it is no such campaign.

    Raises UsageError where a budget is to change, which only a start can do.
    """
    store = run / STORE
    if not is_driven(store) or not is_to_pause(store.parent):
        return False
    if budgets:
        raise UsageError(
            f"{shown(run)} runs, and is paused: budgets and stop change only when it does not run; "
            f"leave {budgets[0]} out to let it go on, or end it with Ctrl-C first"
        )
    let_go_on(run)
    print(
        f"{shown(run)} goes on in the process that runs it; look on with "
        f"'{command('kernel-scientist', 'watch', shown(run))}'",
        file=stream,
    )
    return True
