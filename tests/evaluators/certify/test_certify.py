"""A certificate says what was found, can be repeated, and holds only for what it was made of."""

import io
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path

import pytest

from engine.cli.main import main
from evaluators.certify.certificate import Certificate, CertificateError
from evaluators.certify.certify import Refused, certify
from evaluators.certify.page import page
from evaluators.certify.repeat import holds, repeat
from evaluators.evaluation import Beside
from evaluators.tasks.task_file import load_task
from tests.evaluators.small_task import kernel, write_task

SECONDS = 1.0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_task(tmp_path_factory.mktemp("certify") / "small")


@pytest.fixture(scope="module")
def certificate(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """As the command line makes it."""
    file, out = folder / "mine.hip", tmp_path_factory.mktemp("out")
    file.write_text(kernel(before="\n    // the same, in a file of its own"))
    words = ["certify", str(file), "--task", str(folder), "--seconds", str(SECONDS)]
    with redirect_stdout(io.StringIO()) as said:
        assert main([*words, "--out", str(out)]) == 0
    assert "CERTIFIED" in said.getvalue()
    return Certificate.read(out / "certificate.json")


@pytest.mark.soak
def test_it_tells_what_was_checked_and_measured(certificate: Certificate) -> None:
    suites = [(check.round, check.suite) for check in certificate.checks]
    assert len(suites) == len(set(suites)) >= 6
    assert all(check.worst <= 1.0 for check in certificate.checks)
    low, high = certificate.comparison.ci95
    assert low <= certificate.comparison.speedup <= high
    assert certificate.comparison.sittings >= 3
    assert certificate.fingerprint.device and certificate.fingerprint.versions


def test_it_is_read_as_it_was_written(certificate: Certificate, tmp_path: Path) -> None:
    certificate.write(tmp_path / "certificate.json")
    again = Certificate.read(tmp_path / "certificate.json")
    assert again.source == certificate.source
    assert again.checks == certificate.checks
    assert again.comparison.ci95 == certificate.comparison.ci95


def test_a_person_can_read_it(certificate: Certificate) -> None:
    text = page(certificate)
    assert f"{certificate.comparison.speedup:.2f} times as fast" in text
    assert certificate.source.strip() in text
    assert "certify --verify" in text


@pytest.mark.soak
def test_the_command_line_repeats_an_honest_one(
    certificate: Certificate, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "certificate.json"
    wide = replace(certificate.comparison, ci95=(0.01, 100.0))
    replace(certificate, comparison=wide).write(path)
    assert main(["certify", "--verify", str(path), "--task", str(folder)]) == 0
    assert "the certificate holds" in capsys.readouterr().out


def test_a_speedup_that_was_made_up_does_not_hold(certificate: Certificate, folder: Path) -> None:
    made_up = replace(certificate.comparison, speedup=50.0, ci95=(49.0, 51.0))
    claims = repeat(replace(certificate, comparison=made_up), load_task(folder))
    (speed,) = (claim for claim in claims if "speedup" in claim.what)
    assert speed.holds is False
    assert not holds(claims)


def test_a_kernel_put_in_afterwards_does_not_hold(certificate: Certificate, folder: Path) -> None:
    wrong = replace(certificate, source=kernel(after="if (i == 3) y[i] = 7.0f;"))
    claims = repeat(wrong, load_task(folder))
    assert not holds(claims)
    assert any("WRONG" in claim.now for claim in claims)


def test_another_task_of_that_name_does_not_hold(certificate: Certificate, tmp_path: Path) -> None:
    other = load_task(write_task(tmp_path / "small", flops="2 * N"))
    assert not holds(repeat(certificate, other))


def test_a_wrong_kernel_gets_none(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "wrong.hip"
    file.write_text(kernel(after="if (i == 3) y[i] = 7.0f;"))
    with pytest.raises(Refused, match="WRONG"):
        certify(file, load_task(folder), "cpu", seconds=SECONDS)


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"format": 7}', "\x00"])
def test_what_is_no_certificate_is_told(tmp_path: Path, text: str) -> None:
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(CertificateError, match=r"c\.json: this is no certificate"):
        Certificate.read(tmp_path / "c.json")


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], "needs a kernel file"),
        (["no.hip", "--task", "sgemm"], "no.hip: no such file"),
        (["--verify", "no.json"], "no.json: the certificate can't be read"),
        (["no.hip", "--verify", "no.json"], "name no other"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(
    words: list[str], wanted: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["certify", *words]) == 2
    assert wanted in capsys.readouterr().err


def test_baselines_and_weights_stand_on_it(certificate: Certificate, tmp_path: Path) -> None:
    beside = {
        "torch": Beside(ratio=(1.42, 1.38, 1.46)),
        "lib": Beside(refused="was not measured: it is not here"),
    }
    found = replace(
        certificate.comparison,
        speedup=3.1,
        ci95=(3.0, 3.2),
        baselines=beside,
        weights=dict.fromkeys(certificate.comparison.times_us, 2.0),
        whole=2.5,
    )
    replace(certificate, comparison=found).write(tmp_path / "certificate.json")
    again = Certificate.read(tmp_path / "certificate.json")
    assert again.comparison.baselines == beside and again.comparison.whole == 2.5
    text = page(again)
    assert "**1.42x over torch, the fastest of 2 baselines of small**" in text
    assert "3.10 times as fast as the naive seed (95% interval 3.00 to 3.20)" in text
    assert "Weighted geometric mean over 2 benchmark shapes" in text
    assert "The whole, weighted by calls: 2.50x." in text
    assert "- baseline lib was not measured: it is not here" in text
