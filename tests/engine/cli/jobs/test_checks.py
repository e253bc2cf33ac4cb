"""What is looked at before a campaign is sent, and how variables reach a job."""

import json
from collections.abc import Mapping
from typing import Any, cast

import pytest

from engine.actors.passed_on import PASSED, for_gateway, for_tracker
from engine.cli import main as cli
from engine.cli.jobs.checks import check_budgets, check_devices, check_endpoints
from engine.cli.jobs.cluster import Cluster, Node, address_from
from engine.cli.jobs.environment import MARK, hand_over, values_of, withdraw
from engine.cli.jobs.inside import words_in_job
from engine.cli.usage import UsageError
from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import MODEL, Script
from tests.engine.ports import free_port

KEY = "KEY_OF_THIS_TEST"


def config(base_url: str = "http://127.0.0.1:1/v1", **changes: Any) -> CampaignConfig:
    model = {"model": MODEL, "max_tokens": 1000, "dollars_per_million_completion": 10.0}
    values = {
        "task": "softmax",
        "operators": [{"kind": "llm"}],
        "llm": {
            "base_url": base_url,
            "api_key_env": KEY,
            "models": {"main": {**model, "dollars_per_million_prompt": 1.0}},
        },
    }
    return parse_config({**values, **changes}, where="test")


def node(gpus: float = 0, *accelerators: str) -> Node:
    return Node(id="n", ip="10.0.0.1", head=True, gpus=gpus, accelerators=frozenset(accelerators))


@pytest.mark.parametrize(
    ("budgets", "told"),
    [
        ({"evaluations": 1}, "naive seed alone"),
        ({"tokens": 1000}, r"tokens=1000 pays for no call: 1000 .*llm\.models\.main"),
        ({"dollars": 0.009}, r"dollars=0\.009 pays for no call: 0\.01 "),
    ],
)
def test_a_budget_that_buys_nothing_is_refused(budgets: Mapping[str, Any], told: str) -> None:
    with pytest.raises(ConfigError, match=told):
        check_budgets(config(budgets=budgets))


def test_a_budget_that_buys_something_is_not() -> None:
    check_budgets(config(budgets={"evaluations": 2, "tokens": 1001, "dollars": 0.01}))
    check_budgets(parse_config({"task": "softmax", "budgets": {"tokens": 1}}, where="test"))


@pytest.mark.parametrize(
    ("backend", "nodes", "told"),
    [
        ("hip", [node()], "http://h has no GPU on its 1 node, and backend hip needs one"),
        ("cuda", [node(), node()], "has no GPU on its 2 nodes"),
        ("hip", [node(8, "H100")], "has no GPU of AMD, which backend hip needs: it has H100"),
        ("cuda", [node(8, "AMD-Instinct-MI300X-OAM")], "no GPU of NVIDIA"),
    ],
)
def test_a_cluster_without_the_backends_devices_is_refused(
    backend: str, nodes: list[Node], told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        check_devices(config(backend=backend), nodes, "http://h")


def test_a_cluster_that_may_have_the_devices_is_not() -> None:
    check_devices(config(backend="cpu"), [node()], "http://h")
    check_devices(config(backend="hip"), [node(), node(8)], "http://h")
    check_devices(config(backend="cuda"), [node(8, "H100"), node()], "http://h")
    check_devices(config(backend="hip", devices="emulated"), [node()], "http://h")


def test_endpoints_are_asked_and_those_of_another_machine_are_told_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(KEY, "sk-1")
    dead = f"http://127.0.0.1:{free_port()}/v1"
    away = config(dead).llm
    assert away is not None
    with pytest.raises(UsageError, match=r"--unseen-endpoints"):
        check_endpoints(away, here=True)
    assert check_endpoints(away, here=False).startswith(f"{dead} will be asked from the driver's")
    with serving(Script(key="sk-1")) as server:
        there = config(server.base_url).llm
        assert there is not None
        assert check_endpoints(there, here=True) == ""


class Kept:
    """A cluster, as far as packages are put into it."""

    def __init__(self) -> None:
        self.packages: dict[str, bytes] = {}

    def put(self, name: str, content: bytes) -> None:
        self.packages[name] = content


def test_values_are_handed_over_apart_from_the_command_line() -> None:
    kept = Kept()
    words = hand_over(cast(Cluster, kept), {"A": "sk-1"})
    assert "sk-1" not in " ".join(words)
    (content,) = kept.packages.values()
    assert content[:15] == MARK[:15]  # all that Ray may print
    assert json.loads(content.removeprefix(MARK)) == {"A": "sk-1"}
    withdraw(cast(Cluster, kept), words)
    assert b"sk-1" not in kept.packages[words[1]]
    assert hand_over(cast(Cluster, kept), {}) == []


def test_a_variable_that_is_not_set_is_named() -> None:
    assert values_of(["A", "B"], {"A": "1", "B": "2", "C": "3"}) == {"A": "1", "B": "2"}
    with pytest.raises(UsageError, match=r"variable B .* not set here"):
        values_of(["A", "B"], {"A": "1", "B": " "})


def test_a_value_in_place_of_a_name_is_refused_and_not_repeated(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["submit", "configs/quickstart.yaml", "--env", "KEY=sk-2"])
    told = capsys.readouterr()
    assert end.value.code == 2
    assert "never its value" in told.err
    assert "sk-2" not in told.out + told.err


def test_a_job_runs_or_resumes_what_its_command_line_says() -> None:
    assert words_in_job(["a.yaml", "seed=1"]) == ["run", "a.yaml", "seed=1"]
    assert words_in_job(["--resume", "/r/it", "calls=9"]) == ["resume", "/r/it", "calls=9"]


def test_options_of_jobs_go_with_job_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["resume", "runs/it", "--detach"]) == 2
    assert "go with --job" in capsys.readouterr().err


def test_keys_go_to_the_gateway_and_what_mlflow_needs_to_the_tracker() -> None:
    environment = {
        KEY: "sk-1",
        "MLFLOW_TRACKING_TOKEN": "t",
        "AWS_SECRET": "s",
        "HOME": "/",
        PASSED: f"{KEY},AWS_SECRET",
    }
    assert for_gateway(config(), environment) == {KEY: "sk-1", "AWS_SECRET": "s"}
    assert for_tracker(config(), environment) == {"MLFLOW_TRACKING_TOKEN": "t", "AWS_SECRET": "s"}


@pytest.mark.parametrize("address", ["127.0.0.1:8265", "ray://head:10001", "auto", "http://"])
def test_an_address_that_is_no_dashboards_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="is no address of a Ray cluster's dashboard"):
        address_from(address)


def test_keys_may_stand_after_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["submit", "no/such.yaml", "--detach", "seed=1", "--env", "A", "seed=2"]) == 2
    assert "no/such.yaml" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        cli.main(["jobs", "--json", "seed=1"])
    assert "unrecognized arguments: seed=1" in capsys.readouterr().err
