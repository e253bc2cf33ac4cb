"""Answers that are kept in the user's cache folder, by device class, toolchain and our own code."""

import fcntl
import hashlib
import json
import math
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any

from evaluators.cxx import cache_folder
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import HARNESS_VERSION, Status
from evaluators.probes.probe import Answer
from evaluators.spelling import printable

LASTING = frozenset({Status.PASSED, Status.INVALID, Status.UNSUPPORTED})
"""Answers that come again. A TIMEOUT, a fault, or a compiler on a full disk may have been the
machine's doing: ask anew."""

MOST_OF_ANSWER = 8000
"""Characters: telling.py and verdicts keep to less."""

LOCK_S = 20.0
"""For a lock that another campaign holds for milliseconds."""

MOST_KEPT = 500
"""Of one device and toolchain; the oldest go first."""


def kept(info: DeviceInfo) -> Mapping[str, Answer]:
    """Every answer known for such a device, by the probe's id; none from a damaged file.

    Raises BackendMissing where there can be no cache folder.
    """
    return _read(_path(info))


def keep(info: DeviceInfo, answers: Mapping[str, Answer]) -> None:
    """Add answers to what is kept, as far as they would come again.

    Campaigns that do so at the same time lose nothing of one another. Raises BackendMissing and
    OSError: a cache folder that can't be made or written.
    """
    lasting = {
        name: replace(one, reason=printable(one.reason))
        for name, one in answers.items()
        if one.status in LASTING
    }
    if not lasting:
        return
    path = _path(info)
    with _alone(path):
        known = {name: one for name, one in _read(path).items() if name not in lasting}
        rows = list({**known, **lasting}.values())[-MOST_KEPT:]
        said = {"device_class": info.device_class, "compiler": info.compiler}
        text = json.dumps({**said, "answers": [asdict(one) for one in rows]}, indent=1)
        draft = path.with_suffix(f".{os.getpid()}")
        try:
            draft.write_text(text, encoding="utf-8")
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def _path(info: DeviceInfo) -> Path:
    key = "\n".join((info.device_class, info.engine, info.compiler, HARNESS_VERSION, _version()))
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return cache_folder() / f"probes-{info.backend}-{digest}.json"


@cache
def _version() -> str:
    """Of the code that runs and reads probes: of all files of this room but this one."""
    room = Path(__file__).parent
    files = sorted(path for path in room.rglob("*") if path.suffix in (".py", ".hip"))
    digest = hashlib.sha256()
    for path in files:
        if path != Path(__file__):
            digest.update(path.read_bytes())
    return digest.hexdigest()


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """The lock goes with the process that holds it. Raises TimeoutError: one that does not let go
    shall hold up no campaign."""
    until = time.monotonic() + LOCK_S
    with path.with_suffix(".lock").open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > until:
                    raise TimeoutError(f"another process holds {lock.name}") from None
                time.sleep(LOCK_S / 1000)
        yield


def _read(path: Path) -> dict[str, Answer]:
    """None where it is not there, or damaged; what keep() does not write is passed over."""
    try:
        rows = json.loads(path.read_bytes())["answers"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}
    found = map(_answer, rows if isinstance(rows, list) else ())
    return {one.probe_id: one for one in found if one is not None}


def _answer(row: Any) -> Answer | None:
    """None where keep() did not write it."""
    try:
        one = Answer(**{**row, "status": Status(row["status"]), "sentences": (*row["sentences"],)})
        texts = (one.probe_id, one.question, one.reason, *one.sentences)
        told = isinstance(row["sentences"], list) and sum(map(len, texts)) <= MOST_OF_ANSWER
        said = told and all(isinstance(text, str) and text == printable(text) for text in texts)
        lasts = one.status in LASTING and 0 <= one.seconds < math.inf
        return one if said and lasts else None
    except (ValueError, KeyError, TypeError):
        return None
