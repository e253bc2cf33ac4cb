"""A campaign's figures as metrics of Ray, which each node's agent shows to Prometheus.

The driver's node shows them, at the port that 'ray start --metrics-export-port' names, with
"ray_" before their names. A Ray of the campaign's own has such an agent too, at a port that Ray
chose. Setting one takes microseconds, and nobody waits for an agent.
"""

import time
from collections.abc import Callable, Iterator, Mapping

import ray
from ray.util.metrics import Counter, Gauge

from engine.snapshot import Snapshot

PREFIX = "kernel_scientist_"
SET_EVERY_S = 1.0

TAGS = ("campaign", "task", "backend")

GAUGES: Mapping[str, str] = {
    "compiling": "Kernels in a compile task, or queued for one.",
    "ready": "Compiled kernels that wait for a device.",
    "measuring": "Kernels that a device measures.",
    "contesting": "Kernels that seem faster than the best, and are or will be measured again.",
    "device_busy_fraction": "Of the session's time, over all devices.",
    "devices_idle": "Devices that have nothing to do just now.",
    "devices_quarantined": "Devices left alone after faults.",
    "evaluations_per_second": "Over this session.",
    "best_speedup": "Of the best kernel over the naive seed.",
    "evaluations_left": "Of budgets.evaluations.",
    "seconds_left": "Of budgets.wall_time_s.",
    "calls_left": "Of budgets.calls.",
    "tokens_left": "Of budgets.tokens.",
    "dollars_left": "Of budgets.dollars.",
    "calls_in_flight": "Calls of models.",
    "endpoints_away": "Endpoints of models at which nothing listens.",
}
"""Without the prefix. What a campaign has not, such as a budget, is not set."""

COUNTERS: Mapping[str, tuple[str, str]] = {
    "evaluations": ("Verdicts on kernels, over all sessions.", "status"),
    "device_busy_seconds": ("Of this session, over all devices.", "work"),
    "faults": ("Of infrastructure, in this session.", ""),
    "calls": ("Of models, over all sessions.", ""),
    "tokens": ("Of models, over all sessions.", ""),
    "dollars": ("For models, over all sessions.", ""),
    "call_failures": ("Of models, over all sessions.", "kind"),
}
"""Name -> what it counts, and the tag by which, if any. Prometheus sees them end in _total."""


class Metrics:
    """Told of each snapshot; sets them once a second."""

    def __init__(
        self, *, campaign: str, task: str, backend: str, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Ray is there already."""
        tags = {"campaign": campaign, "task": task, "backend": backend}
        # Ray takes no others.
        tags = {key: ascii(value)[1:-1] for key, value in tags.items()}
        self._gauges = {
            name: Gauge(PREFIX + name, description=what, tag_keys=TAGS).set_default_tags(tags)
            for name, what in GAUGES.items()
        }
        self._counters = {
            name: Counter(
                PREFIX + name, description=what, tag_keys=(*TAGS, *filter(None, (by,)))
            ).set_default_tags(tags)
            for name, (what, by) in COUNTERS.items()
        }
        self._counted: dict[tuple[str, str], float] = {}
        self._clock, self._set_at = clock, -SET_EVERY_S

    def __call__(self, snapshot: Snapshot) -> None:
        now = self._clock()
        if now - self._set_at < SET_EVERY_S and snapshot.phase == "running":
            return
        self._set_at = now
        for name, value in gauges(snapshot):
            self._gauges[name].set(value)
        for name, what, value in counts(snapshot):
            # A revised verdict leaves its status: what was counted stays counted.
            more = value - self._counted.get((name, what), 0.0)
            if more > 0:
                by = COUNTERS[name][1]
                self._counters[name].inc(more, {by: what} if by else None)
                self._counted[name, what] = value


def metrics_of(*, campaign: str, task: str, backend: str) -> "Callable[[Snapshot], None] | None":
    """None where no Ray runs, as in tests."""
    if not ray.is_initialized():
        return None
    return Metrics(campaign=campaign, task=task, backend=backend)


def gauges(snapshot: Snapshot) -> Iterator[tuple[str, float]]:
    """By a name in GAUGES, those that this campaign has."""
    dispatcher, left = snapshot.dispatcher, snapshot.left
    yield "compiling", dispatcher.compiling
    yield "ready", dispatcher.ready
    yield "measuring", dispatcher.measuring
    yield "contesting", dispatcher.contesting
    yield "device_busy_fraction", snapshot.device_busy_fraction
    yield "devices_idle", dispatcher.idle_devices
    yield "devices_quarantined", dispatcher.quarantined
    yield "evaluations_per_second", snapshot.evaluations_per_s
    if dispatcher.best is not None and dispatcher.best.timed:
        yield "best_speedup", dispatcher.best.speedup
    for name, value in (
        ("evaluations_left", left.evaluations),
        ("seconds_left", left.wall_time_s),
        ("calls_left", left.calls),
        ("tokens_left", left.tokens),
        ("dollars_left", left.dollars),
    ):
        if value is not None:
            yield name, value
    if snapshot.calls is not None:
        yield "calls_in_flight", snapshot.calls.in_flight
        yield "endpoints_away", len(snapshot.outages)


def counts(snapshot: Snapshot) -> Iterator[tuple[str, str, float]]:
    """By a name in COUNTERS: the tag's value, or "", and the count so far."""
    dispatcher, calls = snapshot.dispatcher, snapshot.calls
    yield from (("evaluations", one, count) for one, count in dispatcher.by_status.items())
    yield from (("device_busy_seconds", one, s) for one, s in dispatcher.busy_s.items())
    yield "faults", "", dispatcher.faults
    if calls is not None:
        yield "calls", "", calls.calls
        yield "tokens", "", calls.tokens
        yield "dollars", "", calls.dollars
        yield from (("call_failures", kind, count) for kind, count in calls.failures.items())
