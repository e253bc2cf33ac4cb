"""configs/cluster/: the RayJob and the `ray up` file hold by their schemas, and fit the code."""

import copy
import re
import shlex
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config

from engine.cli.main import COMMANDS
from engine.cli.parser import build_parser
from engine.config import CampaignConfig
from engine.config_file import load_config

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "configs" / "cluster"
IMAGE = Path("/home/scientist/kernel-scientist")
SCHEMA = yaml.safe_load((Path(__file__).parent / "rayjob_fields.yaml").read_text())


@pytest.fixture
def documents() -> list[Any]:
    return list(yaml.safe_load_all((FOLDER / "kuberay_rayjob.yaml").read_text()))


@pytest.fixture
def rayjob(documents: list[Any]) -> Any:
    return documents[1]


def configured(command: str) -> CampaignConfig:
    """What `kernel-scientist run` or run_campaign.py would run with these words."""
    words = shlex.split(command)
    while words[0] not in ("run", "--or-resume"):
        words.pop(0)
    words = words if words[0] == "run" else ["run", *words]
    arguments = build_parser(COMMANDS).parse_args(words)
    assert arguments.or_resume
    inside = arguments.config
    if inside.is_absolute():
        inside = inside.relative_to(IMAGE)
    return load_config(ROOT / inside, arguments.overrides)


def test_the_rayjob_has_fields_that_kuberay_knows(rayjob: Any) -> None:
    jsonschema.validate(rayjob, SCHEMA)


@pytest.mark.parametrize("name", ["backOffLimit", "shutdownAfterJobFinished", "rayclusterSpec"])
def test_the_schema_refuses_a_misspelt_field(rayjob: Any, name: str) -> None:
    wrong = copy.deepcopy(rayjob)
    wrong["spec"][name] = wrong["spec"].get("backoffLimit")
    with pytest.raises(jsonschema.ValidationError, match=name):
        jsonschema.validate(wrong, SCHEMA)


def test_the_rayjob_runs_a_campaign_that_a_retry_takes_up(documents: list[Any]) -> None:
    claim, job = documents
    spec = job["spec"]
    config = configured(spec["entrypoint"])
    head = spec["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    volumes = {one["name"]: one for one in head["volumes"]}
    mounts = {
        one["mountPath"]: volumes[one["name"]] for one in head["containers"][0]["volumeMounts"]
    }
    assert config.name == job["metadata"]["name"]
    assert config.ray.address == "auto"
    assert "emptyDir" in mounts[f"/{config.runs_dir.parts[1]}"]
    shared = mounts[str(config.snapshots.folder)]["persistentVolumeClaim"]["claimName"]
    assert (claim["kind"], claim["metadata"]["name"]) == ("PersistentVolumeClaim", shared)
    assert spec["backoffLimit"] and spec["shutdownAfterJobFinishes"]
    variables = {one["name"]: one for one in head["containers"][0]["env"]}
    assert config.llm is not None and "valueFrom" in variables[str(config.llm.api_key_env)]
    environment = yaml.safe_load(spec["runtimeEnvYAML"])
    assert int(environment["env_vars"]["RAY_JOB_STOP_WAIT_TIME_S"]) > config.final.seconds


def test_the_rayjobs_nodes_are_those_of_the_campaign(rayjob: Any) -> None:
    cluster = rayjob["spec"]["rayClusterSpec"]
    locked = re.search(r"^ray==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert locked and cluster["rayVersion"] == locked[1].rstrip("\\").strip()
    (group,) = cluster["workerGroupSpecs"]
    (worker,) = group["template"]["spec"]["containers"]
    (head,) = cluster["headGroupSpec"]["template"]["spec"]["containers"]
    assert str(worker["resources"]["limits"]["amd.com/gpu"]) == group["rayStartParams"]["num-gpus"]
    assert "amd.com/gpu" not in head["resources"]["limits"]
    assert cluster["headGroupSpec"]["rayStartParams"]["num-gpus"] == "0"
    assert head["image"] == worker["image"]
    assert str(IMAGE) in (ROOT / "Containerfile").read_text()


def test_ray_up_takes_the_file_for_nodes_of_ones_own() -> None:
    text = (FOLDER / "on_premises.yaml").read_text()
    config = yaml.safe_load(text)
    prepared = prepare_config(copy.deepcopy(config))
    validate_config(prepared)
    nodes = len(config["provider"]["worker_ips"])
    assert config["min_workers"] == config["max_workers"] == nodes
    starts = [*config["head_start_ray_commands"], *config["worker_start_ray_commands"]]
    started = [one for one in starts if "ray start" in one]
    assert len(started) == 2 and all("RAY_AUTH_MODE=token" in one for one in started)
    assert any("auth_token" in one for one in config["file_mounts"])
    with pytest.raises(jsonschema.ValidationError, match="dockr"):
        validate_config({**prepared, "dockr": {}})


def test_what_ray_exec_is_told_is_a_campaign_with_its_folders_on_mounts() -> None:
    text = (FOLDER / "on_premises.yaml").read_text()
    told = re.search(r"kernel-scientist (run --or-resume .*?)'", text, re.DOTALL)
    assert told
    config = configured(told[1].replace("\n#", " "))
    options = yaml.safe_load(text)["docker"]["run_options"]
    assert all(isinstance(one, str) for one in options)  # Ray's schema does not look at them
    inside = [one.rpartition(":")[2] for one in options if one.startswith("--volume=")]
    assert str(config.snapshots.folder) in inside
    assert f"/{config.runs_dir.parts[1]}" in inside


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_each_says_what_to_replace_and_that_no_mi300_ran_it(path: Path) -> None:
    text = path.read_text()
    assert "docs/cluster.md" in text and "MI300" in text
    assert not re.search(r"(?i)(token|key|password)[\"']?[:=] *[\"']?[0-9a-f]{16}", text)
