"""kernel-scientist probe: one file by hand, the shipped set, and what can't be asked."""

import json
from pathlib import Path

import pytest

from engine.cli import main as cli
from evaluators.cxx import CACHE_VARIABLE
from tests.evaluators.probes.files import ADD, probe_text


def test_a_probe_file_is_answered(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "add.hip"
    file.write_text(probe_text(more="  show: {out: 3}\n"))
    assert cli.main(["probe", str(file), "--backend", "cpu", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["status"] == "PASSED"
    assert answer["sentences"][0].endswith("out begins with 2, 3, 4.")
    assert cli.main(["probe", str(file), "--backend", "cpu"]) == 0
    first, second, *_ = capsys.readouterr().out.splitlines()
    assert first == answer["question"]
    assert second.startswith("  N = 64: ")


def test_one_that_does_not_compile_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "add.hip"
    file.write_text(probe_text(code=ADD.replace("2.0f", "no_such_builtin()")))
    assert cli.main(["probe", str(file), "--backend", "cpu"]) == 1
    said = capsys.readouterr().out
    assert "  COMPILE_ERROR  " in said
    assert "no_such_builtin" in said


@pytest.mark.soak
def test_the_shipped_set_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path))
    asked = ["probe", "--shipped", "--backend", "cpu", "--json"]
    answers = []
    for more in ([], [], ["--anew"]):
        assert cli.main([*asked, *more]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    first, again, anew = answers
    assert first == again
    assert [one["probe_id"] for one in anew] == [one["probe_id"] for one in first]
    assert [one["seconds"] for one in anew] != [one["seconds"] for one in first]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--backend", "cpu"], "name a probe file, or give --shipped for the shipped set"),
        (["a.hip", "--shipped", "--backend", "cpu"], "name a probe file, or give --shipped"),
        (["a.hip", "--anew", "--backend", "cpu"], "--anew goes with --shipped"),
        (["nowhere.hip", "--backend", "cpu"], "nowhere.hip: the kernel file can't be read"),
    ],
)
def test_what_cannot_be_asked(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["probe", *arguments]) == 2
    assert said in capsys.readouterr().err
