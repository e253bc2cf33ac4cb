"""A campaign whose models send nonsense: it tries what there is, tells a person, and ends."""

from pathlib import Path

import pytest

from engine.campaign import run_campaign
from engine.cli.progress import PlainLines
from engine.config import parse_config
from engine.store.events import CycleFinished
from engine.store.kinds.calls import CallReserved
from engine.store.store import read_events
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.engine.quick_bench import quick_workbench


@pytest.mark.usefixtures("in_this_process")
def test_a_campaign_of_nonsense_ends_with_the_reason(tmp_path: Path) -> None:
    lines: list[str] = []
    model = {"model": "scripted", "stream": False}
    with serving(Script(rule=lambda messages, number: "One could tile it.")) as server:
        settings = parse_config(
            {
                "task": "sgemm",
                "runs_dir": str(tmp_path),
                "tracking": "none",
                "budgets": {"evaluations": 50},
                "final": {"seconds": 0},
                "operators": [{"kind": "llm", "mutation": 0, "crossover": 0}],
                "islands": {"count": 2},
                "llm": {"base_url": server.base_url, "models": {"one": model, "two": model}},
            },
            where="test",
        )
        summary = run_campaign(
            settings, observer=PlainLines(lines.append), workbench=quick_workbench()
        )
    assert summary.ended.startswith(
        "no reply could be used in 9 cycles in a row (designer: prose_only: "
    )
    assert "llm.models" in summary.ended
    assert any(line.startswith("warning: island ") for line in lines)
    events = [stored.event for stored in read_events(Path(summary.run_dir) / "store.sqlite")]
    asked = {event.model for event in events if isinstance(event, CallReserved)}
    assert asked == {"one", "two"}
    lost = [event for event in events if isinstance(event, CycleFinished)]
    assert all(event.lost for event in lost)
    assert len(lost) < 30
