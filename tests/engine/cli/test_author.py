"""new-task and check-task: folders, sentences, exit codes, JSON."""

import json
from pathlib import Path

import pytest

from engine.cli.main import main
from evaluators.authoring.new_task import EXAMPLE
from evaluators.tasks.task_file import load_task

DATA = Path(__file__).parents[2] / "evaluators" / "authoring" / "data"


def test_an_example_is_written_with_the_next_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new-task", "mine", "--folder", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    for word in ("evaluate", "check-task", "run configs/quickstart.yaml"):
        assert f"kernel-scientist {word}" in printed
    task = load_task(tmp_path / "mine")
    assert task.name == "mine" and task.hash == load_task(EXAMPLE).hash


@pytest.mark.long
def test_the_example_passes_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new-task", "mine", "--folder", str(tmp_path)]) == 0
    seed = str(tmp_path / "mine" / "seeds" / "naive.hip")
    words = ["evaluate", seed, "--task", str(tmp_path / "mine"), "--backend", "cpu"]
    assert main([*words, "--seconds", "0"]) == 0
    assert "PASSED" in capsys.readouterr().out


def test_a_draft_says_what_was_understood_and_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--folder", str(tmp_path), "--from-kernel", str(DATA / "matmul_tiled.cu")]
    assert main(["new-task", "product", *words]) == 0
    printed = capsys.readouterr().out
    assert "dims: M (512 in the program), K (640 in the program)" in printed
    assert "out C: float32 [M, N]" in printed
    assert "what is right, in reference.py" in printed
    task = load_task(tmp_path / "product")
    assert task.dims == ("M", "K", "N") and "matmul" in task.naive


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["new-task", "there"], "there: is there already; name another, or remove it first"),
        (["new-task", "a/b"], "'a/b' is no task's name"),
        (["new-task", "t", "--kernel", "k"], "--kernel and --masks go with --from-kernel"),
        (["new-task", "t", "--from-kernel", "no.hip"], "no.hip: it can't be read"),
        (["new-task", "t", "--from-kernel", "a.txt"], "a.txt: a kernel's source is a .hip or .cu"),
        (
            ["new-task", "t", "--from-kernel", "host.cu"],
            "host.cu: no __global__ function was found",
        ),
        (["check-task", "no_such"], "no task 'no_such'"),
        (["check-task", "softmax", "--mutants", "-1"], "-1 is no number"),
    ],
)
def test_what_can_not_be_done_is_told_in_one_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    wanted: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "host.cu").write_text("int main() { return 0; }\n")
    try:
        assert main(words) == 2
    except SystemExit as end:
        assert end.code == 2
    assert wanted in capsys.readouterr().err
    assert not (tmp_path / "t").exists()


def test_an_unwritten_reference_must_be_mended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--folder", str(tmp_path), "--from-kernel", str(DATA / "matmul_tiled.cu")]
    assert main(["new-task", "product", *words]) == 0
    capsys.readouterr()
    assert main(["check-task", str(tmp_path / "product")]) == 1
    printed = capsys.readouterr().out
    assert (
        "must be mended" in printed and "reference.py is a draft: write what C must be" in printed
    )
    assert main(["check-task", str(tmp_path / "product"), "--json"]) == 1
    values = json.loads(capsys.readouterr().out)
    assert values["fine"] is False and values["findings"][0]["severity"] == "wrong"
