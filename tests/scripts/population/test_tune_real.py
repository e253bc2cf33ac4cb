"""Studies of real campaigns, and of roles on situations."""

import math
from dataclasses import replace
from pathlib import Path

import pytest

from scripts import tune_population
from scripts.population import outcome
from scripts.population.trials import OnTask
from scripts.roles.situations import read
from scripts.roles.situations import write as write_situations
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from scripts.tune_population import tune
from tests.scripts.population.tune_plans import ROOT, Ran, plan_of

SITUATIONS = ROOT / "docs" / "measured" / "situations"


def test_real_campaigns_are_run_scored_and_compared(tmp_path: Path) -> None:
    """By a stand-in for the process that would take minutes; the folders are as it leaves them."""
    run = Ran()
    plan = plan_of(
        tmp_path,
        seen={"tasks": ["sgemm"], "seeds": 1},
        unseen={"tasks": ["sgemm"], "seeds": 2},
        campaign={"final": {"seconds": 0}},
    )
    one = OnTask(task="sgemm", seed=3, folder=tmp_path / "trial-0", run=run)
    score = one.score(plan, {"islands.count": 3})
    assert score > 0
    (config,) = run.configs
    assert config["islands"] == {"count": 3} and config["seed"] == 3
    assert config["tracking"] == {"uri": "none"} and config["name"] == "trial-0-sgemm-3"
    told = outcome.compare_unseen(plan, {"islands.count": 3}, tmp_path / "out", run)["tasks"]
    assert told["reference"] == "default" and set(told["arms"]) == {"default", "tuned"}
    assert told["arms"]["tuned"]["campaigns"] == 2
    assert {one["seed"] for one in run.configs[1:]} == {2000, 2001}
    words = {"tuned": {"islands.count": 3}, "beside_default": {"tasks": told}}
    line = tune_population.told(words)[1]
    assert line.startswith("real campaigns on unseen seeds, beside the default: 1.00x (1.00 to")
    assert line.endswith("too few seeds to show it")
    counts = [one.get("islands", {}).get("count", 0) for one in run.configs[1:]]
    assert sorted(counts) == [0, 0, 3, 3]


def test_a_role_is_asked_by_the_trials_own_model_and_temperature(tmp_path: Path) -> None:
    files = []
    for task in ("sgemm", "softmax"):
        (recorded,) = {
            id(one.campaign): one.campaign
            for one in read([SITUATIONS / f"{task}_catalogue_cpu.json.gz"])
        }.values()
        kept = tuple(one for one in recorded.situations if one.role == "selector")[:3]
        files.append(tmp_path / f"{task}.json.gz")
        write_situations(files[-1], [replace(recorded, situations=kept)])
    with serving(Script()) as server:
        plan = plan_of(
            tmp_path,
            seen={"situations": [str(files[0])], "seeds": 1},
            unseen={"situations": [str(files[1])], "seeds": 1},
            campaign={
                "operators": [{"kind": "llm"}],
                "llm": {
                    "base_url": server.base_url,
                    "models": {
                        "one": {"model": "scripted", "temperature": 2.0},
                        "two": {"model": "scripted"},
                    },
                },
            },
            search={
                "llm.roles.selector": ["one", "two"],
                "llm.models.two.temperature": {"low": 0.0, "high": 1.5},
            },
            trials=6,
        )
        result = tune(plan, tmp_path / "out")
    asked = [one.body for one in server.log]
    tried = {one["temperature"] for one in asked} - {2.0}
    assert 2.0 in {one["temperature"] for one in asked}
    assert tried and all(0 <= one <= 1.5 for one in tried)
    told = result["beside_default"]["situations"]
    assert list(told) == ["selector"] and list(told["selector"]) == ["tuned", "default"]
    for arm in told["selector"].values():
        assert arm["score"] == pytest.approx(-math.log(arm["figures"]["regret"]["mean"]), abs=1e-3)
    assert all(one["score"] <= 0 for one in result["finalists"])
