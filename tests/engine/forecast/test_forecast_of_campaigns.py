"""Forecasts beside what came: campaigns that ask the scripted endpoint."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.cli.progress import PlainLines, table
from engine.config import CampaignConfig, parse_config
from engine.forecast.records import record_of
from engine.snapshot import Snapshot
from engine.store.kinds.sessions import ForecastMade
from engine.store.replay import replay
from engine.store.store import read_events
from scripts.scripted_model.answers import asking
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script, ScriptedServer
from tests.engine.quick_bench import quick_workbench

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("in_this_process")]


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with serving(Script(latency_s=0.01)) as one:
        yield one


def config(folder: Path, server: ScriptedServer, name: str, **budgets: Any) -> CampaignConfig:
    model = {
        "model": "scripted",
        "max_tokens": 2000,
        "dollars_per_million_prompt": 1.0,
        "dollars_per_million_completion": 4.0,
    }
    values = {
        "task": "sgemm",
        "name": name,
        "runs_dir": str(folder),
        "tracking": "none",
        "budgets": {"tuning": 0, **budgets},
        "operators": [{"kind": "llm", "mutation": 0, "crossover": 2}],
        "islands": {"count": 2, "patience": 1000},
        "final": {"seconds": 0},
        "llm": {"base_url": server.base_url, "models": {"main": model}, "novelty": None},
    }
    return parse_config(values, where="test")


def forecasts(run_dir: Path) -> list[ForecastMade]:
    events = (stored.event for stored in read_events(run_dir / "store.sqlite"))
    return [event for event in events if isinstance(event, ForecastMade)]


def assert_holds(forecast: tuple[float, float, float], came: float) -> None:
    """forecast: (likely, low, high)."""
    _, low, high = forecast
    assert low <= came <= high


@pytest.mark.soak
def test_the_forecast_holds_what_came(tmp_path: Path, server: ScriptedServer) -> None:
    lines: list[str] = []
    seen: list[Snapshot] = []
    plain = PlainLines(lines.append)

    def observe(snapshot: Snapshot) -> None:
        seen.append(snapshot)
        plain(snapshot)

    first = run_campaign(
        config(tmp_path, server, "first", evaluations=60),
        observer=observe,
        workbench=quick_workbench(),
    )
    [told] = forecasts(tmp_path / "first")
    assert told.first == "evaluations" and told.evaluations[0] == 60
    assert first.calls is not None and told.dollars is not None
    for forecast, came in (
        (told.calls, first.calls.calls),
        (told.tokens, first.calls.tokens),
        (told.dollars, first.calls.dollars),
    ):
        assert_holds(forecast, came)
    # It is said once, before the first call, and shown on a terminal and in the report.
    [line] = [one for one in lines if one.startswith("forecast: ")]
    assert line == f"forecast: {told.text}"
    calls = [one.calls.calls for one in seen if one.forecast and one.calls]
    assert calls and lines.index(line) < next(i for i, one in enumerate(lines) if "models:" in one)
    cells = [str(cell) for cell in table(seen[-1]).columns[0].cells]
    assert "forecast" in cells
    assert told.text in (tmp_path / "first" / "report.html").read_text()

    # The next campaign goes by this one.
    second = run_campaign(
        config(tmp_path, server, "second", evaluations=400, dollars=0.5 * first.calls.dollars),
        workbench=quick_workbench(),
    )
    [better] = forecasts(tmp_path / "second")
    assert better.text.endswith("by what first took")
    assert better.first == "dollars"
    assert_holds(better.evaluations, second.evaluations["total"])
    assert second.calls is not None
    assert second.calls.dollars <= 0.5 * first.calls.dollars


@pytest.fixture
def asking_server() -> Iterator[ScriptedServer]:
    with serving(Script(latency_s=0.01, rule=asking, unique=True)) as one:
        yield one


@pytest.mark.soak
def test_probes_and_their_retries_are_forecast(
    tmp_path: Path, asking_server: ScriptedServer
) -> None:
    """Two models, whose writers credit chooses from; then the same once more, by what came."""
    names = ("first", "second")
    for name in names:
        plain = config(tmp_path, asking_server, name, evaluations=30)
        values = plain.model_dump(mode="json")
        model = values["llm"]["models"]["main"]
        dear = {**model, "dollars_per_million_completion": 16.0}
        values["llm"] |= {"models": {"main": model, "dear": dear}}
        values["llm"]["roles"] = {"writer": ["main", "dear"]}
        values["probes"] = {"most": 6}
        summary = run_campaign(parse_config(values, where="test"), workbench=quick_workbench())
        [told] = forecasts(tmp_path / name)
        assert summary.calls is not None and told.dollars is not None
        assert_holds(told.calls, summary.calls.calls)
        assert_holds(told.tokens, summary.calls.tokens)
        assert_holds(told.dollars, summary.calls.dollars)
        assert re.search(r"of the calls writer \d+, .*prober \d", told.text)
    record = record_of(tmp_path / "first" / "store.sqlite")
    assert record is not None and record.probing == 1.0
    assert record.calls["prober"] * record.evaluations == pytest.approx(6)
    assert ("prober", "scripted") in record.sizes


@pytest.mark.soak
def test_a_resumption_forecasts_what_is_left_by_its_own_calls(
    tmp_path: Path, server: ScriptedServer
) -> None:
    run_campaign(config(tmp_path, server, "it", evaluations=30), workbench=quick_workbench())
    run_dir = tmp_path / "it"
    resume_campaign(run_dir, budgets={"evaluations": 50}, workbench=quick_workbench())
    before, after = forecasts(run_dir)
    assert before.number == 0 and before.evaluations[0] == 30
    assert after.number == 1 and after.evaluations[0] == 20
    assert after.text.endswith("by what it took")
    assert [one.text for one in replay(run_dir / "store.sqlite").forecasts] == [
        before.text,
        after.text,
    ]
