"""Copies of a store: whole, also while it is written, and nothing where they fail."""

import sqlite3
import threading
from pathlib import Path

import pytest

from engine.store.copies import PARTIAL, back_up, copy_store, require_whole
from engine.store.events import Fault, to_row
from engine.store.store import Store, StoreError, read_events


def fault(number: int) -> Fault:
    return Fault(session=0, number=number, where="device 0", message="x" * 500)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    with Store(path) as store:
        store.append([to_row(fault(number)) for number in range(400)])
    return path


def test_a_copy_is_one_file_with_all_events(path: Path, tmp_path: Path) -> None:
    target = tmp_path / "copies" / "it.sqlite"
    target.parent.mkdir()
    target.with_name(target.name + PARTIAL).write_text("what a kill left")
    path.with_name(path.name + PARTIAL).write_text("what a kill left")
    with Store(path):
        copy_store(path, target)
        copy_store(path, target)  # over the earlier one
        assert list(read_events(target)) == list(read_events(path))
    assert [one.name for one in target.parent.iterdir()] == ["it.sqlite"]
    assert not path.with_name(path.name + PARTIAL).exists()
    require_whole(target)


def test_copies_beside_a_writer_hold_what_was_stored_until_then(path: Path, tmp_path: Path) -> None:
    stored, ended = [400], threading.Event()

    def write() -> None:
        with Store(path) as store:
            while not ended.is_set():
                store.append([to_row(fault(stored[-1]))])
                stored.append(stored[-1] + 1)

    writer = threading.Thread(target=write)
    writer.start()
    counts = []
    for number in range(8):
        target = tmp_path / f"{number}.sqlite"
        least = stored[-1]
        copy_store(path, target)
        seqs = [one.seq for one in read_events(target)]
        assert seqs == list(range(1, len(seqs) + 1)) and len(seqs) >= least
        counts.append(len(seqs))
    ended.set()
    writer.join()
    assert counts == sorted(counts) and counts[-1] > 400


def test_what_fails_leaves_the_earlier_copy(path: Path, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        copy_store(path, tmp_path / "gone" / "it.sqlite")
    target = tmp_path / "it.sqlite"
    copy_store(path, target)
    before = target.read_bytes()
    (tmp_path / f"it.sqlite{PARTIAL}").mkdir()
    with pytest.raises(OSError, match="directory"):
        copy_store(path, target)
    assert target.read_bytes() == before
    assert not path.with_name(path.name + PARTIAL).exists()


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_half_a_copy_is_told(path: Path, tmp_path: Path, part: float) -> None:
    whole = tmp_path / "it.sqlite"
    back_up(path, whole)
    content = whole.read_bytes()
    whole.write_bytes(content[: int(part * len(content)) // 4096 * 4096])
    with pytest.raises(StoreError, match=r"not a campaign's store|damaged"):
        require_whole(whole)


def test_an_event_with_a_number_of_its_own_comes_before_the_next(path: Path) -> None:
    with Store(path) as store:
        store.place(to_row(fault(1000)), seq=9000, at=5.0)
        store.append([to_row(fault(1001))])
    assert next((one.seq, one.at) for one in read_events(path, after=400)) == (9000, 5.0)
    assert [one.seq for one in read_events(path, after=9000)] == [9001]
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone() == (402,)
    connection.close()
