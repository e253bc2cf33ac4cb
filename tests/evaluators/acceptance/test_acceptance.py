"""The acceptance of a device: what passes, fails, dies or hangs, and the report on it."""

import io
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evaluators.acceptance import rates
from evaluators.acceptance.report import accept_device, markdown
from evaluators.acceptance.run import Acceptance, accept, default_backend
from evaluators.acceptance.sections import BUDGET_S, sections
from evaluators.acceptance.trial import Broken, Result
from evaluators.device import backend
from evaluators.device_info import BackendMissing

NAMES = [section.name for section in sections()]
# A child that answers for the trials it is given in words of their number, and then misbehaves.
BAD_CHILD = """
import json, os, sys, time
section, backend, first, file = sys.argv[1:]
def tell(state, found):
    with open(file, "a") as lines:
        print(json.dumps(dict(section=section, name="n", state=state, found=found)), file=lines)
deeds = {deeds!r}
for deed in deeds[int(first):]:
    if deed == "exit":
        sys.exit("no such attribute")
    if deed == "kill":
        os.kill(os.getpid(), 9)
    if deed == "hang":
        time.sleep(60)
    tell("FAIL" if deed == "lost" else "PASS", deed)
    if deed == "lost":
        sys.exit(3)
"""


def bad_child(*deeds: str) -> list[str]:
    return [sys.executable, "-c", BAD_CHILD.format(deeds=deeds)]


def test_sections_are_named_once_and_fit_the_budget() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert sum(section.deadline_s for section in sections()) <= BUDGET_S == 600
    for section in sections():
        names = [trial.name for trial in section.trials]
        assert names
        assert len(set(names)) == len(names)
        for trial in section.trials:
            assert trial.todo
            assert not trial.todo.endswith(".")


@pytest.mark.long
def test_the_cpu_is_accepted_for_what_does_not_depend_on_its_speed(tmp_path: Path) -> None:
    out, said = tmp_path / "new" / "report.md", io.StringIO()
    code = accept_device("cpu", out, said, only=["device", "mfma", "faults"])
    text = out.read_text()
    assert code == 0, text
    assert text.startswith("# Device acceptance: cpu, accepted")
    assert "## What failed" not in text
    assert "SIGSEGV" in text
    assert "gfx942 | SKIPPED" not in text
    assert "| f32_32x32x16_fp8_fp8 | SKIPPED |" in text
    assert "| ray | 2.60" in text
    assert "PASS     device: device: " in said.getvalue()
    assert f"cpu: accepted; the report is {out}" in said.getvalue()


def test_deaths_are_reported_and_the_rest_goes_on() -> None:
    found = accept("cpu", only=["rates"], child=bad_child("one", "exit", "three")).results
    assert [result.state for result in found] == ["PASS", "FAIL", "PASS"]
    assert found[1].found == "its process ended with status 1: no such attribute"
    assert found[1].name == "copy bandwidth"
    assert found[1].todo
    assert found[2].found == "three"


def test_a_lost_device_gets_a_new_process() -> None:
    found = accept("cpu", only=["rates"], child=bad_child("one", "lost", "kill")).results
    assert [result.found for result in found[:2]] == ["one", "lost"]
    assert found[2].found.startswith("its process ended with SIGKILL")


def test_a_hang_ends_with_the_time() -> None:
    child = bad_child("one", "hang", "three")
    acceptance = accept("cpu", only=["rates", "faults"], child=child, budget_s=1.25)
    states = [result.state for result in acceptance.results]
    assert states == ["PASS", "FAIL", *["SKIPPED"] * 4]
    assert "had not ended" in acceptance.results[1].found
    assert "no time was left" in acceptance.results[2].found
    assert not acceptance.accepted


def test_a_report_says_first_what_to_do() -> None:
    results = (
        Result(section="rates", name="copy bandwidth", state="FAIL", found="1 | 2", todo="see it"),
        Result(section="device", name="device", state="PASS", found="8 × MI300X"),
    )
    acceptance = Acceptance(backend="hip", results=results, seconds=12.3)
    when = datetime(2026, 11, 21, 12, 5, tzinfo=UTC)
    text = markdown(acceptance, {"ray": "2.60.0"}, when=when)
    assert text.startswith("# Device acceptance: hip, NOT accepted")
    assert "1 passed, 1 failed, 0 skipped, in 12 s, 2026-11-21 12:05 UTC." in text
    assert "- **rates: copy bandwidth**: 1 \\| 2\n  - To do: see it." in text
    assert text.index("To do") < text.index("## The device")
    for row in text.splitlines():
        if row.startswith("|"):
            assert row.endswith("|")


def test_nothing_at_all_is_not_accepted() -> None:
    assert not Acceptance(backend="cpu", results=(), seconds=0.0).accepted


def test_a_backend_without_devices_is_one_sentence() -> None:
    for name in ("cuda", "hip"):
        if backend(name).device_count() == 0:
            with pytest.raises(BackendMissing):
                accept(name)
    with pytest.raises(ValueError, match="no section nonsense"):
        accept("cpu", only=["nonsense"])
    assert backend(default_backend()).device_count() > 0


@pytest.mark.parametrize(
    ("rate", "peak", "said"),
    [
        (3e12, 5.3e12, "at least 60% should be reached"),
        (5.9e12, 5.3e12, "which can't be"),
    ],
)
def test_rates_that_cannot_be(rate: float, peak: float, said: str) -> None:
    with pytest.raises(Broken, match=said):
        rates.judged(rate, peak, "B/s", least=0.6, most=1.05)


def test_rates_in_words() -> None:
    found = rates.judged(4.3e12, 5.3e12, "B/s", least=0.6, most=1.05)
    assert found == "4.3 TB/s, 81% of the peak of 5.3 TB/s"
    assert "no table knows a peak" in rates.judged(4.3e9, None, "B/s", least=0.6, most=1.05)
