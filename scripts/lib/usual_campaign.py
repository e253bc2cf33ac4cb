"""A campaign with its defaults: how busy devices are from the seed's verdict on."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.campaign import run_campaign
from engine.config import BackendChoice, parse_config
from engine.dispatch.workbench import Workbench
from engine.ending import CampaignFailed
from engine.snapshot import Snapshot
from engine.store.events import Evaluated
from engine.store.run_folder import STORE
from engine.store.store import read_events
from scripts.lib.cores import CoresUsed

LOOK_EVERY_S = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Usual:
    """busy: a share of the devices' time; by_use: seconds of devices; idle: what was waited for,
    in seconds of devices; cores: by process, of the whole campaign."""

    devices: int
    device: str
    evaluations: int
    seconds: float
    busy: float
    by_use: Mapping[str, float]
    bound: str
    best: float
    cores: Mapping[str, float]
    latencies_ms: Mapping[str, tuple[float, float]]
    timeline: Sequence[Mapping[str, float]]  # a look every second or so, since the verdict


def usual_campaign(
    task: str, backend: BackendChoice, workbench: Workbench | None, *, devices: int, seed: int
) -> Usual:
    """On so many devices. Raises what run_campaign() raises."""
    seen: list[tuple[float, Snapshot]] = []

    def observe(snapshot: Snapshot) -> None:
        if snapshot.phase == "running":
            seen.append((time.time(), snapshot))

    with tempfile.TemporaryDirectory() as folder:
        values = {
            "task": task,
            "backend": backend,
            "name": "usual",
            "runs_dir": folder,
            "seed": seed,
            "devices": {"most": devices},
            "tracking": "none",
        }
        used = CoresUsed()
        used.start()
        summary = run_campaign(
            parse_config(values, where="a usual campaign"), observer=observe, workbench=workbench
        )
        cores = used.stop()
        events = list(read_events(Path(folder) / "usual" / STORE))
    verdict = next(stored for stored in events if isinstance(stored.event, Evaluated))
    if not seen or not isinstance(verdict.event, Evaluated):
        raise CampaignFailed("the campaign ended before it searched")
    ended_at, last = seen[-1]
    seed_s = verdict.event.evaluation.seconds.get("device", 0.0)
    seconds = ended_at - verdict.at
    return Usual(
        devices=devices,
        device=last.device,
        evaluations=last.evaluations,
        seconds=seconds,
        busy=(last.dispatcher.device_busy_s - seed_s) / (devices * seconds),
        by_use={use: round(spent, 2) for use, spent in last.dispatcher.busy_s.items()},
        bound=last.dispatcher.bound,
        best=summary.best.speedup if summary.best else 1.0,
        cores=cores,
        latencies_ms={
            stage: (round(1e3 * middle, 1), round(1e3 * high, 1))
            for stage, (middle, high) in last.dispatcher.latencies_s.items()
        },
        timeline=list(_timeline(seen, verdict.at)),
    )


def _timeline(seen: Sequence[tuple[float, Snapshot]], since: float) -> Iterator[dict[str, float]]:
    looked = -LOOK_EVERY_S
    for at, snapshot in seen:
        if at - since - looked < LOOK_EVERY_S:
            continue
        looked = at - since
        state = snapshot.dispatcher
        yield {
            "s": round(looked, 1),
            "evaluations": snapshot.evaluations,
            "busy_s": round(state.device_busy_s, 1),
            "compiling": state.compiling,
            "ready": state.ready,
            "measuring": state.measuring,
            "idle_devices": state.idle_devices,
            "contesting": state.contesting,
        }
