"""kernel-scientist findings: what campaigns found, merged, and what contradicts."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.main import main
from engine.findings.file import findings_text
from engine.findings.merge import Merged
from engine.findings.reader import read_findings
from operators.finding import About, Finding
from tests.engine import campaign_log as log
from tests.engine.findings.records import HERE

WIN = Finding(
    id="w",
    kind="win",
    rule="tiles on a kernel without it",
    about=About(technique="tiles"),
    condition=HERE,
    ratio=(2.0, 1.9, 2.1),
    shown_by=("a", "b"),
)


def campaign(folder: Path, name: str, *findings: Finding) -> Path:
    run = folder / name
    run.mkdir()
    text = findings_text(findings, campaign=name, evaluations=40, condition=HERE)
    (run / "findings.yaml").write_text(text)
    return run


def test_two_campaigns_are_merged_printed_and_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = campaign(tmp_path, "one", WIN)
    two = campaign(tmp_path, "two", replace(WIN, shown_by=("c",)))
    out = tmp_path / "both.yaml"
    assert main(["findings", str(one), str(two), "--out", str(out)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("2 campaigns: one, two\n")
    assert "  wins\n    tiles on a kernel without it: 2x (" in said
    assert "shown by 3 kernels [one, two]" in said and f"wrote {out}" in said
    (found,) = read_findings(out).findings
    assert found.origin == "one, two" and found.condition == HERE


def test_what_contradicts_is_told_and_json_holds_it_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = campaign(tmp_path, "one", WIN)
    two = campaign(tmp_path, "two", replace(WIN, id="t", kind="trap", ratio=(0.5, 0.45, 0.55)))
    assert main(["findings", str(one), str(two)]) == 0
    assert "what contradicts\n  tiles on a kernel without it: it is a win in one" in (
        capsys.readouterr().out
    )
    assert main(["findings", str(one), str(two), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said.keys() == set(Merged.__dataclass_fields__)
    assert len(said["contradictions"]) == 1 and said["findings"] == []


def test_a_campaign_without_the_file_is_distilled_from_its_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    events = [*log.opening(log.config(tmp_path)), *log.middle()]
    log.write(tmp_path / "short" / "store.sqlite", events)
    assert main(["findings", str(tmp_path / "short")]) == 0
    said = capsys.readouterr().out
    assert "make tile on a kernel without it" in said and "[short]" in said


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["nowhere"], "nowhere can't be read"),
        (["."], "holds neither findings.yaml nor store.sqlite"),
        (["broken.yaml"], "broken.yaml, line"),
    ],
)
def test_what_can_t_be_read_is_a_sentence(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    why: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.yaml").write_text("wins: [\n")
    assert main(["findings", *words]) == 2
    assert why in capsys.readouterr().err
