"""The doctor's look at the models that a campaign would ask."""

from pathlib import Path
from typing import Any

import pytest

from engine.cli.config_needs import find_backend, find_forecast, find_models
from engine.cli.main import main
from engine.config import parse_config
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script

KEY = "sk-of-this-test-0123456789"


def asking(base_url: str, model: str = "scripted", **changes: Any) -> dict[str, Any]:
    return {
        "task": "sgemm",
        "operators": [{"kind": "llm"}],
        "llm": {
            "base_url": base_url,
            "api_key_env": "KEY_OF_THIS_TEST",
            "models": {"main": {"model": model}},
            **changes,
        },
    }


def test_models_that_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEY_OF_THIS_TEST", KEY)
    with serving(Script(key=KEY)) as server:
        finding = find_models(parse_config(asking(server.base_url), where="test"))
    assert (finding.state, finding.found) == ("ok", "scripted answer")


@pytest.mark.parametrize(
    ("key", "model", "absent", "says"),
    [
        (None, "scripted", False, "KEY_OF_THIS_TEST, named by llm.api_key_env, is not set"),
        ("sk-wrong-987654321", "scripted", False, "refuses the key"),
        (KEY, "gpt-0", False, "has no model 'gpt-0' (it serves scripted)"),
        (KEY, "scripted", True, "nothing answers at"),
    ],
)
def test_what_is_missing_is_found_beforehand(
    key: str | None, model: str, absent: bool, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KEY_OF_THIS_TEST", raising=False)
    if key:
        monkeypatch.setenv("KEY_OF_THIS_TEST", key)
    with serving(Script(key=KEY)) as server:
        config = parse_config(asking(server.base_url, model), where="test")
        if not absent:
            finding = find_models(config)
    if absent:
        finding = find_models(config)
    assert finding.state == "broken"
    assert says in finding.todo
    assert "\n" not in finding.todo and "sk-" not in finding.todo


def test_a_campaign_without_models_needs_none() -> None:
    finding = find_models(parse_config({"task": "sgemm"}, where="test"))
    assert finding.state == "ok"


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "campaign.yaml"
    with serving(Script()) as server:
        gone = server.base_url
    path.write_text(
        f"task: sgemm\noperators: [{{kind: llm}}]\nllm: {{base_url: '{gone}', "
        "models: {main: {model: x}}}\n"
    )
    assert main(["doctor", str(path)]) == 1
    assert f"nothing answers at {gone}" in capsys.readouterr().out


def test_a_configuration_s_backend_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = find_backend(parse_config({"task": "sgemm"}, where="test"))
    assert here.state == "ok" and here.found.startswith("cpu, ")
    away = {"task": "sgemm", "backend": "cuda", "ray": {"address": "auto"}}
    assert find_backend(parse_config(away, where="test")).state == "ok"
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    (tmp_path / "it.yaml").write_text("task: sgemm\nbackend: cuda\n")
    assert main(["doctor", str(tmp_path / "it.yaml")]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == (
        f"{tmp_path / 'it.yaml'} can't run before this is mended: backend."
    )


def test_what_the_budget_will_buy_is_told_without_asking_a_model() -> None:
    config = parse_config(
        {**asking("http://127.0.0.1:1/v1"), "budgets": {"evaluations": 40}}, where="test"
    )
    finding = find_forecast(config)
    assert finding.state == "ok"
    assert finding.found.startswith("40 evaluations will take about ")
    none = find_forecast(parse_config({"task": "sgemm"}, where="test"))
    assert none.found == "no model costs anything"


def test_a_task_that_is_not_there_has_no_forecast() -> None:
    config = parse_config({**asking("http://127.0.0.1:1/v1"), "task": "nothing"}, where="test")
    finding = find_forecast(config)
    assert (finding.state, finding.found) == ("absent", "none")
    assert "no task 'nothing'" in finding.todo
