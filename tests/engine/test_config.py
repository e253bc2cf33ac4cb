"""Tests of the configuration: defaults, overrides, and sentences for what is wrong."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from engine.actors.cluster import fitted
from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from engine.config_file import load_config
from engine.config_sections import Islands
from tests.engine.config_reads import reads

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = sorted({*(ROOT / "configs").glob("*.yaml")} - {ROOT / "configs" / "tune.yaml"})
"""Campaigns; the one left out is a study's plan."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "campaign.yaml"
    path.write_text("task: sgemm\nbudgets: {evaluations: 50}\n")
    return path


def test_a_file_lists_only_what_differs(file: Path) -> None:
    config = load_config(file)
    assert config.task == "sgemm"
    assert config.budgets.evaluations == 50
    assert config.islands == CampaignConfig(task="sgemm").islands


def test_overrides_reach_into_sections_and_lists(file: Path) -> None:
    config = load_config(
        file,
        [
            "islands.count=3",
            "seed=7",
            "tracking=none",
            "operators.0.kind=random",
            "budgets.wall_time_s=1.5",
            "devices.ids=[0, 1]",
            "migration.topology=full",
        ],
    )
    assert (config.islands.count, config.seed) == (3, 7)
    assert config.tracking_uri is None
    assert config.operators_of(2).kind == "random"
    assert config.budgets.evaluations == 50 and config.budgets.wall_time_s == 1.5
    assert config.devices.ids == (0, 1)
    assert config.migration.topology == "full"


def test_tracking_defaults_to_a_file_beside_the_runs(file: Path, tmp_path: Path) -> None:
    config = load_config(file, [f"runs_dir={tmp_path / 'out'}"])
    assert config.tracking_uri == f"sqlite:///{tmp_path / 'out' / 'mlflow.db'}"
    other = load_config(file, ["tracking=http://127.0.0.1:5000"])
    assert other.tracking_uri == "http://127.0.0.1:5000"


def test_profiles_in_a_word(file: Path) -> None:
    assert load_config(file).profiles.most > 0
    assert load_config(file, ["profiles=elites"]).profiles == load_config(file).profiles
    assert load_config(file, ["profiles=off"]).profiles.most == 0
    assert load_config(file, ["profiles.most=3"]).profiles.most == 3


def test_islands_take_their_operators_in_turn() -> None:
    config = parse_config(
        {"task": "sgemm", "operators": [{"kind": "catalog"}, {"kind": "random"}]}, where="test"
    )
    assert [config.operators_of(island).kind for island in range(3)] == [
        "catalog",
        "random",
        "catalog",
    ]


@pytest.mark.parametrize(
    ("overrides", "blamed"),
    [
        ([], "campaign.yaml"),
        (["seed=3"], "campaign.yaml"),
        (["seed=3", "islands.count=0", "name=x"], "'islands.count=0'"),
        (["islands.count=0", "islands.count=2", "islands.count=-1"], "'islands.count=-1'"),
        # Each is fine alone; together with the file it is the one that breaks it.
        (["budgets.wall_time_s=null", "budgets.evaluations=null"], "'budgets.evaluations=null'"),
        (["operators.0.kind=llm"], "'operators.0.kind=llm'"),
    ],
)
def test_what_an_override_breaks_is_blamed_on_it(
    tmp_path: Path, overrides: list[str], blamed: str
) -> None:
    path = tmp_path / "campaign.yaml"
    broken = blamed == "campaign.yaml"
    path.write_text("task: sgemm\n" + ("backend: tpu\n" if broken else ""))
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides)
    named = str(caught.value).split(": ")[0]
    assert named == (str(path) if broken else blamed)


