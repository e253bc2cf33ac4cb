"""Campaigns whose driver is a process of its own, on a Ray of several nodes."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Literal

from engine.store.events import Evaluated
from engine.store.store import read_events
from tests.engine.ray_nodes import ROOT, RayNodes

DRIVER = """
import json, sys
from pathlib import Path
from engine.campaign import resume_campaign, run_campaign
from engine.cli.progress import progress
from engine.config import parse_config
from engine.ending import CampaignFailed
from engine.restoring import begun
from tests.engine.{module} import {make}

if __name__ == "__main__":
    config = parse_config(json.loads(sys.argv[1]), where="test")
    made, workbench = begun(config), {make}({argument})
    try:
        with progress(sys.stderr) as show:
            if made is None:
                ended = run_campaign(config, observer=show, workbench=workbench)
            else:
                print(made.says, file=sys.stderr)
                ended = resume_campaign(
                    made.run_dir, places=made.places, observer=show, workbench=workbench
                )
    except CampaignFailed as failed:
        sys.exit(str(failed))
    print(ended.ended)
"""
WORKBENCHES = {
    "slow": DRIVER.format(module="slow_bench", make="slow_workbench", argument="0.1"),
    "slower": DRIVER.format(module="slow_bench", make="slow_workbench", argument="2.0, 1.0"),
    "twin": DRIVER.format(module="twin_workbench", make="twin_of", argument="config"),
}


def start(
    workbench: Literal["slow", "slower", "twin"], nodes: RayNodes, folder: Path, **changes: Any
) -> "subprocess.Popen[str]":
    """The campaign of that folder; one that is there already, or of which a copy is, goes on."""
    values = {
        "task": "sgemm",
        "backend": "hip",
        "name": "it",
        "runs_dir": str(folder),
        "tracking": "none",
        "ray": {"address": nodes.address},
        "final": {"seconds": 0},
        **changes,
    }
    return subprocess.Popen(
        [sys.executable, "-c", WORKBENCHES[workbench], json.dumps(values)],
        env=nodes.environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def evaluated(store: Path) -> int:
    if not store.exists():
        return 0
    found = read_events(store)
    return sum(isinstance(stored.event, Evaluated) for stored in found)


def reach(campaign: "subprocess.Popen[str]", store: Path, count: int) -> None:
    while evaluated(store) < count:
        assert campaign.poll() is None, campaign.communicate()[1]
        time.sleep(0.5)


def command_lines() -> dict[int, str]:
    """Of this machine's processes, by number."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            words = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # it has ended
        found[int(entry.name)] = words.strip()
    return found


def kill(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return
