"""kernel-scientist export: a file and a sentence, or a sentence that says what to do."""

from pathlib import Path

import pytest

from engine.cli.main import main
from engine.store.kinds.sessions import CampaignStarted
from engine.store.run_folder import begin_store
from evaluators.tasks.task_file import load_task

NAIVE = load_task("softmax").naive


def test_a_file_becomes_a_header(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my.hip").write_text(NAIVE)
    out = tmp_path / "my.hpp"
    words = ["export", str(tmp_path / "my.hip"), "--task", "softmax", "--out", str(out)]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert str(out) in printed and "--offload-arch=gfx942" in printed
    assert "Status launch(" in out.read_text()


def test_a_campaigns_folder_knows_its_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = tmp_path / "run"
    begin_store(run, CampaignStarted(config={"task": "softmax"}, task_hash="", baseline_id=""))
    (run / "best.hip").write_text(NAIVE)
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(run)]) == 0
    (header,) = tmp_path.glob("softmax_*.hpp")
    assert "namespace softmax_" in header.read_text()


def test_a_file_becomes_a_submission(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "my.hip").write_text(load_task("fp8_gemm").naive)
    monkeypatch.chdir(tmp_path)
    assert main(["export", "my.hip", "--task", "fp8_gemm", "--form", "submission"]) == 0
    printed = capsys.readouterr().out
    assert "--gpu MI300 --leaderboard amd-fp8-mm --mode leaderboard submission.py" in printed
    assert "we have never entered one" in printed
    assert "def custom_kernel(data):" in (tmp_path / "submission.py").read_text()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["there.hip"], "name the task by --task"),
        (["missing.hip", "--task", "softmax"], "missing.hip: the kernel file can't be read"),
        (["bad.hip", "--task", "softmax"], "bad.hip: INVALID"),
        (["there.hip", "--task", "softmax", "--out", "no/where.hpp"], "no/where.hpp can't be"),
        (
            ["there.hip", "--task", "softmax", "--form", "submission"],
            "the task softmax has no submission.py",
        ),
        (["latin.hip", "--task", "softmax"], "it is not UTF-8"),
    ],
)
def test_what_can_not_be_exported_is_told(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    wanted: str,
) -> None:
    (tmp_path / "there.hip").write_text(NAIVE)
    (tmp_path / "bad.hip").write_text("__global__ void f() {}")
    (tmp_path / "latin.hip").write_bytes(b"/*--- \xe9 ---*/")
    monkeypatch.chdir(tmp_path)
    assert main(["export", *words]) == 2
    assert wanted in capsys.readouterr().err
