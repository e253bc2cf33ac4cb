"""The file: what is written is read again, a person's edits are seen, bad files say what is bad."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.findings.book import distilled
from engine.findings.file import edits_of, findings_text
from engine.findings.reader import FindingsError, read_findings
from evaluators.evaluation import Status
from operators.finding import Finding
from tests.engine.findings.records import HERE, failed, made, record

WIN = [made("tiles", number, gain) for number, gain in enumerate((2.0, 2.1, 2.2))]
BACK = [made("wide", number, 0.5) for number in range(3)]
BROKEN = [failed("lambda", n, Status.UNSUPPORTED, "a barrier: in a 'lambda' #1") for n in range(3)]
FOUND = distilled(record(*WIN, *BACK, *BROKEN))


def text(findings: tuple[Finding, ...] = FOUND, number: int = 1) -> str:
    return findings_text(
        findings, campaign="it", evaluations=40, condition=HERE, distillation=number
    )


def write(folder: Path, said: str) -> Path:
    path = folder / "findings.yaml"
    path.write_text(said)
    return path


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    fallen = replace(FOUND[0], id="f", fallen="fell at evaluation 40: no", standing=0.0)
    other = replace(FOUND[1], id="o", condition=replace(HERE, task_hash="x", shapes=("M=1",)))
    brought = replace(FOUND[0], id="b", origin="elsewhere", by="model")
    findings = (*FOUND, other, brought, fallen)
    told = read_findings(write(tmp_path, text(findings)))
    assert (told.campaign, told.distillation, told.evaluations) == ("it", 1, 40)
    assert told.condition == HERE
    rounded = {one.id: replace(one, ratio=_rounded(one)) for one in findings}
    assert {one.id: one for one in told.findings} == rounded


def _rounded(one: Finding) -> tuple[float, float, float] | None:
    if one.ratio is None:
        return None
    estimate, low, high = (float(f"{value:.4g}") for value in one.ratio)
    return estimate, low, high


def test_it_says_at_its_head_what_it_is_and_that_it_may_be_edited() -> None:
    head = [line for line in text().splitlines() if line.startswith("#")]
    assert "What the campaign it found" in head[0]
    assert any("it may be edited" in line for line in head)


def test_an_untouched_file_holds_no_edits(tmp_path: Path) -> None:
    path = write(tmp_path, text())
    edits = edits_of(path, {1: FOUND})
    assert not edits.kept and not edits.dropped
    assert edits.applied(FOUND) == FOUND
    assert edits_of(tmp_path / "nowhere.yaml", {1: FOUND}) == edits


def test_what_a_person_changes_adds_or_takes_out_is_seen(tmp_path: Path) -> None:
    first, *_, last = FOUND
    said = text().replace(f"rule: {first.rule}", "rule: Tiles, always", 1)
    said = said.replace("traps:\n", "traps:\n- rule: Leave the edges alone\n", 1)
    start = said.index(f"- id: {last.id}")
    end = said.find("\n- ", start + 1)
    end = said.index("\nfallen:", start) if end < 0 else end
    edits = edits_of(write(tmp_path, said[:start] + said[end + 1 :]), {1: FOUND})
    assert {one.rule: one.by for one in edits.kept} == {
        "Tiles, always": "person",
        "Leave the edges alone": "person",
    }
    assert edits.dropped == (last.id,)
    after = edits.applied(FOUND)
    assert last.id not in {one.id for one in after} and len(after) == len(FOUND)


def test_without_the_distillation_s_number_no_rule_becomes_a_person_s(tmp_path: Path) -> None:
    said = text(FOUND[1:]).replace("distillation: 1\n", "")
    edits = edits_of(write(tmp_path, said), {1: FOUND[:1], 2: FOUND})
    assert not edits.kept and not edits.dropped


def test_a_file_of_an_earlier_distillation_drops_nothing_that_came_later(tmp_path: Path) -> None:
    path = write(tmp_path, text(FOUND[:1], number=1))
    edits = edits_of(path, {1: FOUND[:1], 2: FOUND})
    assert not edits.kept and not edits.dropped


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("wins: [", ", line 2: not YAML"),
        ("- a list\n", "a mapping with the lists wins and traps"),
        ("wins:\n- ruel: x\n", "wins.0.ruel is not a known key"),
        ("wins:\n- rule: x\n  ratio: [2, 3, 1]\n", "ratio must be [estimate, low, high]"),
        ("wins:\n- rule: x\n  by: nobody\n", "wins.0.by"),
        ("wins: 3\n", "wins"),
        ("a: &b c\n", "aliases are not allowed|anchors|not a known key"),
        ("campaign: it\nwins:\n- rule: x\n  ratio: [2, .nan, 3]\n", ", line 4: wins.0.ratio.1: "),
        ("wins:\n- rule: x\n  ratio: [.inf, 1, .inf]\n", "wins.0.ratio.0: write a finite number"),
        ("wins:\n- rule: x\n  ratio: [2, 1.0e-300, 3]\n", "each above 0"),
        ("wins:\n- rule: ' '\n", ", line 2: wins.0.rule: write the rule"),
        (f"wins:\n- rule: {'x ' * 5000}\n", "a rule has at most 2000 characters"),
        ("wins:\n- {rule: x, id: a}\n- {rule: y, id: a}\n", ", line 3: this id a stands twice"),
        ("wins:\n- rule: x\n\n- rule: X\n", ", line 4: this rule stands twice"),
        ("wins: {rule: x}\n", ", line 1: wins: write a list"),
        ("wins:\n- rule: 5\n", "wins.0.rule: write text"),
        ("wins:\n" + "".join(f"- rule: r{n}\n" for n in range(2001)), "has 2001 rules"),
    ],
)
def test_a_broken_file_is_a_sentence_with_its_name(tmp_path: Path, said: str, why: str) -> None:
    path = write(tmp_path, said)
    with pytest.raises(FindingsError) as raised:
        read_findings(path)
    message = str(raised.value)
    assert message.startswith(str(path)) and "\n" not in message
    assert len(message) < len(str(path)) + 400
    assert any(one in message for one in why.split("|")), message


def test_a_large_campaign_s_file_is_read_again(tmp_path: Path) -> None:
    """A rule may be shown by hundreds of kernels."""
    kernels = tuple(f"{n:016x}" for n in range(300))
    many = tuple(
        replace(FOUND[0], id=f"{n:08x}", rule=f"rule {n}", shown_by=kernels) for n in range(100)
    )
    path = write(tmp_path, text(many))
    assert path.stat().st_size > 300_000
    assert len(read_findings(path).findings) == 100


def test_what_would_move_a_terminal_s_cursor_is_written_by_its_code(tmp_path: Path) -> None:
    escape = r'"a\e[2J\nb"'
    said = (
        f"campaign: {escape}\nwins:\n- rule: {escape}\n  origin: {escape}\n"
        f"  shown_by: [{escape}]\n  condition: {{task: {escape}, shapes: [{escape}]}}\n"
    )
    told = read_findings(write(tmp_path, said))
    (one,) = told.findings
    texts = (told.campaign, one.rule, one.origin, *one.shown_by, one.condition.task)
    assert {*texts, *one.condition.shapes} == {r"a\x1b[2J b"}
    again = findings_text(
        (replace(one, rule="a\x1b[2J b"),), campaign="x\nwins: []", evaluations=1, condition=HERE
    )
    path = write(tmp_path, again)
    assert edits_of(path, {-1: [replace(one, rule="a\x1b[2J b")]}).kept == ()
    assert read_findings(path).findings[0].rule == one.rule


def test_a_file_that_is_no_text_is_a_sentence_too(tmp_path: Path) -> None:
    path = tmp_path / "findings.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FindingsError, match="is not UTF-8"):
        read_findings(path)
    with pytest.raises(FindingsError, match="can't be read"):
        read_findings(tmp_path / "none.yaml")
