"""Sitting: the one process that works on a study, and the study's file as a kill left it."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.config_errors import ConfigError

JOURNAL = "study.log"
LOCK = "study.lock"


@contextmanager
def sitting(out: Path) -> Iterator[None]:
    """The folder is this process's alone inside; the lock ends with it, whatever ends it.

    Raises ConfigError.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
        lock = os.open(out / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise ConfigError(
            f"--out {out}: it can't be made or written ({error.strerror}); name another folder"
        ) from None
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ConfigError(
                f"{out}: another process works on this study; stop it, or wait until it ends"
            ) from None
        mend(out / JOURNAL)
        yield
    finally:
        os.close(lock)


def mend(journal: Path) -> None:
    """Takes off what a kill left half written, and Optuna's own lock, which would be waited for.

    Raises ConfigError: it is damaged otherwise.
    """
    for left in journal.parent.glob(f"{journal.name}.lock*"):
        left.unlink()
    if not journal.exists():
        return
    try:
        raw = journal.read_bytes()
        whole = raw[: raw.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), start=1):
            _require_record(journal, number, line)
        if whole != raw:
            os.truncate(journal, len(whole))
    except OSError as error:
        raise ConfigError(
            f"{journal} can't be read or written ({error.strerror}); name another folder (--out)"
        ) from None


def _require_record(journal: Path, number: int, line: bytes) -> None:
    try:
        record = json.loads(line)
    except ValueError:  # also of no UTF-8
        record = None
    if not isinstance(record, dict) or "op_code" not in record:
        raise ConfigError(
            f"{journal}, line {number}: it is damaged; take the line out, or name another folder "
            "(--out)"
        )
