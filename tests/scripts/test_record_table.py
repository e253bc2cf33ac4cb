"""Tests of record_table's arguments, and of a recording that goes on or can't."""

import json
from pathlib import Path
from typing import Any

import pytest

from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task
from scripts import record_table
from scripts.search.recording import Recorder, Recording
from scripts.search.table import TableError
from tests.scripts.test_search_tables import KERNEL, made_here, row, write


def given(tmp_path: Path, *arguments: str) -> list[str]:
    """Later ones win over these."""
    kernel = tmp_path / "k.hip"
    if not kernel.exists():
        kernel.write_text(KERNEL)
    named = ["--task", "softmax", "--kernel", str(kernel), "--out", str(tmp_path / "k.T4.json")]
    return [*named, *(one.format(tmp=tmp_path) for one in arguments)]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--shape", ""], "write M=256,N=256"),
        (["--shape", "R=4,R=8"], "each once, and not 'R=4,R=8'"),
        (["--shape", "R=0,C=8"], "'R=0,C=8': a dimension is 1 or more"),
        (["--shape", "R=-4,C=8"], "a dimension is 1 or more"),
        (["--shape", "R=4,C=8", "--shape", "R=4,C=8"], "a --shape is there twice"),
        (["--values", "T="], "write NAME=1,2,4 and not 'T='"),
        (["--values", "T=1,2,1"], "'T=1,2,1' has a value twice"),
        (["--values", "T=1", "--values", "T=2"], "--values T is there twice"),
        (["--values", "T=1,9999999999"], "a parameter's value is below 2147483648"),
        (["--workers", "0"], "'0' is not a whole number from 1"),
        (["--seconds", "nan"], "'nan' is not a number of seconds from 0"),
        (["--seconds", "-1"], "'-1' is not a number of seconds from 0"),
        (["--seed", "-1"], "'-1' is not a whole number from 0"),
        (["--device", "-1"], "'-1' is not a whole number from 0"),
        (["--family", "softmax_block"], "name --family or --kernel, not both"),
        (["--out", "{tmp}/x.json"], "must end in .T4.json or .T4.json.gz"),
        (["--out", "{tmp}/none/x.T4.json"], "none' is missing: make it"),
        (["--out", "{tmp}/folder.T4.json"], "is a folder: name a file in it"),
    ],
)
def test_arguments_that_cannot_work_are_refused_at_once(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "folder.T4.json").mkdir()
    with pytest.raises(SystemExit) as ended:
        record_table.main(given(tmp_path, *arguments))
    assert ended.value.code == 2
    assert told in capsys.readouterr().err.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--task", "sofmax"], "no task 'sofmax' (did you mean softmax?)"),
        (["--shape", "M=4"], "--shape needs R, C, not M"),
        (["--values", "Z=1"], "--values Z: the space has T, B"),
        (["--values", "T=4", "--values", "B=128"], "no point of that space holds"),
        (["--kernel", "{tmp}/none.hip"], "none.hip can't be read: no such file or directory"),
        (["--kernel", "{tmp}"], "can't be read: is a directory"),
        (["--kernel", "{tmp}/bytes.hip"], "bytes.hip can't be read: it is not UTF-8 text"),
        (["--kernel", "{tmp}/words.hip"], "words.hip: INVALID: line 1: a kernel file begins"),
        (["--out", "{tmp}/words.T4.json"], "words.T4.json is not JSON"),
        (["--out", "{tmp}/foreign.T4.json"], "was not recorded here: name another file with --out"),
        (["--out", "{tmp}/other.T4.json"], "was recorded with other 'kernel': name another file"),
        (["--device", "4095"], "no cpu device 4095"),
    ],
)
def test_what_cannot_be_recorded_is_told_in_a_sentence(
    arguments: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bytes.hip").write_bytes(b"\xff\xfe")
    (tmp_path / "words.hip").write_text("words")
    (tmp_path / "words.T4.json").write_text("words")
    write(tmp_path / "foreign.T4.json", {"results": [row({"a": 1}), row({"a": 2})]})
    other = made_here(5, 6)
    other["metadata"] |= {"kernel": KERNEL + "\n//", "shapes": _shapes()}
    write(tmp_path / "other.T4.json", other)
    assert record_table.main(given(tmp_path, *arguments)) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert line.startswith("record_table: ") and told in line


def _shapes() -> list[dict[str, int]]:
    return [dict(one.dims) for one in load_task("softmax").workloads("benchmarks", "cpu")]


def recording() -> Recording:
    return Recording(
        named="softmax",
        task=load_task("softmax"),
        backend="cpu",
        device=0,
        family="k",
        kernel=parse_kernel(KERNEL),
        seed=0,
    )


def test_a_recording_of_which_all_failed_so_far_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "k.T4.json"
    begun = Recorder(path, recording())
    labels = [one.label for one in recording().task.workloads("benchmarks", "cpu")]
    begun.begin("some", dict.fromkeys(labels, 10.0))
    points = begun.left()
    begun.add(
        points[0],
        Evaluation(kernel_id="", task_hash="", device_class="", status=Status.WRONG, reason="far"),
    )
    begun.save()
    again = Recorder(path, recording())
    assert again.left() == points[1:] and again.naive_us == begun.naive_us
    assert [one.reason for one in again.rows] == ["far"]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        ({"naive_us": {}}, "naive_us has nothing"),
        ({"naive_us": [1]}, "metadata: naive_us"),
        ({"device": None}, "metadata: device"),
    ],
)
def test_a_damaged_recording_is_not_taken_up(
    spoil: dict[str, Any], told: str, tmp_path: Path
) -> None:
    path = tmp_path / "k.T4.json"
    begun = Recorder(path, recording())
    begun.save()
    tree = json.loads(path.read_text())
    tree["metadata"] |= spoil
    write(path, tree)
    with pytest.raises(TableError, match=told):
        Recorder(path, recording())
