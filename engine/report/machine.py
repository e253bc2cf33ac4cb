"""Machine and toolchain, session by session."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from engine.history.history import History
from engine.report.texts import bytes_text, count, duration, moment
from engine.store.kinds.sessions import SessionStarted
from engine.store.replay import Replay, Session
from engine.store.toolchain import device_class_of, toolchain_of
from evaluators.device_info import DeviceInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """One process life of the campaign."""

    number: int
    began: str
    lasted: str
    searched: str
    evaluations: int
    devices: str
    compiler: str
    harness: str
    ended: str


def session_rows(replay: Replay, *, running: bool) -> tuple[SessionRow, ...]:
    """running: whether the last one does."""
    last = len(replay.sessions) - 1
    return tuple(
        _row(session, running=running and place == last)
        for place, session in enumerate(replay.sessions)
    )


def _row(session: Session, *, running: bool) -> SessionRow:
    started, toolchain = session.started, toolchain_of(session.started)
    ended = "running" if running else "killed"
    return SessionRow(
        number=started.number,
        began=moment(started.began_at),
        lasted=duration(session.elapsed_s),
        searched=duration(session.searched_s) + _rested(session),
        evaluations=session.evaluated,
        devices=_devices(started),
        compiler=toolchain.compiler,
        harness=toolchain.harness,
        ended=session.finished.reason if session.finished else ended,
    )


def _rested(session: Session) -> str:
    """ " (and was paused for 12 min)"; "" where nobody paused it."""
    return f" (and was paused for {duration(session.rested_s)})" if session.rested_s else ""


def _devices(started: SessionStarted) -> str:
    if started.info is not None and started.info.backend == "cpu":  # where a device is a core
        return f"{count(started.devices, 'core')} of {started.device}"
    return f"{started.devices} × {started.device}"


def node_rows(history: History) -> tuple[tuple[str, int, str], ...]:
    """When, in which session, and what it had of a cluster from then on."""
    return tuple(
        (moment(at), changed.number, _nodes(changed.nodes)) for at, changed in history.nodes
    )


def _nodes(nodes: Mapping[str, int]) -> str:
    """ "3 devices: 2 of a, 1 of b; only compiling: c"."""
    measuring = [f"{devices} of {name}" for name, devices in sorted(nodes.items()) if devices]
    others = ", ".join(sorted(name for name, devices in nodes.items() if not devices))
    told = count(sum(nodes.values()), "device")
    if measuring:
        told += ": " + ", ".join(measuring)
    return f"{told}; only compiling: {others}" if others else told


def machine_facts(replay: Replay) -> tuple[tuple[str, str], ...]:
    """Of the last session: names and values."""
    if not replay.sessions:
        return ()
    started = replay.sessions[-1].started
    facts = [("device class", device_class_of(started)), ("devices", str(started.devices))]
    facts += _device_facts(started.info) if started.info else ()
    versions = sorted(replay.campaign.versions.items())
    return (*facts, *((f"version of {name}", version) for name, version in versions))


def _device_facts(info: DeviceInfo) -> Iterator[tuple[str, str]]:
    yield "architecture", info.arch
    for name, flops in info.peak_flops.items():
        yield f"peak, {name} arithmetic", f"{flops / 1e9:,.4g} GFLOP/s"
    for name, _, rate in info.levels:
        yield f"bandwidth of {name}", f"{rate / 1e9:,.4g} GB/s"
    yield "last-level cache", bytes_text(info.cache_bytes)
    yield "LDS of a block", bytes_text(info.lds_bytes)
    yield "threads of a block at most", f"{info.max_threads:,}"
    yield "wavefront", str(info.wavefront)
