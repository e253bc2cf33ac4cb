"""A campaign whose devices are not timed: kernels ordered by cost, and everything says so."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.cli.result import result_lines
from engine.compare.folders import read_folders
from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from engine.snapshot import Snapshot
from engine.store.replay import replay
from engine.store.run_folder import REPORT, STORE
from evaluators.cpu.device import device_count
from evaluators.device import register
from evaluators.device_info import FURTHER_BACKENDS
from tests.evaluators import untimed
from tests.evaluators.small_task import FRONT, kernel, write_task

SPACE = "params: {TX: 16}\nspace: {TX: [16, 64]}\n---*/"
SEED = kernel(front=FRONT.replace("64", "TX").replace("---*/", SPACE))
on_cpu = pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(FURTHER_BACKENDS, "")
    register(untimed.NAME, untimed.MODULE)
    yield


@on_cpu
@pytest.mark.long
def test_it_orders_by_cost_and_says_that_nothing_was_timed(tmp_path: Path) -> None:
    config = CampaignConfig.model_validate(
        {
            "task": str(write_task(tmp_path / "mine", seed=SEED, flops="1")),
            "backend": untimed.NAME,
            "name": "it",
            "runs_dir": tmp_path / "runs",
            "budgets": {"evaluations": 2},
            "islands": {"count": 1},
            "tracking": {"uri": "none"},
        }
    )
    seen: list[Snapshot] = []
    summary = run_campaign(config, observer=seen.append)
    run_dir = tmp_path / "runs" / "it"
    whole = replay(run_dir / STORE)
    best = whole.scores.best
    assert best is not None and not best.timed and not summary.timed
    assert best.kernel_id != summary.baseline["id"]
    assert best.speedup > 2  # of a quarter of the seed's blocks
    assert not whole.scores.titles.contests and whole.scores.titles.final is None
    assert len(whole.scores.steps) == 1
    told = "\n".join(result_lines(summary, whole, None))
    assert "nothing was timed" in told and "to take to a real MI300" in told
    assert "to_measure/1.hip" in told and (run_dir / "to_measure" / "1.hip").is_file()
    assert "x the naive seed" not in told and "µs" not in told
    values = json.loads((run_dir / "summary.json").read_text())
    assert values["timed"] is False
    assert "speedup" not in values["best"] and values["best"]["cost_ratio"] == best.speedup
    page = (run_dir / REPORT).read_text()
    assert "Nothing was timed" in page and "To take to a real MI300" in page
    assert "as fast as the naive seed" not in page and "times the naive seed" not in page
    with pytest.raises(Exception, match="nothing was timed in this campaign"):
        read_folders([run_dir])
    with pytest.raises(ConfigError, match="is spent"):
        resume_campaign(run_dir)


def refused(**changes: object) -> str:
    values = {"task": "sgemm", "backend": "hip", "devices": "emulated", **changes}
    with pytest.raises(ConfigError) as error:
        parse_config(values, where="it.yaml")
    assert "\n" not in str(error.value)
    return str(error.value)


def test_emulated_devices_are_a_word_of_the_configuration() -> None:
    config = parse_config({"task": "sgemm", "backend": "hip", "devices": "emulated"}, where="")
    assert config.devices.emulated
    again = parse_config(config.model_dump(mode="json"), where="")
    assert again.devices.emulated


def test_what_needs_times_or_another_device_is_refused() -> None:
    assert "devices: emulated goes with backend: hip, not with cuda" in refused(backend="cuda")
    assert "write emulated" in refused(devices="imagined")
    assert "stop.speedup" in refused(stop={"speedup": 3})
    assert "this machine alone" in refused(ray={"address": "auto"})
