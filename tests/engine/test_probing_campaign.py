"""Campaigns whose designers ask for probes: answered once, told to all, and kept."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.campaign import run_campaign
from engine.store.probes import ProbeClaimed, Probed, ProbeWritten
from evaluators.cpu.toolchain import CACHE_VARIABLE
from evaluators.probes.shipped import shipped
from scripts.bench_engine import INFO
from scripts.scripted_model.answers import asking
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.engine import test_scientist_campaign
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench
from tests.engine.test_scientist_campaign import SECRET, Run, config, run_of

pytestmark = pytest.mark.long
key = test_scientist_campaign.key

MOST = 5


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cache folder of this module's own."""
    before = os.environ.get(CACHE_VARIABLE)
    folder = tmp_path_factory.mktemp("cache")
    os.environ[CACHE_VARIABLE] = str(folder)
    yield folder
    if before is None:
        del os.environ[CACHE_VARIABLE]
    else:
        os.environ[CACHE_VARIABLE] = before


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory, key: None, cache: Path) -> Run:
    with serving(Script(rule=asking, key=SECRET, latency_s=0.02)) as server:
        folder = tmp_path_factory.mktemp("asking")
        chosen = config(folder, server.base_url, budgets={"evaluations": 60}, probes={"most": MOST})
        with local_ray():
            summary = run_campaign(chosen, workbench=quick_workbench())
        return run_of(summary, server, chosen)


def test_as_many_are_asked_written_and_answered_as_there_may_be(asked: Run) -> None:
    granted = [one for one in asked.of(ProbeClaimed) if one.became == "granted"]
    assert len(granted) == MOST
    assert sorted(one.key for one in granted) == sorted(one.key for one in asked.of(ProbeWritten))
    own = shipped(INFO)
    answers = asked.of(Probed)
    assert len(answers) == len({one.key for one in answers}) == len(own) + MOST
    assert {one.asked_by for one in answers if not one.shipped} == {one.key for one in granted}
    assert all(one.answer.passed for one in answers)
    assert asked.summary.evaluations["total"] - asked.summary.evaluations["in_idle_time"] == 60
