"""What is brought along: only what holds here is used, and what is not says why."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.findings.file import findings_text
from engine.findings.imports import bring
from engine.findings.reader import FindingsError
from operators.finding import About, Condition, Finding, lines
from tests.engine.findings.records import HERE

RULE = Finding(
    id="a",
    kind="win",
    rule="tiles on a kernel without it",
    about=About(technique="tiles"),
    condition=HERE,
    ratio=(2.0, 1.9, 2.1),
    shown_by=("k",),
)


def file(folder: Path, *findings: Finding, condition: Condition = HERE) -> Path:
    path = folder / "first.yaml"
    text = findings_text(findings, campaign="first", evaluations=40, condition=condition)
    path.write_text(text)
    return path


def test_the_same_task_on_the_same_class_of_device_is_used(tmp_path: Path) -> None:
    found = bring([file(tmp_path, RULE)], HERE)
    assert found.findings == (replace(RULE, origin="first"),) and not found.refused
    assert "found by first" in lines(found.findings, HERE.task_hash)[0]


def test_another_class_of_device_is_refused_with_a_sentence(tmp_path: Path) -> None:
    there = replace(HERE, device_class="cuda/H200")
    path = file(tmp_path, replace(RULE, condition=there), condition=there)
    found = bring([path], HERE)
    assert found.findings == ()
    assert found.refused == (
        f"1 finding of {path} is for device class cuda/H200, and this campaign measures on "
        f"{HERE.device_class}: not used",
    )


def test_other_shapes_of_the_same_task_are_used_and_said_to_be_so(tmp_path: Path) -> None:
    there = replace(HERE, task_hash="another")
    found = bring([file(tmp_path, replace(RULE, condition=there))], HERE)
    assert "from other shapes" in lines(found.findings, HERE.task_hash)[0]


def test_another_task_is_refused_and_a_rule_of_no_task_is_used(tmp_path: Path) -> None:
    other = replace(RULE, id="o", condition=replace(HERE, task="softmax", task_hash="s"))
    free = replace(RULE, id="f", condition=replace(HERE, task="", task_hash=""))
    found = bring([file(tmp_path, other, free)], HERE)
    assert [one.id for one in found.findings] == ["f"]
    (why,) = found.refused
    assert "is for the task softmax, and this campaign's is sgemm: not used" in why


def test_what_fell_is_not_brought_along_and_nothing_is_said_to_be_nothing(tmp_path: Path) -> None:
    fallen = replace(RULE, fallen="fell at evaluation 9: no")
    assert bring([file(tmp_path, fallen)], HERE).findings == ()
    (why,) = bring([file(tmp_path)], HERE).refused
    assert why.endswith("holds no findings")


def test_a_folder_without_a_campaign_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FindingsError, match=r"neither findings\.yaml nor store\.sqlite"):
        bring([tmp_path], HERE)


def test_a_rule_of_these_shapes_goes_before_the_same_of_others(tmp_path: Path) -> None:
    there = replace(RULE, condition=replace(HERE, task_hash="another"), ratio=(3.0, 2.9, 3.1))
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    sources = [file(folders[0], there), file(folders[1], RULE)]
    for order in (sources, sources[::-1]):
        assert [one.ratio for one in bring(order, HERE).findings] == [RULE.ratio]


def test_a_rule_of_no_device_says_what_to_write(tmp_path: Path) -> None:
    path = tmp_path / "notes.yaml"
    path.write_text("wins:\n- rule: Never transpose b\n")
    (why,) = bring([path], HERE).refused
    written = f"condition: {{device_class: {HERE.device_class}}}"
    assert f"is for no device (write '{written}' at the file's head" in why
    path.write_text(f"{written}\nwins:\n- rule: Never transpose b\n")
    assert [one.rule for one in bring([path], HERE).findings] == ["Never transpose b"]