@pytest.mark.parametrize(
    ("text", "overrides", "words"),
    [
        ("tusk: sgemm", [], ["campaign.yaml", "tusk", "not a known key", "task"]),
        ("task: sgemm\nislands: {cout: 2}", [], ["islands.cout", "not a known key", "count"]),
        ("seed: 1", [], ["task is missing"]),
        ("task: sgemm\nseed: -1", [], ["seed", "greater than or equal to 0", "-1"]),
        ("task: sgemm\nbackend: tpu", [], ["backend", "'cpu', 'cuda' or 'hip'", "tpu"]),
        ("task: sgemm", ["islands=5"], ["'islands=5': islands holds keys", "count", "not 5"]),
        ("task: sgemm\nbackend: hop", [], ["'hop' (did you mean hip?)"]),
        ("task: sgemm\nislands: {capcity: 2}", [], ["(did you mean capacity?)"]),
        ("task: sgemm\nname: a/b", [], ["name", "a/b"]),
        (
            "task: sgemm\nbudgets: {evaluations: null}",
            [],
            ["budgets.evaluations or budgets.wall_time_s"],
        ),
        (
            "task: sgemm\noperators: [{experiment: 0, crossover: 0, mutation: 0, tuning: 0}]",
            [],
            ["operators.0", "must be above 0"],
        ),
        (
            "task: sgemm\noperators: [{base: seed}]",
            [],
            ["operators.0: base: seed leaves", "set crossover: 0, mutation: 0 and tuning: 0"],
        ),
        (
            "task: sgemm\noperators: [{base: seed, crossover: 0}]",
            [],
            ["operators.0: base: seed leaves", "none found to mutate"],
        ),
        (
            "task: sgemm\noperators: [{base: seed, kind: random}]",
            [],
            ["operators.0: kind random has no Base: leave base out"],
        ),
        ("task: sgemm\nprofiles: often", [], ["profiles: write elites, off", "'often'"]),
        ("task: sgemm\ndevices: {patience_s: 0}", [], ["devices.patience_s", "greater than 0"]),
        ("task: sgemm\nstop: {speedup: .inf}", [], ["stop.speedup: write a finite number"]),
        ("task: sgemm\nstop: {plateau: yes}", [], ["stop: plateau is a number, not true"]),
        ("task: sgemm\nprobes: {most: on}", [], ["probes: most is a number, not true"]),
        ("task: sgemm\ncredit: {half_life: .nan}", [], ["credit.half_life: write a finite"]),
        ("task: sgemm\nfindings: runs/a", [], ["findings: write a list of campaigns", "runs/a"]),
        ("task: sgemm\nfindings: off", [], ["every: 0 is none"]),
        ("task: sgemm\nfindings: {from: a}", [], ["findings.sources: write a list"]),
        ("task: sgemm\nstart_from: 3", [], ["start_from: write a path, not 3"]),
        ("task: sgemm\nseed: " + "x" * 5000, [], ["seed: write a whole number, not 'xx"]),
        ("- a", [], ["campaign.yaml", "mapping"]),
        ("task: [", [], ["campaign.yaml, line 2: not YAML: "]),
        ("seed: 1\ntask: [a\nname: b", [], ["campaign.yaml, line 3: not YAML: "]),
        ("task: sgemm\nseed: 1\nseed: 2", [], ["campaign.yaml, line 3", "'seed' stands twice"]),
        (
            "task: sgemm\nllm:\n  models:\n    a: {model: x}\n    a: {model: y}",
            [],
            ["campaign.yaml, line 5", "'a' stands twice"],
        ),
        ("task: sgemm\n1: 2", [], ["campaign.yaml, line 2", "key 1 is not text"]),
        (
            "a: &a [x, x]\nb: &b [*a, *a]\ntask: sgemm",
            [],
            ["campaign.yaml, line 2", "aliases are not allowed"],
        ),
        ("task: " + "[" * 5000, [], ["campaign.yaml, line 1", "nested too deeply"]),
        ("task: sgemm", ["seed"], ["'seed' is no override", "key=value"]),
        ("task: sgemm", ["seed=["], ["'seed=['", "YAML"]),
        ("task: sgemm", ["budgets={calls: 1, calls: 2}"], ["'calls' stands twice"]),
        ("task: sgemm", ["seed.a=1", "task.b=2"], ["task", "plain value"]),
        ("task: sgemm\noperators: [{}]", ["operators.3.kind=random"], ["3 is not one of"]),
    ],
)
def test_what_is_wrong_is_one_sentence(
    tmp_path: Path, text: str, overrides: list[str], words: list[str]
) -> None:
    path = tmp_path / "campaign.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_config(path, overrides)
    sentence = str(caught.value)
    assert "\n" not in sentence and len(sentence) < 800
    for word in words:
        assert word in sentence


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: .*No such file"):
        load_config(tmp_path / "nowhere.yaml")


