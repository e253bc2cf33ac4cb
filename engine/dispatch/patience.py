"""How long a campaign waits for devices that are all left alone, and how it then ends."""

import asyncio
import time
from collections.abc import Sequence

from engine.dispatch.setting import Lane
from engine.ending import CampaignFailed

LOOK_EVERY_S = 1.0


async def wait_for_devices(lanes: Sequence[Lane], patience_s: float) -> None:
    """Runs as long as some device works. Raises CampaignFailed when none did for patience_s."""
    last_well = time.monotonic()
    while True:
        # Asked first: on a busy machine more than the patience may go by between two looks.
        if any(lane.well for lane in lanes):
            last_well = time.monotonic()
        elif time.monotonic() - last_well >= patience_s:
            break
        await asyncio.sleep(min(LOOK_EVERY_S, patience_s / 4))
    raise _all_away(lanes, patience_s)


async def first_fit(lanes: Sequence[Lane], patience_s: float) -> Lane:
    """The first that may be given work. Raises CampaignFailed when none may for patience_s."""
    waits = {asyncio.ensure_future(lane.fit()): lane for lane in lanes}
    done, others = await asyncio.wait(
        waits, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED
    )
    for one in others:
        one.cancel()
    if not done:
        raise _all_away(lanes, patience_s)
    return next(lane for wait, lane in waits.items() if wait in done)


def _all_away(lanes: Sequence[Lane], patience_s: float) -> CampaignFailed:
    sick = "; ".join(f"{lane.name}: {lane.trouble}" for lane in lanes)
    return CampaignFailed(
        f"all devices have been left alone for {patience_s:g} s (devices.patience_s), after faults "
        f"and no known answer since ({sick}): look at them with 'kernel-scientist doctor "
        "--device', then 'kernel-scientist resume' goes on where this ended"
    )
