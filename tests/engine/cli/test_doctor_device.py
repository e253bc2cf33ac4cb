"""`kernel-scientist doctor --device` on the command line."""

from pathlib import Path

import pytest

from engine.cli.main import main
from engine.cli.parser import SECTION_NAMES
from evaluators.acceptance.sections import sections


def test_the_parser_knows_every_section() -> None:
    assert tuple(section.name for section in sections()) == SECTION_NAMES


def test_it_writes_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "report.md"
    options = ["--device", "--backend", "cpu", "--section", "device", "--out", str(out)]
    assert main(["doctor", *options]) == 0
    assert out.read_text().startswith("# Device acceptance: cpu, accepted")
    assert f"cpu: accepted; the report is {out}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--device", "--json"], "leave out --json and CONFIG"),
        (
            ["--out", "report.md"],
            "--backend, --section, --out and --emulate go with doctor --device",
        ),
        (["--device", "--backend", "cpu", "--out", "/proc/no/report.md"], "can't be written"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", *options]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
