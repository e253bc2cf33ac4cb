"""The lock of a study's file, which neither a kill nor Ctrl-C leaves held."""

import fcntl
from io import TextIOWrapper
from pathlib import Path

from optuna.storages.journal import JournalFileOpenLock


class JournalLock(JournalFileOpenLock):
    """In place of Optuna's, which are files or links that there are while they are held: a kill
    leaves them for 30 s, and Ctrl-C while one is let go raises FileNotFoundError."""

    def __init__(self, file: Path) -> None:
        super().__init__(str(file))
        self._path = file.with_name(f"{file.name}.lock")
        self._held: TextIOWrapper | None = None

    def acquire(self) -> bool:
        self._held = None  # closed, and with that let go
        file = self._path.open("a")
        fcntl.flock(file, fcntl.LOCK_EX)
        self._held = file
        return True

    def release(self) -> None:
        self._held = None
