"""What people read and compare in MLflow: parameters, and the description of a campaign."""

from dataclasses import replace
from pathlib import Path

import pytest

from engine.config import parse_config
from engine.store.events import Drafted
from engine.store.replay import replay
from engine.tracking.description import CHARACTERS, description, plain
from engine.tracking.files import RunFiles
from engine.tracking.parameters import canonical, parameters
from engine.tracking.samples import shape_name
from tests.engine import campaign_log as log

LLM = {
    "task": "/somewhere/mine",
    "operators": [{"kind": "llm"}, {"kind": "catalog"}],
    "llm": {
        "base_url": "http://secret.example:1/v1",
        "api_key_env": "KEY",
        "models": {"main": {"model": "large", "base_url": "http://other.example:2/v1"}},
    },
}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (None, "none"),
        (30.0, "30"),
        (0.995, "0.995"),
        (1e-9, "1e-09"),
        ([0, 2], "0,2"),
        ([], "none"),
        ("ring", "ring"),
    ],
)
def test_values_have_one_form(value: object, text: str) -> None:
    assert canonical(value) == text


def test_parameters_name_no_place() -> None:
    params = parameters(parse_config(LLM, where="test"))
    assert params["task"] == "mine" and params["llm.models.main.model"] == "large"
    assert (params["operators.0.kind"], params["operators.1.kind"]) == ("llm", "catalog")
    assert params["llm.timeout_s"] == "1800" and params["llm.models.main.stream"] == "true"
    assert not [value for value in params.values() if "example" in value or "/" in value]
    assert "operators.kind" in parameters(parse_config({"task": "sgemm"}, where="test"))


def test_a_shape_is_a_metrics_name() -> None:
    assert shape_name("M=256 N=256 K=-1") == "M256 N256 K-1"
    assert shape_name("a/b(é)") == "a_b___"


def test_what_a_model_wrote_is_no_markdown_in_a_description(tmp_path: Path) -> None:
    nasty = "<script>alert(1)</script> [x](javascript:1) **bold** | `code`\n# title"
    events = [
        replace(event, experiment=replace(event.experiment, technique=nasty))
        if isinstance(event, Drafted) and event.experiment
        else event
        for event in (*log.opening(log.config(tmp_path)), *log.middle(), *log.ending())
    ]
    log.write(tmp_path / "short" / "store.sqlite", events)
    whole = replay(tmp_path / "short" / "store.sqlite")
    note = description(whole, tmp_path / "short", state="ended", experiment="1")
    assert "<script" not in note and "[x](" not in note and "**bold**" not in note
    assert r"\[x\]\(javascript:1\)" in note and r"\# title" in note
    assert plain("a\n\n# b") == r"a \# b"


def test_a_long_history_stays_within_what_mlflow_takes(tmp_path: Path) -> None:
    steps = [f"k{number}" for number in range(60)]
    chain = [
        event
        for number, name in enumerate(steps)
        for event in log.step(0, number + 1, name, ([*steps, "seed"])[number - 1], 1.1 + number)
    ]
    log.write(tmp_path / "short" / "store.sqlite", [*log.opening(log.config(tmp_path)), *chain])
    whole = replay(tmp_path / "short" / "store.sqlite")
    note = description(whole, tmp_path / "short", state="running", experiment="1")
    assert len(note) < CHARACTERS + 2 and "49 earlier steps are in `lineage.txt`" in note
    assert "kernel-scientist resume" in note and "(running)" in note


def test_a_file_is_shown_again_when_it_has_changed(tmp_path: Path) -> None:
    files = RunFiles(tmp_path)
    assert list(files.changed()) == []
    report = tmp_path / "report.html"
    report.write_text("one")
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "best.svg").write_text("<svg/>")
    expected = [(report, None), (tmp_path / "plots" / "best.svg", "plots")]
    assert list(files.changed()) == expected
    assert list(files.changed()) == []
    report.write_text("another")
    assert list(files.changed()) == expected[:1]
    report.write_text("a third one")
    changed = iter(files.changed())
    next(changed)
    del changed  # the server was away before the next was asked for
    assert list(files.changed()) == expected[:1]
