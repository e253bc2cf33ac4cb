"""What a person sees while a campaign runs: a live table on a terminal, plain lines elsewhere."""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import IO

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from engine.snapshot import IslandState, Snapshot
from engine.store.contests import Contested
from engine.store.revisions import AnchorWithdrawn
from engine.store.scoreboard import Best
from engine.store.spending import Spending
from evaluators.evaluation import Status

LINE_EVERY_S = 5.0
COMPILE_BOUND = "compile-bound"

Observer = Callable[[Snapshot], None]


@contextmanager
def progress(stream: IO[str]) -> Iterator[Observer]:
    """An observer of a campaign that writes to stream for as long as the context lasts."""
    console = Console(file=stream)
    if not console.is_terminal or console.is_dumb_terminal:
        yield PlainLines(lambda line: _write(line, stream))
        return
    shown = LiveTable()
    with Live(shown, console=console, refresh_per_second=4, transient=True):
        yield shown


def _write(line: str, stream: IO[str]) -> None:
    try:
        print(line, file=stream, flush=True)
    except BrokenPipeError:
        let_go(stream)


def let_go(stream: IO[str]) -> None:
    """Nobody reads the stream any more: what is written to it from now on goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


class LiveTable:
    """The table of the last snapshot, with a clock that runs on between snapshots."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began = clock, clock()
        self._last: tuple[Snapshot, float] | None = None

    def __call__(self, snapshot: Snapshot) -> None:
        self._last = snapshot, self._clock()

    def __rich__(self) -> Table | str:
        """Drawn by a thread of its own, also while the driver waits for Ray."""
        if self._last is None:
            return f"loading Ray and checking the task, {self._clock() - self._began:.0f} s"
        snapshot, at = self._last
        return table(replace(snapshot, elapsed_s=snapshot.elapsed_s + self._clock() - at))


