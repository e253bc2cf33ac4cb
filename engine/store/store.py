"""The store: one append-only log of events in SQLite, one writer, any number of readers."""

import fcntl
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from urllib.parse import quote

from engine.store.events import Drafted, Event, Row, from_row

SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY,
    at REAL NOT NULL,           -- seconds since 1970
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    island INTEGER,
    cycle INTEGER,
    body TEXT NOT NULL,         -- JSON
    UNIQUE (kind, key)
);
CREATE INDEX IF NOT EXISTS events_by_cycle ON events (island, cycle);
"""


INSERT = """
INSERT INTO events (seq, at, kind, key, island, cycle, body) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (kind, key) DO NOTHING
"""

VIEWS = Path(__file__).with_name("views.sql")


class StoreError(Exception):
    """The store can't be used. One sentence: which file, why, what to do."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An event with its place in the log. at: seconds since 1970."""

    seq: int
    at: float
    event: Event


class Store:
    """The single writer of one campaign's log; holds a lock on the file while it is open."""

    def __init__(self, path: Path, *, lock_wait_s: float = 5.0) -> None:
        """Creates the file when it is missing. Raises StoreError when another writer stays."""
        self.path = path
        self._lock = _lock(path.with_name(path.name + ".lock"), wait_s=lock_wait_s)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(SCHEMA)
        _renew_views(self._connection)

    def append(self, rows: Sequence[Row]) -> None:
        """All rows in one transaction, on the disk when this returns. Rows stored before stay."""
        now = time.time()
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(INSERT, [(None, now, *row) for row in rows])

    def place(self, row: Row, *, seq: int, at: float) -> None:
        """One row, with a number and a time of its own. The next rows are numbered from there."""
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute(INSERT, (seq, at, *row))

    def read(self, after: int = 0, limit: int = 1000) -> list[tuple[int, float, str, str]]:
        """seq, at, kind and body of the next rows after seq number `after`."""
        return _read(self._connection, after, limit)

    def close(self) -> None:
        self._connection.close()
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_events(path: Path, after: int = 0) -> Iterator[Stored]:
    """The events after seq number `after`, also while a writer is at work. Raises StoreError."""
    with reading(path) as connection:
        while rows := _read(connection, after, 1000):
            yield from decode(rows, path)
            after = rows[-1][0]


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The store for queries, also while a writer is at work. Raises StoreError."""
    try:
        there = path.is_file()
    except OSError as error:
        raise StoreError(f"{path}: it can't be looked at ({error.strerror})") from None
    if not there:
        raise StoreError(f"{path}: no such store; give the folder of a run that was started")
    connection = None
    try:
        connection = sqlite3.connect(_address(path), uri=True)
        yield connection
    except sqlite3.OperationalError as error:
        raise StoreError(f"{path}: {_why(error, path)} ({error})") from error
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: this is not a campaign's store ({error})") from error
    finally:
        if connection is not None:
            connection.close()


def _address(path: Path) -> str:
    """For reading. Where nothing can be written, and all was, SQLite is told so: else it would
    make files of its own beside the store."""
    log = path.with_name(path.name + "-wal")
    at_rest = not os.access(path.parent, os.W_OK) and not log.exists()
    return f"file:{quote(os.fsencode(path))}?mode=ro{'&immutable=1' if at_rest else ''}"


def _why(error: sqlite3.OperationalError, path: Path) -> str:
    if "locked" in str(error):
        return "another program keeps this store locked; try again when it is done"
    if not os.access(path, os.R_OK):
        return "you may not read this store"
    if not os.access(path.parent, os.W_OK):
        return "this store has a log that can't be read from a folder that is read-only; copy both"
    return "this is not a campaign's store"


@contextmanager
def driving(path: Path) -> Iterator[None]:
    """A mark beside the store that a process runs its campaign: also while Ray starts, which is
    long before a writer opens the store. Raises StoreError when another process does."""
    mark = _lock(_mark(path), wait_s=1.0)
    os.utime(mark)
    try:
        yield
    finally:
        os.close(mark)


def is_driven(path: Path) -> bool:
    """Whether a process of this node runs the campaign."""
    return _is_held(_mark(path)) or _is_held(path.with_name(path.name + ".lock"))


def driven_since(path: Path) -> float:
    """When the last process began to, in seconds since 1970; 0.0 where that is not known."""
    try:
        return _mark(path).stat().st_mtime
    except OSError:
        return 0.0  # a copy, or a store of before there were marks


def _mark(path: Path) -> Path:
    return path.with_name(path.name + ".driver")


def _is_held(lock: Path) -> bool:
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False  # never opened, or a copy
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(descriptor)


def find_draft(path: Path, kernel_id: str) -> Drafted | None:
    """Where a kernel was first drafted, also while a writer is at work; None when nowhere."""
    with reading(path) as connection:
        # Not from a view: it is read in stores of earlier versions too.
        row = connection.execute(
            "SELECT body FROM events WHERE kind = 'drafted' "
            "AND json_extract(body, '$.kernel_id') = ? ORDER BY seq LIMIT 1",
            (kernel_id,),
        ).fetchone()
    drafted = None if row is None else from_row(Drafted.kind, row[0])
    return drafted if isinstance(drafted, Drafted) else None


def decode(
    rows: Iterable[tuple[int, float, str, str]], where: Path | str = "its store"
) -> Iterator[Stored]:
    """Rows as read() gives them -> events. Raises StoreError."""
    for seq, at, kind, body in rows:
        try:
            event = from_row(kind, body)
        except (KeyError, ValueError) as error:
            raise StoreError(
                f"{where}: event {seq} can't be read ({kind!r}): a newer version of Kernel "
                "Scientist wrote it, or the store is damaged; use that version, or a copy"
            ) from error
        yield Stored(seq, at, event)


def _read(
    connection: sqlite3.Connection, after: int, limit: int
) -> list[tuple[int, float, str, str]]:
    query = "SELECT seq, at, kind, body FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
    return connection.execute(query, (after, limit)).fetchall()


def _renew_views(connection: sqlite3.Connection) -> None:
    """Today's views, in one transaction, in a store whose views are of another version.

    user_version holds a checksum of the views' text; it is 0 in stores of before.
    """
    text = VIEWS.read_text()
    version = zlib.crc32(text.encode()) & 0x7FFFFFFF
    if connection.execute("PRAGMA user_version").fetchone() != (version,):
        connection.executescript(
            f"BEGIN IMMEDIATE;\n{text}\nPRAGMA user_version = {version};\nCOMMIT;"
        )


def _lock(path: Path, *, wait_s: float) -> int:
    """An exclusive lock that ends with this process, whatever ends it."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    deadline = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return descriptor
        except BlockingIOError:
            if time.monotonic() > deadline:
                os.close(descriptor)
                raise StoreError(
                    f"{path.parent}: another process is running this campaign; "
                    "stop it, or wait until it ends"
                ) from None
            time.sleep(0.05)
