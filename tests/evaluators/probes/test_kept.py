"""Answers in the user's cache folder: whose they are, damaged files, campaigns at the same time."""

import fcntl
import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from evaluators.cxx import CACHE_VARIABLE
from evaluators.device_info import BackendMissing, DeviceInfo
from evaluators.evaluation import Status
from evaluators.probes import kept as keeping
from evaluators.probes.kept import MOST_KEPT, keep, kept
from evaluators.probes.probe import Answer
from tests.evaluators.probes.files import H100, MI300


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    yield tmp_path


def answer(name: str, status: Status = Status.PASSED) -> Answer:
    return Answer(
        probe_id=name, question="Why?", status=status, reason="r", sentences=("µ.",), seconds=0.5
    )


def by_id(*answers: Answer) -> dict[str, Answer]:
    return {one.probe_id: one for one in answers}


def file_of(folder: Path) -> Path:
    (path,) = folder.glob("probes-*.json")
    return path


def test_answers_come_back(folder: Path) -> None:
    assert kept(H100) == {}
    keep(H100, by_id(answer("a"), answer("b", Status.INVALID)))
    keep(H100, by_id(answer("c")))
    assert kept(H100) == by_id(answer("a"), answer("b", Status.INVALID), answer("c"))
    assert [path.suffix for path in sorted(folder.iterdir())] == [".json", ".lock"]


@pytest.mark.parametrize(
    "status", [Status.TIMEOUT, Status.CRASHED, Status.WRONG, Status.COMPILE_ERROR]
)
def test_what_may_not_come_again_is_not_kept(status: Status) -> None:
    keep(H100, by_id(answer("a", status)))
    assert kept(H100) == {}


@pytest.mark.parametrize(
    "other",
    [
        MI300,
        replace(H100, name="another GPU"),
        replace(H100, compiler="a compiler 1.1"),
        replace(H100, engine="another"),
        replace(H100, compute_units=38, partition="CPX"),
    ],
)
def test_another_device_class_or_toolchain_has_its_own(other: DeviceInfo) -> None:
    keep(H100, by_id(answer("a")))
    assert kept(other) == {}
    keep(other, by_id(answer("b")))
    assert set(kept(H100)) == {"a"}


def test_another_version_of_the_probing_code_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    keep(H100, by_id(answer("a")))
    monkeypatch.setattr(keeping, "_version", lambda: "another")
    assert kept(H100) == {}


@pytest.mark.parametrize(
    "damage",
    [
        b"",
        b"{",
        b"\xff\x00",
        b"[]",
        b'{"answers": 3}',
        b"[" * 100_000,
        b'{"answers": [{"probe_id": "a"}]}',
        b'{"answers": ["a", [], null, {}]}',
        b'{"answers": [{"probe_id": 3, "question": "", "status": "PASSED", "reason": "", '
        b'"sentences": [], "seconds": 1}]}',
        b'{"answers": [{"probe_id": "a", "question": "", "status": "FINE", "reason": "", '
        b'"sentences": [], "seconds": 1}]}',
    ],
)
def test_a_damaged_file_is_written_anew(folder: Path, damage: bytes) -> None:
    keep(H100, by_id(answer("a")))
    file_of(folder).write_bytes(damage)
    assert kept(H100) == {}
    keep(H100, by_id(answer("b")))
    assert kept(H100) == by_id(answer("b"))


@pytest.mark.parametrize(
    "change",
    [
        {"status": []},
        {"status": "TIMEOUT"},
        {"seconds": "soon"},
        {"seconds": float("nan")},
        {"seconds": -1},
        {"sentences": "it is fast"},
        {"sentences": ["\x1b[2J"]},
        {"sentences": ["long " * 5000]},
        {"colour": "red"},
    ],
)
def test_an_answer_that_nobody_kept_is_passed_over_and_the_others_stay(
    folder: Path, change: dict[str, Any]
) -> None:
    keep(H100, by_id(answer("a"), answer("b")))
    told = json.loads(file_of(folder).read_text())
    told["answers"][0] |= change
    file_of(folder).write_text(json.dumps(told))
    assert kept(H100) == by_id(answer("b"))


def test_where_it_can_t_be_written_nothing_is_left_behind(folder: Path) -> None:
    keep(H100, by_id(answer("a")))
    path = file_of(folder)
    path.unlink()
    path.mkdir()
    with pytest.raises(OSError, match=r"directory"):
        keep(H100, by_id(answer("b")))
    assert {one.suffix for one in folder.iterdir()} == {".json", ".lock"}


def test_a_process_that_keeps_the_lock_holds_nobody_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(H100, by_id(answer("a")))
    monkeypatch.setattr(keeping, "LOCK_S", 0.05)
    with file_of(folder).with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(TimeoutError, match=r"another process holds .*\.lock"):
            keep(H100, by_id(answer("b")))
    assert set(kept(H100)) == {"a"}


def test_a_user_without_a_home_is_told_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)  # as where nobody knows the user
    with pytest.raises(
        BackendMissing, match=f"without a home: name another one with {CACHE_VARIABLE}"
    ):
        kept(H100)


def test_a_file_does_not_grow_without_end() -> None:
    keep(H100, by_id(*(answer(str(i)) for i in range(MOST_KEPT))))
    keep(H100, by_id(answer("last"), answer("1")))
    found = kept(H100)
    assert len(found) == MOST_KEPT
    assert {"last", "1"} < set(found)
    assert "0" not in found


def keep_ten(first: int) -> None:
    for i in range(first, first + 10):
        keep(H100, by_id(answer(f"{i}")))


def test_campaigns_at_the_same_time_lose_nothing() -> None:
    with ProcessPoolExecutor(3, get_context("spawn")) as pool:
        list(pool.map(keep_ten, (0, 10, 20)))
    assert set(kept(H100)) == {str(i) for i in range(30)}
