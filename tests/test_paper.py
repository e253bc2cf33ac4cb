"""docs/paper.md: what it says of configs/paper.yaml and of this repository is so."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.config import CampaignConfig
from engine.config_file import load_config
from evaluators.tasks.task_file import load_task
from operators.llm.question import ROLES

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "paper.md").read_text()
SETTINGS = re.findall(r"^\| `([\w.]+)` \| ([^|]+) \|", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def config() -> CampaignConfig:
    return load_config(ROOT / "configs" / "paper.yaml")


def value_at(config: CampaignConfig, dotted: str) -> Any:
    place: Any = config.model_dump(mode="json")
    for key in dotted.split("."):
        place = place[int(key)] if isinstance(place, list) else place[key]
    return place


def test_the_page_names_settings() -> None:
    assert len(SETTINGS) >= 15


@pytest.mark.parametrize(("key", "value"), SETTINGS)
def test_a_setting_is_as_the_page_says(config: CampaignConfig, key: str, value: str) -> None:
    assert value_at(config, key) == yaml.safe_load(value)


def test_who_asks_which_model(config: CampaignConfig) -> None:
    assert config.llm is not None
    asked = {role: config.llm.model_name(role) for role in ROLES}
    assert asked["selector"] == asked["designer"] == "fast"
    assert asked["writer"] == asked["repair"] == "strong"


def test_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)]+)\)", PAGE):
        assert (ROOT / "docs" / target.partition("#")[0]).exists(), target


def test_it_is_the_papers_problem_on_every_backend(config: CampaignConfig) -> None:
    assert config.task == "fp8_gemm" and not config.devices.emulated
    words = (ROOT / "configs" / "paper.yaml").read_text()
    overrides = re.findall(r"configs/paper\.yaml (\S+)$", words, re.MULTILINE)
    assert overrides == ["backend=cuda", "backend=cpu", "devices=emulated"]
    for override in overrides:
        load_config(ROOT / "configs" / "paper.yaml", [override])


def test_every_shape_waits_for_a_time() -> None:
    shapes = load_task("fp8_gemm").workloads("benchmarks", "hip")
    for shape in shapes:
        sizes = ", ".join(str(size) for size in shape.dims.values())
        assert re.search(rf"^\| {sizes} \|( [\d.]+ \|){{3}} [\d. ]*\|$", PAGE, re.MULTILINE), sizes
    assert PAGE.count("\n| 1024, ") + PAGE.count("\n| 6144, ") == len(shapes) == 18
