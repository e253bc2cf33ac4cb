"""What may want a person's attention while a campaign runs, and when it has ended: sentences."""

import time
from collections.abc import Iterator
from pathlib import Path

from engine.commands import resume_command
from engine.history.revisions_told import demoted_text, withdrawn_text, wrong_text
from engine.snapshot import IslandState, Outage, Snapshot

COMPILE_BOUND = "compile-bound"


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
    for note in dispatcher.notes:
        yield note, note
    for outage in snapshot.outages:
        yield (
            f"outage {outage.base_url} {outage.since}",
            f"nothing answers at {outage.base_url} since {clock_time(outage.since)}; calls wait "
            f"for it until {clock_time(outage.until)} (llm.outage_s), then the campaign ends",
        )
    for island in snapshot.islands:
        if island.warning:
            yield f"island {island.index}: {island.warning}", island_text(island)
        for role, sentence in island.resting.items():
            yield f"island {island.index}: {role} rests", f"island {island.index}: {sentence}"
    for sentence in snapshot.too_small:
        yield f"too small {sentence}", sentence
    if snapshot.not_kept:
        yield "not kept", snapshot.not_kept
    for sentence in snapshot.findings_refused:
        yield f"findings {sentence}", sentence
    if snapshot.tracking_trouble:
        yield "tracking", f"{snapshot.tracking_trouble}; the campaign goes on without it"
    if snapshot.copy_trouble:
        yield (
            "copies",
            f"{snapshot.copy_trouble}; the campaign goes on, and so do attempts at copies",
        )


def island_text(island: IslandState) -> str:
    """ "island 0: no reply could be used in 3 cycles in a row (...); ..."."""
    return (
        f"island {island.index}: {island.warning}; each reply's fault stands in the store's table "
        "calls, under turned_away"
    )


def quarantine_text(snapshot: Snapshot) -> str:
    """ "1 of 8 devices in quarantine"."""
    count = snapshot.dispatcher.devices or snapshot.devices
    of = f"{count} devices" if count > 1 else "1 device"
    return f"{snapshot.dispatcher.quarantined} of {of} in quarantine"


def bound_text(snapshot: Snapshot) -> str:
    """What more of would make it faster: "bound by the devices"."""
    bound = snapshot.dispatcher.bound
    if bound == "compile":
        return COMPILE_BOUND
    if bound == "device":
        return "bound by the devices"
    waits = snapshot.calls is not None and snapshot.calls.in_flight > 0
    return "bound by models' replies" if waits else "bound by islands' proposals"


def outage_text(outage: Outage) -> str:
    """ "endpoint away since 14:03:10, waiting until 14:18:10": local time."""
    since, until = clock_time(outage.since), clock_time(outage.until)
    return f"endpoint away since {since}, waiting until {until}"


def paused_text(since: float, run_dir: str | Path) -> str:
    """ "paused since 14:03:10, 'kernel-scientist resume runs/it' goes on"."""
    return f"paused since {clock_time(since)}, '{resume_command(Path(run_dir))}' goes on"


def clock_time(at: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at))
