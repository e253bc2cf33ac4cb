"""Copies of a store: consistent while it is written, and in place whole or not at all."""

import os
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

from engine.store.store import StoreError, reading

PARTIAL = ".partial"
"""Ends a file's name while it is written; what a kill left of it, the next copy replaces."""


def copy_store(store: Path, target: Path) -> None:
    """As it is at this moment, also while its writer is at work. Raises OSError, StoreError.

    SQLite itself works on the store's own disk alone: over a network its locks may hang.
    """
    near = store.with_name(store.name + PARTIAL)
    try:
        back_up(store, near)
        write_whole(near, target)
    finally:
        near.unlink(missing_ok=True)


def back_up(store: Path, target: Path) -> None:
    """Into one file on a local disk, without a log of its own, over what is there.

    Raises StoreError, OSError.
    """
    target.unlink(missing_ok=True)
    with reading(store) as source:
        try:
            _back_up(source, target)
        except sqlite3.OperationalError as error:
            raise OSError(None, str(error)) from error  # such as: the disk is full


def _back_up(source: sqlite3.Connection, target: Path) -> None:
    copy = sqlite3.connect(target, isolation_level=None)
    try:
        copy.execute("PRAGMA synchronous = OFF")  # nobody relies on it before it is whole
        source.backup(copy)
        copy.execute("PRAGMA journal_mode = DELETE")
    finally:
        copy.close()


def write_whole(file: Path, target: Path) -> None:
    """A copy of a file, on the disk when it takes its name. Raises OSError."""
    partial = target.with_name(target.name + PARTIAL)
    try:
        shutil.copyfile(file, partial)
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(target)
    except OSError:
        with suppress(OSError):
            partial.unlink()  # a disk that is full needs the room
        raise


def require_whole(path: Path) -> None:
    """Raises StoreError where a copy is not what was copied, such as half of it."""
    with reading(path) as connection:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()
    if found != ("ok",):
        raise StoreError(f"{path}: this store is damaged ({found[0]})")
