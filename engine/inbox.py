"""What a person asks of a campaign, as files in its folder: an inbox, and a mark to pause."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from engine.store.kinds.steering import Contribution

INBOX, TAKEN, REFUSED = "inbox", "taken", "refused"
PAUSE = "pause"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """name: the file's; text: a kernel file, or an idea's words. island: None: whose turn it is.

    base_id: the kernel that an idea is tried on; "" for the best.
    """

    what: Contribution
    name: str
    text: str
    island: int | None = None
    base_id: str = ""


_ENTRY: TypeAdapter[Entry] = TypeAdapter(Entry)


def put(run_dir: Path, entry: Entry) -> str:
    """Into the inbox in one step; returns the entry's name, later ones sort after it."""
    inbox = run_dir / INBOX
    inbox.mkdir(exist_ok=True)
    name = f"{time.time_ns():020d}-{os.getpid()}.json"
    partial = inbox / f".{name}.partial"
    try:
        with partial.open("wb") as file:
            file.write(_ENTRY.dump_json(entry))
            file.flush()
            os.fsync(file.fileno())
        partial.rename(inbox / name)
    finally:
        partial.unlink(missing_ok=True)
    return name


def waiting(run_dir: Path) -> Iterator[tuple[str, Entry | None]]:
    """Entries that were not taken, the oldest first, by name; None: it can't be read."""
    for path in sorted((run_dir / INBOX).glob("[!.]*.json")):
        try:
            yield path.name, _ENTRY.validate_json(path.read_bytes())
        except FileNotFoundError:
            continue  # it was taken meanwhile
        except (OSError, ValueError):  # such as a folder
            yield path.name, None


def set_aside(run_dir: Path, name: str, *, where: str = TAKEN) -> None:
    """Out of the inbox, into a folder in it: TAKEN once it is stored, or REFUSED."""
    folder = run_dir / INBOX / where
    folder.mkdir(exist_ok=True)
    with suppress(FileNotFoundError):  # a person was faster
        (run_dir / INBOX / name).rename(folder / name)


def ask_to_pause(run_dir: Path) -> None:
    (run_dir / PAUSE).touch()


def let_go_on(run_dir: Path) -> bool:
    """Whether it had been asked to pause."""
    try:
        (run_dir / PAUSE).unlink()
    except FileNotFoundError:
        return False
    return True


def is_to_pause(run_dir: Path) -> bool:
    return (run_dir / PAUSE).exists()
