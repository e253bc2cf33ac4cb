"""One campaign of an ablation, run in a process of its own until it is done."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import yaml

from engine.config import CampaignConfig, parse_config
from engine.ending import INTERRUPTED, CampaignFailed
from engine.store.budget import spent
from engine.store.replay import Replay, replay
from engine.store.run_folder import STORE
from evaluators.tasks.task_file import load_task

OUTPUT = "output.txt"
"""What a campaign's process said, in the campaign's folder."""


class Run(Protocol):
    def __call__(self, arguments: Sequence[str], output: Path) -> int:
        """Runs `kernel-scientist ARGUMENTS`; what it says is appended to the file `output`.
        Returns its exit code."""


def finish(config: CampaignConfig, run: Run) -> Path:
    """The folder of the finished campaign, whatever of it was done before.

    Raises CampaignFailed, and what reading its store raises.
    """
    run_dir = config.runs_dir / config.name
    if (run_dir / STORE).exists():
        before = replay(run_dir / STORE)
        _refuse_another(before, config, run_dir)
        if _ended(before) and not (config.final.seconds and before.lacks_final):
            return run_dir
        arguments = ["resume", str(run_dir)]
    else:
        run_dir.mkdir(parents=True, exist_ok=True)
        file = run_dir / "config.yaml"
        file.write_text(yaml.safe_dump(config.model_dump(mode="json", exclude_unset=True)))
        arguments = ["run", str(file)]
    code = run(arguments, run_dir / OUTPUT)
    if code or not _ended(replay(run_dir / STORE)):
        raise CampaignFailed(
            f"{run_dir.name} did not finish (exit code {code}); what it said is in "
            f"{run_dir / OUTPUT}; the same command goes on where this ended"
        )
    return run_dir


def in_a_process(arguments: Sequence[str], output: Path) -> int:
    """Ctrl-C reaches the process as well: it ends in order, and is waited for."""
    command = [sys.executable, "-m", "engine.cli.main", *arguments]
    with (
        output.open("a") as file,
        subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT) as process,
    ):
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise


def _refuse_another(before: Replay, config: CampaignConfig, run_dir: Path) -> None:
    """Folders may be moved, also between machines; nothing else may differ. What follows from the
    number of devices is that of the machine where the campaign began."""
    stored = parse_config(dict(before.campaign.config), where=str(run_dir / STORE))
    devices = before.sessions[0].started.devices if before.sessions else 1
    islands = config.islands.fitted(devices)
    forms = config.islands, islands, islands.with_lanes(devices)  # stores once held the last one
    moved = stored.model_copy(update={"runs_dir": config.runs_dir})
    same = any(moved == config.model_copy(update={"islands": form}) for form in forms)
    if not same or before.campaign.task_hash != load_task(config.task).hash:
        raise CampaignFailed(
            f"{run_dir} holds a campaign of another configuration or task; choose another "
            "--runs-dir"
        )


def _ended(whole: Replay) -> bool:
    """Whether its search came to an end of its own: not by a kill, nor by Ctrl-C."""
    last = whole.sessions[-1].finished if whole.sessions else None
    in_order = last is not None and last.reason != INTERRUPTED
    return in_order or spent(whole, whole.budgets) is not None
