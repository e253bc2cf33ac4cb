"""The store: one append-only log of events in SQLite, one writer, any number of readers."""

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from engine.events import Event, Row, from_row

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
CREATE VIEW IF NOT EXISTS evaluations AS SELECT
    seq, at,
    json_extract(body, '$.evaluation.kernel_id') AS kernel_id,
    json_extract(body, '$.number') AS number,
    json_extract(body, '$.evaluation.status') AS status,
    json_extract(body, '$.evaluation.reason') AS reason,
    json_extract(body, '$.evaluation.speedup') AS speedup,
    json_extract(body, '$.evaluation.ci95[0]') AS ci95_low,
    json_extract(body, '$.evaluation.ci95[1]') AS ci95_high,
    json_extract(body, '$.verified') AS verified,
    json_extract(body, '$.evaluation.times_us') AS times_us,
    json_extract(body, '$.evaluation.device') AS device
FROM events WHERE kind = 'evaluated';
CREATE VIEW IF NOT EXISTS drafts AS SELECT
    seq, at, key, island, cycle,
    json_extract(body, '$.slot') AS slot,
    json_extract(body, '$.kernel_id') AS kernel_id,
    json_extract(body, '$.origin') AS origin,
    json_extract(body, '$.parents') AS parents,
    json_extract(body, '$.experiment.technique') AS technique,
    json_extract(body, '$.report') AS report,
    json_extract(body, '$.candidate.files."kernel.hip"') AS source
FROM events WHERE kind = 'drafted';
CREATE VIEW IF NOT EXISTS individuals AS SELECT
    d.key, d.island, d.cycle, d.slot, d.kernel_id, d.origin, d.parents, d.technique,
    e.status, e.reason, e.speedup, e.ci95_low, e.ci95_high, e.times_us, d.source
FROM drafts d JOIN evaluations e ON e.kernel_id = d.kernel_id AND e.number = 0;
CREATE VIEW IF NOT EXISTS profiles AS SELECT
    seq, at,
    json_extract(body, '$.kernel_id') AS kernel_id,
    json_extract(body, '$.advice') AS advice,
    json_extract(body, '$.reason') AS reason,
    json_extract(body, '$.device_s') AS device_s
FROM events WHERE kind = 'profiled';
CREATE VIEW IF NOT EXISTS faults AS SELECT
    seq, at, json_extract(body, '$.where') AS place, json_extract(body, '$.message') AS message
FROM events WHERE kind = 'fault';
"""


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

    def append(self, rows: Sequence[Row]) -> None:
        """All rows in one transaction, on the disk when this returns. Rows stored before stay."""
        now = time.time()
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(
                "INSERT INTO events (at, kind, key, island, cycle, body) "
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (kind, key) DO NOTHING",
                [(now, *row) for row in rows],
            )

    def read(self, after: int = 0, limit: int = 1000) -> list[tuple[int, float, str, str]]:
        """seq, at, kind and body of the next rows after seq number `after`."""
        return _read(self._connection, after, limit)

    def snapshot(self, target: Path) -> None:
        """A consistent copy, by SQLite's backup API, put in place in one step."""
        partial = target.with_name(target.name + ".partial")
        copy = sqlite3.connect(partial)
        with copy:
            self._connection.backup(copy)
        copy.close()
        partial.replace(target)

    def close(self) -> None:
        self._connection.close()
        os.close(self._lock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_events(path: Path, after: int = 0) -> Iterator[Stored]:
    """The events after seq number `after`, also while a writer is at work. Raises StoreError."""
    if not path.is_file():
        raise StoreError(f"{path}: no such store; give the folder of a run that was started")
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        while rows := _read(connection, after, 1000):
            yield from decode(rows)
            after = rows[-1][0]
    except sqlite3.DatabaseError as error:
        raise StoreError(f"{path}: this is not a campaign's store ({error})") from error
    finally:
        connection.close()


def find_source(path: Path, kernel_id: str) -> str | None:
    """The text of a drafted kernel, also while a writer is at work; None when there is none."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        query = "SELECT source FROM drafts WHERE kernel_id = ? LIMIT 1"
        row = connection.execute(query, (kernel_id,)).fetchone()
    finally:
        connection.close()
    return None if row is None else str(row[0])


def decode(rows: Iterable[tuple[int, float, str, str]]) -> Iterator[Stored]:
    """Rows as read() gives them -> events."""
    for seq, at, kind, body in rows:
        yield Stored(seq, at, from_row(kind, body))


def _read(
    connection: sqlite3.Connection, after: int, limit: int
) -> list[tuple[int, float, str, str]]:
    query = "SELECT seq, at, kind, body FROM events WHERE seq > ? ORDER BY seq LIMIT ?"
    return connection.execute(query, (after, limit)).fetchall()


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
