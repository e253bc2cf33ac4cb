"""Every node of a cluster, looked at as a campaign would use it: what `doctor CONFIG` tells."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from engine.actors.cluster import on_site
from engine.actors.lifeline import Driver
from engine.actors.nodes.watch import NodeWatch
from engine.config import CampaignConfig
from engine.dispatch.workbench import Workbench
from engine.ending import CampaignFailed

PATIENCE_S = 120.0
"""For a first device to open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """nodes: a sentence each; notes: what they lack, a sentence each. devices: that would measure;
    compile_workers: on all nodes; failed: why no campaign would run there, or empty."""

    nodes: Sequence[str]
    notes: Sequence[str]
    devices: int
    device: str
    compile_workers: int
    failed: str = ""


def look_at_cluster(config: CampaignConfig, workbench: Workbench, naive: str) -> Cluster:
    """Opens every device that Ray has free, and compiles the naive seed everywhere.

    Raises ConfigError when no cluster answers.
    """
    with on_site(config):
        return asyncio.run(_looked_at(config, workbench, naive))


async def _looked_at(config: CampaignConfig, workbench: Workbench, naive: str) -> Cluster:
    watch = NodeWatch(config, workbench, Driver.here(), naive, lambda error: None)
    try:
        info = (await watch.open_cluster("", patience_s=PATIENCE_S))[0]
        await watch.taken_in(PATIENCE_S)
        device, failed = info.name, ""
    except CampaignFailed as error:
        device, failed = "", str(error)
    return Cluster(
        nodes=watch.told(),
        notes=watch.notes,
        devices=len(watch.fleet.lanes),
        device=device,
        compile_workers=watch.fleet.compile_workers,
        failed=failed,
    )
