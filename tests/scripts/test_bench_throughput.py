"""bench_throughput.py: its arithmetic, and all its arms in small on two devices of the double."""

import json
from pathlib import Path

import pytest

from evaluators.tasks.task_file import load_task
from scripts import bench_throughput
from scripts.lib.bare_loop import AT_LEAST
from scripts.lib.recording import metrics, parameters
from scripts.lib.throughput import Setting, bare_arm, campaign_arm
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench
from tests.evaluators.hip import test_hip_double
from tests.evaluators.small_task import FRONT, kernel, write_task

ROOT = Path(__file__).parents[2]
VALUES = list(range(1, 65))
SPACE = f"params: {{P: 1, Q: 1}}\nspace: {{P: {VALUES}, Q: {VALUES}}}\n---*/"
SEED = kernel(front=FRONT.replace("---*/", SPACE))
"""Of which there are more than a throughput measurement draws."""

SCRIPT = """
import sys
from tests.scripts import double_throughput as double
sys.exit(double.main(sys.argv[1:]))
"""


def script(*arguments: str) -> None:
    test_hip_double.python(SCRIPT, *arguments, timeout_s=1180)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_all_arms_on_two_devices(
    double: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every evaluator has a child on the GPU that Ray gave it; a killed one's child ends.

    GPUs and kills need Ray itself; the campaign beside the bare loop does not.
    """
    double.setenv("HIP_DOUBLE_DEVICES", "2")
    double.setenv("HIP_DOUBLE_LOG", str(tmp_path / "launches"))
    out = tmp_path / "found.json"
    script(
        *("--backend", "hip", "--gpus", "2", "--rounds", "1", "--seconds", "1", "--warm-up", "0.1"),
        *("--task", str(write_task(tmp_path / "small", seed=SEED)), "--size", "24"),
        *("--gpu-ms", "1", "--compile-workers", "1", "--out", str(out)),
    )
    found = json.loads(out.read_text())
    campaign, bare = found["floor"]["arms"]
    assert (campaign["path"], bare["path"]) == ("campaign", "bare loop")
    assert campaign["candidates"] >= AT_LEAST and bare["candidates"] >= AT_LEAST
    assert "CRASHED" not in campaign["by_status"]
    assert set(campaign["latencies_ms"]) == {"compile", "queue", "measure", "commit"}
    assert found["floor"]["ratio"] == pytest.approx(
        campaign["candidates_per_hour"] / bare["candidates_per_hour"]
    )
    (both,) = found["scaling"]["arms"]
    assert both["devices"] == 2 and both["efficiency"] == 1.0
    launched = {line.split()[0] for line in (tmp_path / "launches").read_text().splitlines()}
    assert launched == {"0", "1"}
    faults = found["faults"]
    assert faults["children"] >= 1 and faults["gone_s"] is not None
    assert faults["faults"] >= 1 and faults["passed_after"] > 0
    assert "CRASHED" not in faults["by_status"]
    assert "throughput" in str(found["command"])

    drawn = tmp_path / "found.png"
    arguments = ["--import", str(out), "--tracking", "none", "--plot", str(drawn)]
    assert bench_throughput.main(arguments) == 0
    assert drawn.read_bytes().startswith(b"\x89PNG")
    names = {name for name, _, _ in metrics(found)}
    assert {"campaign_over_bare_loop", "by_devices.gain", "campaign.commit_ms.p95"} <= names
    assert parameters(found)["backend"] == "hip"
    assert json.loads(capsys.readouterr().out)["gain on 2"] == 1.0


@pytest.mark.soak
def test_no_machine_is_too_slow_for_the_seconds_asked_for() -> None:
    """Of no time at all to measure in, both arms still get what a rate needs."""
    setting = Setting(
        task=load_task("sgemm").folder, backend="cpu", compile_workers=1, warm_up_s=0.0
    )
    workbench = quick_workbench()
    with local_ray():
        campaign = campaign_arm(setting, workbench, devices=1, seconds=1e-6)
    bare = bare_arm(setting, workbench, sources=campaign.sources, seconds=1e-6)
    for arm in (campaign, bare):
        assert arm.candidates == sum(arm.by_status.values()) >= AT_LEAST
        assert arm.candidates_per_hour == pytest.approx(arm.candidates * 3600 / arm.seconds)


def test_more_devices_than_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert bench_throughput.main(["--backend", "cpu", "--gpus", "1,4096"]) == 1
    assert "--gpus 4096: " in capsys.readouterr().err


def test_long_candidates_take_the_time_that_was_asked_for() -> None:
    policy = bench_throughput.long_policy("cuda", 200.0)
    assert policy.min_blocks == policy.max_blocks
    assert policy.min_blocks * 2 * policy.interval_us >= 200e3
