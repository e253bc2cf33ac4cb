"""A task's files: which travel, that they arrive, and what can't."""

from pathlib import Path

import pytest

from engine.store.events import from_row, to_row
from engine.store.kinds.task import TaskKept
from engine.store.task_files import MOST_BYTES, files_of, holds, write_files
from evaluators.tasks.task import TaskError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mine"
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text("description: µ\r\n")
    (folder / "seeds" / "naive.hip").write_text("__global__")
    (folder / "table.npy").write_bytes(b"\x93NUMPY\xff\x00")
    return folder


FILES = {
    "task.yaml": "description: µ\r\n".encode(),
    "seeds/naive.hip": b"__global__",
    "table.npy": b"\x93NUMPY\xff\x00",
}


def test_what_is_made_again_or_hidden_stays_behind(folder: Path, tmp_path: Path) -> None:
    for name in ("__pycache__/reference.pyc", ".git/config", ".secret", "old.pyc"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("no")
    for run in ("runs/first", "second"):  # campaigns that were run in the task's folder
        (folder / run).mkdir(parents=True)
        (folder / run / "store.sqlite").write_text("no")
    (folder / "runs" / "mlflow.db").write_text("no")
    (folder / "nowhere").symlink_to(tmp_path / "gone")
    assert files_of(folder) == FILES


def test_a_link_to_a_file_travels_as_the_file(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "shared.hip").write_text("shared")
    (folder / "seeds" / "other.hip").symlink_to(tmp_path / "shared.hip")
    assert files_of(folder) == {**FILES, "seeds/other.hip": b"shared"}


def test_a_link_to_a_folder_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "data").symlink_to(tmp_path)
    with pytest.raises(TaskError, match="data is a link to a folder"):
        files_of(folder)


def test_what_is_too_large_is_told_unread(folder: Path) -> None:
    with (folder / "data.bin").open("wb") as file:
        file.truncate(MOST_BYTES)
    with pytest.raises(TaskError, match="more than 2000 or 16 MiB"):
        files_of(folder)


def test_they_arrive_through_the_store(folder: Path, tmp_path: Path) -> None:
    kind, _, _, _, body = to_row(TaskKept.of("mine", files_of(folder)))
    event = from_row(kind, body)
    assert isinstance(event, TaskKept) and "seeds/naive.hip" in event.texts
    assert set(event.others) == {"table.npy"}
    target = tmp_path / "run" / "task" / "mine"
    write_files(event.files, target)
    assert files_of(target) == FILES and holds(target, FILES)


def test_they_replace_what_was_there_and_leave_nothing_else(folder: Path, tmp_path: Path) -> None:
    target = tmp_path / "there"
    write_files({"old.py": b"1"}, target)
    write_files(FILES, target)
    assert files_of(target) == FILES
    assert sorted(one.name for one in tmp_path.iterdir()) == ["mine", "there"]
    assert not holds(target, {**FILES, "more": b""}) and not holds(tmp_path / "gone", FILES)


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/../../x", ""])
def test_a_path_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(TaskError, match="leads out of its folder"):
        write_files({"task.yaml": b"", name: b"x"}, tmp_path / "run" / "mine")
    assert list((tmp_path / "run").iterdir()) == []


def test_where_nothing_can_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TaskError, match="can't be written"):
        write_files(FILES, tmp_path / "file" / "mine")