class PlainLines:
    """A line when the phase, what is being done or the best changes, and else every few seconds.

    A stream that nobody reads any more (`2>&1 | head`) gets no more lines; the campaign goes on.
    """

    def __init__(
        self, write: Callable[[str], None], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._write, self._clock = write, clock
        self._written_at = 0.0
        self._stage = ("", "")
        self._best_id = ""
        self._told: set[str] = set()

    def __call__(self, snapshot: Snapshot) -> None:
        self._warn(snapshot)
        best = snapshot.dispatcher.best
        best_id = best.kernel_id if best else ""
        now = self._clock()
        stage = snapshot.phase, snapshot.doing
        news = stage != self._stage or best_id != self._best_id
        if news or now - self._written_at >= LINE_EVERY_S:
            self._written_at, self._stage, self._best_id = now, stage, best_id
            self._write(line(snapshot))

    def _warn(self, snapshot: Snapshot) -> None:
        """Of each trouble once, and again when it comes again; compiling comes and goes: once."""
        now = dict(troubles(snapshot))
        for kind, sentence in now.items():
            if kind not in self._told:
                self._write(f"warning: {sentence}")
        self._told = set(now) | (self._told & {COMPILE_BOUND})


def troubles(snapshot: Snapshot) -> Iterator[tuple[str, str]]:
    """What a person may want to do something about: a name for it, and a sentence."""
    dispatcher = snapshot.dispatcher
    if dispatcher.quarantined:
        yield (
            quarantine_text(snapshot),
            f"{quarantine_text(snapshot)}: left alone after faults, probed, and taken back when "
            "it computes a known answer; the faults are in the store's table faults, and "
            "'kernel-scientist doctor --device' looks at a device",
        )
    for one in dispatcher.withdrawn:
        yield one.kernel_id, withdrawn_text(one)
    for lost in dispatcher.demotions:
        yield f"contest {lost.number}", demoted_text(lost)
    for wrong in dispatcher.wrong:
        yield f"contest {wrong.number}", wrong_text(wrong)
    if snapshot.phase == "running" and dispatcher.bound == "compile":
        count = dispatcher.compile_workers
        workers = f"{count} compile workers make" if count > 1 else "1 compile worker makes"
        yield (
            COMPILE_BOUND,
            f"{COMPILE_BOUND}: {workers} fewer kernels than the devices could measure; give the "
            "campaign more CPU cores, or raise devices.compile_workers where cores are idle",
        )
    for island in snapshot.islands:
        if island.warning:
            yield f"island {island.index}: {island.warning}", island_text(island)
    if snapshot.tracking_trouble:
        yield "tracking", f"{snapshot.tracking_trouble}; the campaign goes on without it"


def island_text(island: IslandState) -> str:
    """ "island 0: no reply could be used in 3 cycles in a row (...); ..."."""
    return (
        f"island {island.index}: {island.warning}; each reply's fault stands in the store's table "
        "calls, under turned_away"
    )


def withdrawn_text(withdrawn: AnchorWithdrawn) -> str:
    """ "14c17dd2426d is withdrawn and counts no more: it failed 3 times in a row ..."."""
    short, back = withdrawn.kernel_id[:12], withdrawn.anchor_id[:12]
    return (
        f"{short} is withdrawn and counts no more: {withdrawn.reason}; kernels are timed against "
        f"{back} again"
    )


def demoted_text(contest: Contested) -> str:
    """ "14c17dd2426d is the best no more: measured again beside it, 5e37a20c11ff is 1.06x ..."."""
    was, now = contest.rival_id[:12], contest.kernel_id[:12]
    estimate, low, high = contest.ratio or (1.0, 1.0, 1.0)
    return (
        f"{was} is the best no more: measured again beside it, {now} is {estimate:.2f}x as fast "
        f"(99% interval {low:.2f} to {high:.2f})"
    )


def wrong_text(contest: Contested) -> str:
    """Why a kernel that seemed faster than the best did not become the best."""
    reason = contest.reason.removeprefix("it ")
    if reason != contest.reason:
        return f"{contest.kernel_id[:12]} {reason}"
    return (
        f"{contest.kernel_id[:12]} seemed faster than the best and failed when it was measured "
        f"again: {reason}"
    )


def quarantine_text(snapshot: Snapshot) -> str:
    """ "1 of 8 devices in quarantine"."""
    count = snapshot.devices
    of = f"{count} devices" if count > 1 else "1 device"
    return f"{snapshot.dispatcher.quarantined} of {of} in quarantine"


def line(snapshot: Snapshot) -> str:
    """Everything worth knowing, in one line."""
    if snapshot.phase == "starting":
        return (
            f"{snapshot.campaign}: {snapshot.doing} ({snapshot.elapsed_s:.0f} s); "
            f"results go to {snapshot.run_dir}; searching {snapshot.searching}"
        )
    parts = [
        f"{snapshot.elapsed_s:5.0f} s",
        f"best {best_text(snapshot.dispatcher.best)}",
        f"{snapshot.evaluations} evaluations ({verdicts(snapshot.dispatcher.by_status)})",
        *rates(snapshot),
        "islands " + " ".join(f"{island.best_speedup:.2f}x" for island in snapshot.islands),
    ]
    if snapshot.calls:
        parts.append(f"models: {calls_text(snapshot.calls)}")
    if snapshot.dispatcher.contesting:
        parts.append(f"{snapshot.dispatcher.contesting} measured again against the best")
    if snapshot.dispatcher.faults:
        parts.append(f"{snapshot.dispatcher.faults} faults")
    if snapshot.dispatcher.quarantined:
        parts.append(quarantine_text(snapshot))
    if snapshot.phase == "running" and snapshot.dispatcher.bound == "compile":
        parts.append(f"{COMPILE_BOUND} ({snapshot.dispatcher.compile_workers} workers)")
    if snapshot.phase == "running":
        parts.append(f"left: {left_text(snapshot)}")
    else:
        parts.append(stage_text(snapshot))
    return "  ".join(parts)


def stage_text(snapshot: Snapshot) -> str:
    """ "stopping: telling MLflow the rest"; of a start what is being done says enough."""
    if snapshot.phase == "starting":
        return snapshot.doing
    return ": ".join(filter(None, (snapshot.phase, snapshot.doing)))


def rates(snapshot: Snapshot) -> list[str]:
    """How fast this session is; nothing where it has evaluated nothing yet."""
    if not snapshot.dispatcher.evaluated:
        return []
    busy = f"device {100 * snapshot.device_busy_fraction:.0f}% busy"
    return [f"{snapshot.evaluations_per_s:.2g}/s", busy]


def table(snapshot: Snapshot) -> Table:
    """The same, on a terminal."""
    dispatcher = snapshot.dispatcher
    rows: list[tuple[str, str]] = []
    rows.append((snapshot.campaign, f"{stage_text(snapshot)}, {snapshot.elapsed_s:.0f} s"))
    rows.append(("searching", snapshot.searching))
    if snapshot.phase == "starting":
        rows.append(("results", f"go to {snapshot.run_dir}"))
        return _grid(rows)
    rows.append(("best", best_text(dispatcher.best)))
    rows.append(("evaluations", f"{snapshot.evaluations}  {verdicts(dispatcher.by_status)}"))
    devices = f"{snapshot.devices} × {snapshot.device or '…'}"
    rows.append(("device", ", ".join((devices, *rates(snapshot)))))
    queues = f"{dispatcher.compiling} compiling, {dispatcher.ready} compiled"
    rows.append(("in flight", f"{queues}, {dispatcher.measuring} being measured"))
    for island in snapshot.islands:
        rows.append(
            (
                f"island {island.index}",
                f"best {island.best_speedup:.2f}x, {island.population} kernels of "
                f"{island.diversity:.1f} structures, cycle {island.cycles}",
            )
        )
    if snapshot.calls:
        in_flight = f", {snapshot.calls.in_flight} in flight"
        rows.append(("models", calls_text(snapshot.calls) + in_flight))
    if dispatcher.faults:
        rows.append(("faults", f"{dispatcher.faults} (in the store: table faults)"))
    rows.append(("left", left_text(snapshot)))
    rows += [("warning", sentence) for _, sentence in troubles(snapshot)]
    return _grid(rows)


def _grid(rows: Iterable[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    for name, value in rows:
        grid.add_row(Text(name, style="bold"), Text(value))
    return grid


def best_text(best: Best | None) -> str:
    if best is None:
        return "none yet"
    interval = f" [{best.ci95[0]:.2f}, {best.ci95[1]:.2f}]" if best.ci95 else ""
    return f"{best.speedup:.2f}x{interval} {best.kernel_id[:12]}"


def verdicts(by_status: Mapping[str, int]) -> str:
    """ "41 passed, 3 COMPILE_ERROR": what passed first, then failures by kind, most first."""
    failures = sorted(
        ((count, status) for status, count in by_status.items() if status != Status.PASSED),
        reverse=True,
    )
    passed = f"{by_status.get(Status.PASSED, 0)} passed"
    return ", ".join([passed, *(f"{count} {status}" for count, status in failures)])


def calls_text(calls: Spending) -> str:
    """ "208 calls, 852744 tokens, 1.10 dollars; 14 dropped, 9 timeout": failures, most first."""
    spent = f"{calls.calls} calls, {calls.tokens} tokens"
    if calls.dollars:
        spent += f", {calls.dollars:.2f} dollars"
    kinds = sorted(calls.failures.items(), key=lambda one: (-one[1], one[0]))
    failures = [f"{count} {kind}" for kind, count in kinds]
    if calls.lost:
        failures.append(f"{calls.lost} lost in kills")
    return "; ".join(filter(None, (spent, ", ".join(failures))))


def left_text(snapshot: Snapshot) -> str:
    parts = []
    if snapshot.evaluations_left is not None:
        parts.append(f"{snapshot.evaluations_left} evaluations")
    if snapshot.seconds_left is not None:
        parts.append(f"{snapshot.seconds_left:.0f} s")
    return ", ".join(parts)
