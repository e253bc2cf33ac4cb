"""How long a campaign waits for devices that are all left alone, and how it then ends."""

import asyncio
import time
from collections.abc import Sequence

from engine.dispatch.devices.fleet import Fleet
from engine.dispatch.devices.lane import Lane
from engine.ending import CampaignFailed

LOOK_EVERY_S = 1.0


async def wait_for_devices(fleet: Fleet, patience_s: float) -> None:
    """Runs as long as some device works. Raises CampaignFailed when none did for patience_s."""
    last_well = time.monotonic()
    while True:
        # Asked first: on a busy machine more than the patience may go by between two looks.
        if any(lane.well for lane in fleet.lanes):
            last_well = time.monotonic()
        elif time.monotonic() - last_well >= patience_s:
            break
        await asyncio.sleep(min(LOOK_EVERY_S, patience_s / 4))
    raise _all_away(fleet.lanes, patience_s)


async def first_fit(fleet: Fleet, patience_s: float) -> Lane:
    """The first that may be given work. Raises CampaignFailed when none may for patience_s."""
    until = time.monotonic() + patience_s
    while True:
        waits = {asyncio.ensure_future(lane.fit()): lane for lane in fleet.lanes}
        timeout_s = min(LOOK_EVERY_S, max(0.0, until - time.monotonic()))
        if not waits:
            await asyncio.sleep(timeout_s)
        else:
            await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        ended = await asyncio.gather(*waits, return_exceptions=True)
        for lane, ending in zip(waits.values(), ended, strict=True):
            if ending is None:
                return lane
        if time.monotonic() >= until:
            raise _all_away(fleet.lanes, patience_s)


def _all_away(lanes: Sequence[Lane], patience_s: float) -> CampaignFailed:
    if not lanes:
        return CampaignFailed(
            f"no node of the cluster has had a device for {patience_s:g} s (devices.patience_s): "
            "start such nodes, then 'kernel-scientist resume' goes on where this ended"
        )
    sick = "; ".join(f"{lane.name}: {lane.trouble}" for lane in lanes)
    return CampaignFailed(
        f"all devices have been left alone for {patience_s:g} s (devices.patience_s), after faults "
        f"and no known answer since ({sick}): look at them with 'kernel-scientist doctor "
        "--device', then 'kernel-scientist resume' goes on where this ended"
    )
