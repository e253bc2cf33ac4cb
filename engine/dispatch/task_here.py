"""A task of the user's own on the nodes of a cluster: its files travel with the workbench."""

import atexit
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from engine.store.task_files import holds, write_files

_places: dict[str, str] = {}
"""Folder on the driver's node -> where it is for this process."""


@dataclass(frozen=True, slots=True)
class TaskFiles:
    """By path below the task's folder; see engine.store.task_files."""

    files: Mapping[str, bytes]

    def put(self, task: str) -> None:
        """Let task_here() find it. task: the folder on the driver's node; where the same files lie
        at that place, they are used, else they are written for as long as this process lives.

        Raises TaskError.
        """
        if task in _places:
            return
        if holds(Path(task), self.files):
            _places[task] = task
            return
        folder = tempfile.mkdtemp(prefix="kernel-scientist-task-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        place = Path(folder) / Path(task).name
        write_files(self.files, place)
        _places[task] = str(place)


def task_here(task: str) -> str:
    """What load_task() takes on this node."""
    return _places.get(task, task)
