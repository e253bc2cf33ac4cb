"""What Ray's references stand for, as the driver waits for it."""

from collections.abc import Sequence
from typing import Any

import ray
from ray.exceptions import RayTaskError

from engine.actors.journal import LOST, root_cause
from engine.dispatch.workbench import Broken
from engine.ending import CampaignFailed

_LOST = "a process of the campaign was lost; 'kernel-scientist resume' goes on where it was"


def answer(references: Any, *, timeout_s: float | None = None) -> Any:
    """What Ray's references stand for. Raises what was raised there, as it was raised."""
    try:
        return ray.get(references, timeout=timeout_s)
    except RayTaskError as error:
        cause = root_cause(error)
        if isinstance(cause, Broken):
            raise CampaignFailed(
                f"a part of it broke: {cause}; 'kernel-scientist resume' goes on where it was"
            ) from error
        if isinstance(cause, LOST):  # of a process that the one that was asked had asked
            raise CampaignFailed(_LOST) from error
        raise cause from error
    except LOST as error:
        raise CampaignFailed(_LOST) from error


def ended(runs: Sequence[Any], *, timeout_s: float) -> bool:
    """Whether every island has come to its end; raises what one of them raised."""
    done, running = ray.wait(list(runs), num_returns=len(runs), timeout=timeout_s)
    answer(done)
    return not running
