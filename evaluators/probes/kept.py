"""Answers that are kept in the user's cache folder, by device class, toolchain and our own code."""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from evaluators.cpu.toolchain import cache_folder
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import HARNESS_VERSION, Status
from evaluators.probes.probe import Answer

LASTING = frozenset({Status.PASSED, Status.INVALID, Status.UNSUPPORTED, Status.COMPILE_ERROR})
"""Answers that come again. A TIMEOUT or a fault may have been the machine's doing: ask anew."""

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
    lasting = {name: one for name, one in answers.items() if one.status in LASTING}
    if not lasting:
        return
    path = _path(info)
    with _alone(path):
        known = {name: one for name, one in _read(path).items() if name not in lasting}
        rows = list({**known, **lasting}.values())[-MOST_KEPT:]
        said = {"device_class": info.device_class, "compiler": info.compiler}
        text = json.dumps({**said, "answers": [asdict(one) for one in rows]}, indent=1)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)


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
    """The lock goes with the process that holds it."""
    with path.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _read(path: Path) -> dict[str, Answer]:
    try:
        rows = json.loads(path.read_bytes())["answers"]
        found = [_answer(row) for row in rows]
    except (OSError, ValueError, KeyError, TypeError):  # not there, or not what keep() writes
        return {}
    return {one.probe_id: one for one in found}


def _answer(row: Mapping[str, Any]) -> Answer:
    """Raises KeyError, TypeError, ValueError."""
    sentences = row["sentences"]
    texts = [row["probe_id"], row["question"], row["reason"], *sentences]
    if not isinstance(sentences, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("an answer holds sentences")
    return Answer(
        probe_id=row["probe_id"],
        question=row["question"],
        status=Status(row["status"]),
        reason=row["reason"],
        sentences=tuple(sentences),
        seconds=float(row["seconds"]),
    )
