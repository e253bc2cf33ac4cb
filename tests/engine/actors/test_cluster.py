"""Which GPUs Ray is shown, and what becomes of a start for which a machine is too busy."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import ray
from ray._private import services
from ray._private.accelerators.amd_gpu import AMDGPUAcceleratorManager

from engine.actors.cluster import STARTS, Site, ray_session
from engine.actors.layout import Layout, layout
from engine.config import CampaignConfig, parse_config
from engine.config_file import load_config
from engine.ending import CampaignFailed
from evaluators.cpu.device import device_count

CONFIG = Path(__file__).parents[3] / "configs" / "quickstart.yaml"
PLAN = Layout(devices=(1, 0), gpus=1, compile_workers=1, compile_cores=frozenset())


def own(config: CampaignConfig) -> Site:
    return Site(plan=layout(config), cluster=False)


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({}, "1,0"),
        ({"CUDA_VISIBLE_DEVICES": "5,7"}, "7,5"),
        ({"CUDA_VISIBLE_DEVICES": "5,7", "HIP_VISIBLE_DEVICES": "3,2"}, "2,3"),
        ({"CUDA_VISIBLE_DEVICES": "5,7", "HIP_VISIBLE_DEVICES": ""}, "7,5"),
        ({"ROCR_VISIBLE_DEVICES": "6,4"}, "1,0"),
    ],
)
def test_what_ray_is_shown(
    variables: dict[str, str], wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray itself does not start: it would need the GPUs."""
    for name in ("CUDA", "HIP", "ROCR"):
        monkeypatch.delenv(f"{name}_VISIBLE_DEVICES", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    before = {
        name: os.environ.get(name) for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
    }
    shown: list[Any] = []

    def init(**_: object) -> None:
        shown.append(AMDGPUAcceleratorManager.get_current_process_visible_accelerator_ids())
        shown.append(os.environ["CUDA_VISIBLE_DEVICES"])
        raise ConnectionError

    monkeypatch.setattr(ray, "init", init)
    config = load_config(CONFIG, ["backend=hip"])
    site = Site(plan=PLAN, cluster=False)
    with pytest.raises(CampaignFailed), ray_session(config, site):
        pass
    assert shown == [wanted.split(","), wanted]
    assert before == {name: os.environ.get(name) for name in before}


CPU = pytest.mark.skipif(device_count() == 0, reason="the cpu backend finds no compiler")

TOO_LATE = "The current node timed out during startup. This could happen because of load."


@CPU
@pytest.mark.parametrize(("late", "starts"), [(0, True), (STARTS - 1, True), (STARTS, False)])
def test_a_start_that_ray_gave_up_is_tried_again(
    late: int, starts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path] = []

    def init(*, _temp_dir: str, **_: Any) -> None:
        folders.append(Path(_temp_dir))
        if len(folders) <= late:
            raise Exception(TOO_LATE)

    monkeypatch.setattr(ray, "init", init)
    config = parse_config({"task": "sgemm"}, where="test")
    if starts:
        with ray_session(config, own(config)):
            assert folders[-1].is_dir()
    else:
        with (
            pytest.raises(CampaignFailed, match="node timed out during startup"),
            ray_session(config, own(config)),
        ):
            pass
    assert len(set(folders)) == late + starts
    assert not any(folder.exists() for folder in folders)


@CPU
def test_a_node_that_needs_longer_than_ray_waits_is_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[str] = []

    def look(address: str, node: str) -> dict[str, str]:
        looks.append(node)
        if len(looks) < 5:
            raise RuntimeError("no such node")
        return {"node": node}

    def init(**_: Any) -> None:
        patient: Callable[..., Any] = services.get_node
        assert patient("here", "it") == {"node": "it"}  # Ray's own loop looks once

    monkeypatch.setattr(services, "get_node", look)
    monkeypatch.setattr(ray, "init", init)
    config = parse_config({"task": "sgemm"}, where="test")
    with ray_session(config, own(config)):
        assert services.get_node is look
    assert looks == ["it"] * 5


@CPU
def test_a_start_whose_raylet_ended_is_given_up_at_once_and_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As on a busy machine: https://github.com/ray-project/ray/issues/65983."""
    tries: list[Path] = []

    def look(address: str, node: str) -> dict[str, str]:
        if len(tries) < 3:
            raise RuntimeError("no such node")
        return {"node": node}

    def init(*, _temp_dir: str, **_: Any) -> None:
        tries.append(Path(_temp_dir, "session_latest", "logs"))
        tries[-1].mkdir(parents=True)
        (tries[-1] / "raylet.err").write_text(
            "[F 1] node_manager.cc:3588: A bug? Check failed: it Timed out waiting for file port\n"
        )
        patient: Callable[..., Any] = services.get_node
        patient("here", "it")

    monkeypatch.setattr(services, "get_node", look)
    monkeypatch.setattr(ray, "init", init)
    config = parse_config({"task": "sgemm"}, where="test")
    with ray_session(config, own(config)):
        assert len(tries) == 3
    monkeypatch.setattr("engine.actors.cluster.STARTS", 1)
    tries.clear()
    with (
        pytest.raises(CampaignFailed, match=r"raylet ended \(Timed out waiting for file port\)"),
        ray_session(config, own(config)),
    ):
        pass


@CPU
def test_any_other_failure_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def init(**_: Any) -> None:
        calls.append(1)
        raise ValueError("no such address")

    monkeypatch.setattr(ray, "init", init)
    config = parse_config({"task": "sgemm"}, where="test")
    with (
        pytest.raises(CampaignFailed, match="Ray does not start: no such address"),
        ray_session(config, own(config)),
    ):
        pass
    assert len(calls) == 1
