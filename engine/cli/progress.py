"""What a person sees while a campaign runs: a live table on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import IO

from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from engine.cli.console import let_go
from engine.cli.figures import best_text, calls_text, improvement_rows, verdicts
from engine.cli.left import ending_text
from engine.cli.troubles import (
    COMPILE_BOUND,
    bound_text,
    clock_time,
    outage_text,
    paused_text,
    quarantine_text,
    troubles,
)
from engine.snapshot import Outage, Snapshot
from engine.stopping.rates import lasting_text
from engine.store.ratios import ratio_text

LINE_EVERY_S = 5.0

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
        self._stage: tuple[str, str, float | None] = ("", "", None)
        self._best_id = ""
        self._told: set[str] = set()
        self._forecast = ""
        self._away: dict[str, Outage] = {}

    def __call__(self, snapshot: Snapshot) -> None:
        self._warn(snapshot)
        self._welcome(snapshot)
        self._foretell(snapshot)
        best = snapshot.dispatcher.best
        best_id = best.kernel_id if best else ""
        now = self._clock()
        stage = snapshot.phase, snapshot.doing, snapshot.paused_since
        news = stage != self._stage or best_id != self._best_id
        if news or now - self._written_at >= LINE_EVERY_S:
            self._written_at, self._stage, self._best_id = now, stage, best_id
            self._write(line(snapshot))

    def _foretell(self, snapshot: Snapshot) -> None:
        """What the budgets will buy, once."""
        if snapshot.forecast != self._forecast:
            self._forecast = snapshot.forecast
            self._write(f"forecast: {snapshot.forecast}")

    def _warn(self, snapshot: Snapshot) -> None:
        """Of each trouble once, and again when it comes again; compiling comes and goes: once."""
        now = dict(troubles(snapshot))
        for kind, sentence in now.items():
            if kind not in self._told:
                self._write(f"warning: {sentence}")
        self._told = set(now) | (self._told & {COMPILE_BOUND})

    def _welcome(self, snapshot: Snapshot) -> None:
        """Of each endpoint that is back, once."""
        now = {outage.base_url: outage for outage in snapshot.outages}
        if snapshot.phase == "running":
            for outage in (self._away[url] for url in self._away.keys() - now.keys()):
                since = clock_time(outage.since)
                self._write(f"{outage.base_url} answers again; it was away since {since}")
        self._away = now


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
        "islands "
        + " ".join(ratio_text(one.best_speedup, timed=one.timed) for one in snapshot.islands),
    ]
    if credits := [one.credit for one in snapshot.islands if one.credit]:
        parts.append(f"credit: {' | '.join(credits)}")
    if snapshot.calls:
        parts.append(f"models: {calls_text(snapshot.calls)}")
    if snapshot.dispatcher.probed:
        parts.append(f"{snapshot.dispatcher.probed} probes answered")
    parts += map(outage_text, snapshot.outages)
    if snapshot.dispatcher.contesting:
        parts.append(f"{snapshot.dispatcher.contesting} measured again against the best")
    if snapshot.dispatcher.faults:
        parts.append(f"{snapshot.dispatcher.faults} faults")
    if snapshot.dispatcher.quarantined:
        parts.append(quarantine_text(snapshot))
    if snapshot.phase == "running" and snapshot.dispatcher.bound == "compile":
        parts.append(f"{COMPILE_BOUND} ({snapshot.dispatcher.compile_workers} workers)")
    elif snapshot.phase == "running" and snapshot.dispatcher.bound:
        parts.append(bound_text(snapshot))
    if snapshot.paused_since is not None:
        parts.append(paused_text(snapshot.paused_since, snapshot.run_dir))
    if snapshot.phase == "running":
        parts.append(f"left: {_left(snapshot)}")
    else:
        parts.append(stage_text(snapshot))
    return "  ".join(parts)


def stage_text(snapshot: Snapshot) -> str:
    """ "stopping: telling MLflow the rest"; of a start what is being done says enough."""
    if snapshot.phase == "starting":
        return snapshot.doing
    if snapshot.paused_since is not None:
        return paused_text(snapshot.paused_since, snapshot.run_dir)
    return ": ".join(filter(None, (snapshot.phase, snapshot.doing)))


def rates(snapshot: Snapshot) -> list[str]:
    """How fast this session is; nothing where it has evaluated nothing yet."""
    if not snapshot.dispatcher.evaluated:
        return []
    state = snapshot.dispatcher
    devices = f"{state.devices} device{'s' * (state.devices != 1)}"
    which = f"{devices} on {state.nodes} nodes" if state.nodes > 1 else "device"
    busy = f"{which} {100 * snapshot.device_busy_fraction:.0f}% busy"
    if snapshot.dispatcher.tuned:
        busy += f" ({snapshot.dispatcher.tuned} mutations in idle time)"
    if snapshot.phase == "running" and snapshot.dispatcher.idle:
        busy += f", idle: {snapshot.dispatcher.idle}"
    return [f"{snapshot.evaluations_per_s:.2g}/s", busy]


def table(snapshot: Snapshot) -> Table:
    """The same, on a terminal."""
    dispatcher = snapshot.dispatcher
    rows: list[tuple[str, str]] = []
    rows.append((snapshot.campaign, f"{stage_text(snapshot)}, {snapshot.elapsed_s:.0f} s"))
    if snapshot.phase == "starting":
        rows.append(("searching", snapshot.searching))
        rows += _forecast_rows(snapshot)
        rows.append(("results", f"go to {snapshot.run_dir}"))
        return grid(rows)
    rows.append(("left", _left(snapshot, _asked_per_s(snapshot))))
    rows.append(("best", best_text(dispatcher.best)))
    rows += improvement_rows(snapshot.improvements)
    rows.append(("searching", snapshot.searching))
    rows += _forecast_rows(snapshot)
    rows.append(("evaluations", f"{snapshot.evaluations}  {verdicts(dispatcher.by_status)}"))
    devices = f"{dispatcher.devices or snapshot.devices} × {snapshot.device or '…'}"
    rows.append(("device", ", ".join((devices, *rates(snapshot)))))
    queues = f"{dispatcher.compiling} compiling, {dispatcher.ready} compiled"
    flight = [queues, f"{dispatcher.measuring} being measured"]
    if snapshot.phase == "running" and dispatcher.bound:
        flight.append(bound_text(snapshot))
    rows.append(("in flight", ", ".join(flight)))
    for island in snapshot.islands:
        rows.append(
            (
                f"island {island.index}",
                f"best {ratio_text(island.best_speedup, timed=island.timed)}, "
                f"{island.population} kernels of "
                f"{island.diversity:.1f} structures, cycle {island.cycles}",
            )
        )
        if island.credit:
            rows.append(("", f"credit: {island.credit}"))
    if snapshot.calls:
        in_flight = f", {snapshot.calls.in_flight} in flight"
        rows.append(("models", calls_text(snapshot.calls) + in_flight))
    rows += [("", outage_text(outage)) for outage in snapshot.outages]
    if dispatcher.probed:
        rows.append(("probes", f"{dispatcher.probed} answered"))
    if dispatcher.faults:
        rows.append(("faults", f"{dispatcher.faults} (in the store: table faults)"))
    rows += [("warning", sentence) for _, sentence in troubles(snapshot)]
    return grid(rows)


def _forecast_rows(snapshot: Snapshot) -> list[tuple[str, str]]:
    return [("forecast", snapshot.forecast)] if snapshot.forecast else []


def _left(snapshot: Snapshot, evaluations_per_s: float | None = None) -> str:
    asked = snapshot.evaluations - snapshot.dispatcher.tuned
    lasting = lasting_text(snapshot.left, asked=asked, calls=snapshot.calls)
    return ending_text(snapshot.left, evaluations_per_s, lasting)


def _asked_per_s(snapshot: Snapshot) -> float | None:
    """Of what the budget counts; None where that is not known, as idle devices evaluate too."""
    searches = snapshot.phase == "running" and snapshot.paused_since is None
    known = searches and snapshot.dispatcher.evaluated
    return snapshot.evaluations_per_s if known and not snapshot.dispatcher.tuned else None


def grid(rows: Iterable[tuple[str, str]]) -> Table:
    """Names, and what they are, beside each other."""
    table = Table.grid(padding=(0, 2))
    for name, value in rows:
        table.add_row(Text(name, style="bold"), Text(value))
    return table
