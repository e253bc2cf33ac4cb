"""Which keys play a part in a trial's score: what the simulation reads, and what is refused."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

from engine.config_errors import ConfigError
from scripts.population.parts import PLAY, simulated
from scripts.population.plan import read_plan
from scripts.population.settings import require_settings, settings_of
from scripts.search.problem import Problem
from scripts.search.reading import problem_of
from scripts.search.simulation import simulate
from tests.scripts.population.tune_plans import ROOT, plan_of, plan_values
from tests.soaked import one_in

LLM = {"operators": [{"kind": "llm"}], "llm": {"models": {"a": {"model": "a"}}}}
SITUATIONS = ROOT / "docs" / "measured" / "situations"
ON: dict[str, list[Any]] = {
    "situations": [SITUATIONS / f"{one}_catalogue_cpu.json.gz" for one in ("sgemm", "softmax")],
    "tasks": ["sgemm", "softmax"],
}
WITH: dict[str, dict[str, Any]] = {
    "migration.topology": {"islands.count": 4, "migration.every": 4},
    "migration.every": {"islands.memory": "own"},
    "migration.elites": {"islands.memory": "own"},
    "operators.base": {"operators.crossover": 0, "operators.mutation": 0, "operators.tuning": 0},
}
"""What else a key wants to play its part."""
OTHERWISE: dict[str, Any] = {
    "islands.count": 1,
    "islands.cycles_in_flight": 5,
    "islands.initial": 0,
    "islands.capacity": 3,
    "islands.tournament": 12,
    "islands.restart": 3,
    "islands.memory": "own",
    "migration.topology": "full",
    "migration.every": 2,
    "migration.elites": 0,
    "operators.kind": "random",
    "operators.base": "seed",
    "operators.experiment": 0,
    "operators.crossover": 90,
    "operators.mutation": 90,
    "operators.tuning": 0,
    "operators.experiments_per_cycle": 1,
}
NONE = {
    "islands.per_device": 4,
    "operators.avenues": 1,
    "operators.designs": 1,
    "operators.select_from": 9,
    "operators.repairs": 0,
}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    folder = tmp_path_factory.mktemp("table")
    plan_values(folder)
    return problem_of(folder / "seen.T4.json")


@pytest.fixture(scope="module")
def shares(table: Problem, tmp_path_factory: pytest.TempPathFactory) -> Any:
    plan = plan_of(tmp_path_factory.mktemp("plan"))

    @cache
    def of(values: tuple[tuple[str, Any], ...]) -> list[float]:
        settings = simulated(settings_of(plan, dict(values)))
        return simulate(table, settings, evaluations=50, seed=0).shares

    return lambda values: of(tuple(values.items()))


def test_all_keys_of_tables_are_looked_at() -> None:
    # Cycles without a new kernel are few on a table as long as points are left.
    assert {*OTHERWISE, "islands.patience"} == set(PLAY["tables"])


@pytest.mark.parametrize("key", one_in(4, OTHERWISE))
def test_a_key_that_is_taken_changes_what_a_simulation_does(shares: Any, key: str) -> None:
    usual = WITH.get(key, {})
    assert shares({**usual, key: OTHERWISE[key]}) != shares(usual)


@pytest.mark.parametrize("key", NONE)
def test_one_that_is_refused_changes_nothing(shares: Any, key: str, tmp_path: Path) -> None:
    assert shares({key: NONE[key]}) == shares({})
    with pytest.raises(ConfigError, match=f"search.{key} plays no part on tables: leave it out"):
        require_settings(plan_of(tmp_path, search={key: [1, NONE[key], 2][1:]}))


@pytest.mark.parametrize(
    ("kind", "key", "values"),
    [
        ("tables", "budgets.tuning", [0, 9]),
        ("tables", "devices.patience_s", [3, 9]),
        ("tables", "final.seconds", [3, 9]),
        ("tables", "llm.novelty", [0.5, 0.9]),
        ("tables", "seed", [1, 2]),
        ("tasks", "seed", [1, 2]),
        ("tasks", "task", ["sgemm", "softmax"]),
        ("tasks", "budgets.evaluations", [9, 10]),
        ("tasks", "tracking.uri", ["none", "sqlite"]),
        ("tasks", "final.seconds", [3, 9]),
        ("situations", "islands.count", [1, 2]),
        ("situations", "operators.mutation", [1, 2]),
        ("situations", "operators.select_from", [1, 2]),
        ("situations", "llm.keep_prompts", [True, False]),
    ],
)
def test_keys_without_a_part_are_refused(
    tmp_path: Path, kind: str, key: str, values: list[Any]
) -> None:
    more: dict[str, Any] = {"campaign": LLM}
    if kind != "tables":
        first, second = ON[kind]
        more |= {"seen": {kind: [first]}, "unseen": {kind: [second]}}
    plan = plan_of(tmp_path, search={key: values}, **more)
    with pytest.raises(ConfigError, match=f"^search.{key} plays no part on {kind}: leave it out$"):
        require_settings(plan)


@pytest.mark.parametrize(
    ("campaign", "key", "values", "said"),
    [
        ({"islands": {"count": 1}}, "migration.every", [3, 4], "islands.count: 1"),
        ({"islands": {"count": 1}}, "islands.memory", ["own", "shared"], "islands.count: 1"),
        ({"migration": {"elites": 0}}, "migration.every", [3, 4], "migration.elites: 0"),
        ({"operators": [{"kind": "random"}]}, "operators.mutation", [3, 4], "kind: random"),
        ({"operators": [{"kind": "random"}]}, "islands.restart", [3, 4], "kind: random"),
    ],
)
def test_so_are_those_that_others_leave_idle(
    tmp_path: Path, campaign: dict[str, Any], key: str, values: list[Any], said: str
) -> None:
    with pytest.raises(ConfigError, match=f"search.{key} plays no part on tables with .*{said}"):
        require_settings(plan_of(tmp_path, campaign=campaign, search={key: values}))


def test_models_play_no_part_on_tables(tmp_path: Path) -> None:
    for changes in (
        {"campaign": LLM},
        {"campaign": {"llm": LLM["llm"]}, "search": {"operators.kind": ["catalog", "llm"]}},
    ):
        with pytest.raises(ConfigError, match="kind: llm plays no part on tables"):
            require_settings(plan_of(tmp_path, **changes))


def test_the_shipped_plan_names_only_keys_with_a_part() -> None:
    require_settings(read_plan(ROOT / "configs" / "tune.yaml"))


def test_a_model_of_a_role_on_all_islands_is_a_key_too(tmp_path: Path) -> None:
    search = {"operators.models.writer": ["a", "b"]}
    plan = plan_of(tmp_path, search=search)
    found = settings_of(plan, {"operators.models.writer": "b"})
    assert found["operators"] == [{"models": {"writer": "b"}}]
