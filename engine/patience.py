"""How long a campaign waits for devices that are all left alone, and how it then ends."""

import asyncio
import time
from collections.abc import Sequence

from engine.job import CampaignFailed
from engine.plant import Lane

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
    sick = "; ".join(f"{lane.name}: {lane.trouble}" for lane in lanes)
    raise CampaignFailed(
        f"all devices have been left alone for {patience_s:g} s (devices.patience_s), after faults "
        f"and failed probes ({sick}): look at them with 'kernel-scientist doctor "
        "--device', then 'kernel-scientist resume' goes on where this ended"
    )
