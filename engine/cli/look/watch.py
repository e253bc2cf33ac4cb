"""A running campaign watched from another terminal, by its store: until it ends, or is killed."""

import time
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import IO

from rich.live import Live

from engine.cli.console import console_of
from engine.cli.look.picture import Stage, line, rows, stage
from engine.cli.progress import LINE_EVERY_S, grid
from engine.cli.result import result_lines
from engine.cli.spans import ago
from engine.cli.usage import FAILED, OK
from engine.commands import resume_command
from engine.history.campaigns import name_of, store_of
from engine.history.follow import Follower
from engine.stopping.targets import reached_by
from engine.store.budget import spent
from engine.store.store import StoreError
from engine.store.summary import summarise

LOOK_EVERY_S = 0.5

PATIENCE_S = 10.0
"""For a store that was only just made to hold its first event."""

BARE_BYTES = 4096
"""What such a store has at most."""

Show = Callable[[Stage], None]


def watch(run: Path, stream: IO[str], *, once: bool) -> int:
    """Show it until it is over, and then how it ended; once: one picture. Returns the exit code.

    Raises StoreError.
    """
    follower = Follower(store_of(run))
    _await_beginning(follower)
    console = console_of(stream)
    if once:
        console.print(grid(rows(follower, time.time())))
        return _exit_code(stage(follower))
    if not console.is_terminal or console.is_dumb_terminal:
        over = _until_over(follower, Lines(follower, lambda text: _print(text, stream)))
    else:
        with Live(console=console, auto_refresh=False, transient=True) as live:
            over = _until_over(
                follower,
                lambda _: live.update(grid(rows(follower, time.time())), refresh=True),
            )
    for text in _ending(follower, over):
        _print(text, stream)
    return _exit_code(over)


def _exit_code(at: Stage) -> int:
    return FAILED if at.killed or at.failed else OK


def _print(text: str, stream: IO[str]) -> None:
    print(text, file=stream, flush=True)


def _await_beginning(follower: Follower) -> None:
    """Raises StoreError when no campaign begins."""
    until = time.monotonic() + PATIENCE_S
    while follower.history is None:
        try:
            follower.look()
        except StoreError:
            begun = follower.store.is_file() and follower.store.stat().st_size > BARE_BYTES
            if begun or time.monotonic() > until:
                raise
        if follower.history is None:
            if time.monotonic() > until:
                raise StoreError(f"{follower.store}: this store holds no campaign")
            time.sleep(0.1)


def _until_over(follower: Follower, show: Show) -> Stage:
    while True:
        state = stage(follower)  # before the last of what was stored is read
        follower.look()
        now = stage(follower)
        show(now)
        if now.over and now == state:
            return now
        time.sleep(LOOK_EVERY_S)


class Lines:
    """A line at another stage or best, and else every few seconds."""

    def __init__(
        self,
        follower: Follower,
        write: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._follower, self._write, self._clock = follower, write, clock
        self._written_at = 0.0
        self._told = ("", "")

    def __call__(self, at: Stage) -> None:
        best, now = self._follower.whole.scores.best, self._clock()
        news = (at.doing, best.kernel_id if best else "")
        if news != self._told or (now - self._written_at >= LINE_EVERY_S and not at.over):
            self._written_at, self._told = now, news
            self._write(line(self._follower, time.time()))


def _ending(follower: Follower, at: Stage) -> Iterator[str]:
    """The result's first lines, or how a killed campaign goes on."""
    whole, run_dir = follower.whole, follower.store.parent
    if not at.killed:
        lines = result_lines(summarise(whole, run_dir), whole, None)
        yield from takewhile(bool, lines)
        return
    assert follower.history is not None
    resume = resume_command(run_dir, spent(whole, whole.budgets) or reached_by(whole))
    yield (
        f"{name_of(run_dir)} was killed; its last event was {ago(follower.history.at)}; go on with "
        f"{resume}"
    )
