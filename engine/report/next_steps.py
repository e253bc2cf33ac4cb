"""The commands that get a kernel home, and those that go on from a campaign."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.history.campaigns import State
from engine.report.texts import command, run_name, task_name
from engine.stopping.targets import reached_by
from engine.store.budget import figure, spent
from engine.store.replay import Replay

BEST = "best.hip"
EXHAUSTED = "the search space is exhausted"  # how engine.searching begins that reason


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """what: what the command is for, in a few words."""

    what: str
    command: str


def take_home(replay: Replay, run_dir: Path) -> tuple[Step, ...]:
    """What to do with the best kernel."""
    run, config = run_name(run_dir), replay.campaign.config
    on = ("--task", _task(config), "--backend", str(config["backend"]))
    if not replay.timed:
        return (
            Step(
                what="time it, on a machine with a real MI300",
                command=command("evaluate", f"{run}/{BEST}", *on),
            ),
            Step(
                what="check it in emulation again",
                command=command("evaluate", f"{run}/{BEST}", *on, "--emulate"),
            ),
            Step(
                what="take it home as a C++ header for HIP and CUDA, which shows how to call it",
                command=command("export", run),
            ),
        )
    return (
        Step(what="measure the kernel afresh", command=command("evaluate", f"{run}/{BEST}", *on)),
        Step(
            what="take it home as a C++ header for HIP and CUDA, which shows how to call it",
            command=command("export", run),
        ),
        Step(
            what="certify it: measured now, and written down so that others can repeat it",
            command=command("certify", f"{run}/{BEST}", *on),
        ),
    )


def _task(config: Any) -> str:
    """A folder's path is another one elsewhere."""
    task = str(config["task"])
    return f"path/to/{task_name(task)}" if Path(task).is_absolute() else task


def go_on(replay: Replay, run_dir: Path, state: State) -> Iterator[Step]:
    """What to do with the campaign."""
    run = run_name(run_dir)
    if state in ("ended", "killed") and not replay.ended.startswith(EXHAUSTED):
        over = spent(replay, replay.budgets)
        what = "go on with the search"
        words = ["resume", run]
        if over is not None:
            what += f"; the {figure(over.limit)} {over.name} of its budget are spent"
            words.append(over.override)
        elif met := reached_by(replay):
            what += f"; {met.reason}"
            words.append(met.override)
        yield Step(what=what, command=command(*words))
    yield Step(what="make this page anew", command=command("report", run))
    if replay.timed:
        other = command("compare", run, "runs/OTHER")
        yield Step(what="compare with another campaign", command=other)
    yield Step(what="tell MLflow what it does not know yet", command=command("track", run))
    if str(replay.campaign.config.get("tracking", {}).get("uri")) == "sqlite":
        uri = f"sqlite:///{run_dir.parent.name}/mlflow.db"
        yield Step(what="look at it in MLflow", command=f"mlflow ui --backend-store-uri {uri}")
