"""Where a stored campaign's task is: its own folder, or the files that the store kept of it."""

import os
from contextlib import suppress
from pathlib import Path

from engine.store.kinds.task import TaskKept
from engine.store.replay import Replay
from engine.store.run_folder import STORE
from engine.store.task_files import files_of, holds, write_files
from evaluators.tasks.task import TaskError

TASK = "task"
"""The folder in a campaign's, for what is not where it was."""


def kept(task: str) -> tuple[TaskKept | None, str]:
    """The event of a new campaign, and why there is none though its task is a folder. task: as in
    its configuration, which is settled."""
    folder = Path(task)
    if not os.path.isfile(folder / "task.yaml"):
        return None, ""  # a shipped one
    try:
        return TaskKept.of(folder.name, files_of(folder)), ""
    except TaskError as error:
        return None, f"the task is not kept in the store, only its path is: {error}"


def bring_task(whole: Replay, run_dir: Path) -> str:
    """What load_task() takes: the campaign's own task where it is there, else its kept files, which
    are written into the campaign's folder. Raises TaskError where that can't be."""
    task = str(whole.campaign.config["task"])
    if whole.task is None or os.path.isfile(Path(task, "task.yaml")):  # no error, as Path's may
        return task
    folder = run_dir / TASK / whole.task.name
    if not holds(folder, files := whole.task.files):
        write_files(files, folder)
    return str(folder)


def find_task(whole: Replay, run_dir: Path) -> str:
    """The same for who only looks, and may not be allowed to write there."""
    if (run_dir / STORE).is_file():  # and no folder of copies
        with suppress(TaskError):
            return bring_task(whole, run_dir)
    return str(whole.campaign.config["task"])
