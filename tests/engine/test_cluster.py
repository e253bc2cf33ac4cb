"""Which GPUs Ray is shown: the campaign's own, by every variable that its vendors read."""

import os
from pathlib import Path
from typing import Any

import pytest
import ray
from ray._private.accelerators.amd_gpu import AMDGPUAcceleratorManager

from engine.cluster import Layout, ray_session
from engine.config import ConfigError, load_config

CONFIG = Path(__file__).parents[2] / "configs" / "quickstart.yaml"
PLAN = Layout(devices=(1, 0), gpus=1, compile_workers=1, compile_cores=frozenset())


@pytest.mark.parametrize("address", ["", "nowhere:6379"])
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
    variables: dict[str, str], wanted: str, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray itself does not start: it would need the GPUs."""
    for name in ("CUDA", "HIP", "ROCR"):
        monkeypatch.delenv(f"{name}_VISIBLE_DEVICES", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RAY_ADDRESS", address)
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
    with pytest.raises((ConnectionError, ConfigError)), ray_session(config, PLAN):
        pass
    assert shown == [wanted.split(","), wanted]
    assert before == {name: os.environ.get(name) for name in before}