def sections(section: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """A section and all that are in it, in optional values, lists and mappings too."""
    yield section
    for info in section.model_fields.values():
        for inner in models(info.annotation):
            yield from sections(inner)


def models(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from models(inner)


def keys() -> list[tuple[str, str]]:
    """(full name of the section's class, key)."""
    return [
        (f"{section.__module__}.{section.__qualname__}", key)
        for section in dict.fromkeys(sections(CampaignConfig))
        for key in section.model_fields
    ]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.name)
def test_shipped_configurations_fit_any_number_of_gpus(path: Path) -> None:
    """None names a GPU that another machine may lack; the first one is wherever there is any."""
    assert load_config(path).devices.ids in (None, (0,))


@pytest.mark.parametrize(
    ("count", "per_device", "devices", "islands"),
    [(2, 0, 8, 2), (2, 3, 1, 3), (5, 3, 1, 5), (2, 1, 4, 4), (2, 1, 0, 2)],
)
def test_islands_follow_the_devices(
    count: int, per_device: int, devices: int, islands: int
) -> None:
    values = {
        "task": "sgemm",
        "islands": {"count": count, "per_device": per_device},
    }
    assert fitted(parse_config(values, where="test"), devices).islands.count == islands


@pytest.mark.parametrize(
    ("devices", "asked", "count", "lanes"),
    [
        (1, {}, 2, 2),
        (2, {}, 2, 4),
        (4, {}, 4, 4),
        (8, {}, 8, 4),
        (4, {"per_device": 0}, 2, 8),
        (4, {"per_device": 0, "count": 3}, 3, 6),
        (8, {"cycles_in_flight": 1}, 8, 1),
        (1, {"count": 6, "cycles_in_flight": 5}, 6, 5),
    ],
)
def test_cycles_in_flight_follow_them_too(
    devices: int, asked: dict[str, int], count: int, lanes: int
) -> None:
    fitted = Islands(**asked).fitted(devices)
    assert fitted.fitted(devices) == fitted
    assert (fitted.count, fitted.with_lanes(devices).lanes) == (count, lanes)


def test_cycles_that_were_asked_for_become_no_more() -> None:
    assert Islands(cycles_in_flight=4).fitted(8).most_fed == 1.0
    assert Islands().fitted(8).most_fed == 2.0


def test_every_key_is_read_somewhere() -> None:
    """Of its own section, by the engine's code; a validator's look at it does not count."""
    # Plots read no key, and without matplotlib's types mypy gives them up.
    code = [f for f in sorted((ROOT / "engine").rglob("*.py")) if "matplotlib" not in f.read_text()]
    read = reads(code)
    assert len(keys()) > 60
    assert [key for key in keys() if key not in read] == []


UNREAD = """
from pydantic import BaseModel, model_validator

class Limits(BaseModel):
    elites: int
    every: int | None
    most: int

    @model_validator(mode="after")
    def _some(self):
        if self.every == 0:
            raise ValueError
        return self

class Other(BaseModel):
    elites: int
    limits: Limits | None

def read(other: Other) -> int:
    return other.elites + (other.limits.most if other.limits else 0)
"""


def test_a_name_of_another_type_or_in_a_validator_is_no_read(tmp_path: Path) -> None:
    (tmp_path / "part.py").write_text(UNREAD)
    read = reads([tmp_path / "part.py"], tmp_path)
    assert {("part.Other", "elites"), ("part.Other", "limits"), ("part.Limits", "most")} <= read
    assert not {("part.Limits", "elites"), ("part.Limits", "every")} & read


def test_there_are_few_keys() -> None:
    assert len(keys()) <= 100


@pytest.mark.parametrize("path", SHIPPED, ids=lambda p: p.name)
def test_shipped_configurations_are_valid(path: Path) -> None:
    assert load_config(path).task


def test_findings_may_be_a_bare_list_and_sources_may_be_called_from(file: Path) -> None:
    bare, said = (
        load_config(file, [word]).findings
        for word in ("findings=[a, b.yaml]", "findings={every: 9, from: [a, b.yaml]}")
    )
    assert [*map(str, bare.sources)] == [*map(str, said.sources)] == ["a", "b.yaml"]
    assert (bare.every, said.every) == (40, 9)


def test_no_island_has_a_distiller_of_its_own(file: Path) -> None:
    with pytest.raises(ConfigError, match=r"name its model in llm\.roles"):
        load_config(file, ["operators.0.models={distiller: x}"])
