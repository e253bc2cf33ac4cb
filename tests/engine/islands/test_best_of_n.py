"""Tests of islands that start every cycle at the naive seed, as best-of-N has it."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import run_campaign
from engine.config import parse_config
from engine.islands.operators import island_operators
from engine.store.events import Added, CycleStarted, Designed, Drafted, Migrated, Selected
from engine.store.kinds.calls import CallReserved
from engine.store.store import read_events
from evaluators.kernel.source import kernel_id
from operators.catalog import CatalogDesigner
from operators.catalog.selector import TournamentSelector
from operators.individual import Candidate, Individual
from operators.llm.question import CAMPAIGN, Reply, Request, Unanswered
from operators.operator import Context, Design
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.engine.islands.test_island import INFO, OPERATORS, TASK, World, drafts, judged
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench

FROM_SEED = [{"base": "seed", "crossover": 0, "mutation": 0}]
SEED = kernel_id(TASK.naive)


class Watching(CatalogDesigner):
    """Remembers what it was shown."""

    def __init__(self) -> None:
        super().__init__(TASK, INFO)
        self.seen: list[tuple[set[str], set[str], Mapping[str, float]]] = []

    async def design(self, base: Individual, reference: Individual, context: Context) -> Design:
        shown = set(context.individuals)
        self.seen.append(({base.id, reference.id}, shown, base.evaluation.times_us))
        return await super().design(base, reference, context)


def world(budget: int, **changes: Any) -> World:
    return World(budget=budget, **{"operators": FROM_SEED, **changes})


def made(one: World) -> list[Drafted]:
    return [event for event in one.of(Drafted) if event.cycle]


def test_every_attempt_starts_at_the_seed_though_faster_kernels_are_known() -> None:
    whole = world(30)
    assert whole.run() == "stopped"
    best = whole.island.state().best_speedup
    assert best > (judged(SEED).speedup or 0.0), "nothing faster was there to be built upon"
    assert {event.tournament for event in whole.of(CycleStarted)} == {(SEED,)}
    selections = [event.selection for event in whole.of(Selected)]
    assert {(one.base_id, one.reference_id) for one in selections} == {(SEED, SEED)}
    assert {(draft.origin, draft.parents) for draft in made(whole)} == {("experiment", (SEED,))}

    evolving = World(budget=30, operators=[{"crossover": 0, "mutation": 0}])
    evolving.run()
    assert any(draft.parents != (SEED,) for draft in made(evolving)), "it tells nothing apart"


def test_operators_see_nothing_but_the_seed() -> None:
    designer = Watching()
    whole = world(30, tools=replace(OPERATORS, designer=designer))
    whole.run()
    assert len(designer.seen) > 5
    assert all(parents == shown == {SEED} for parents, shown, _ in designer.seen)


def test_attempts_are_draws_that_follow_from_the_seed_island_and_cycle_alone() -> None:
    """A cycle designs the same, whatever became of those before it."""
    one, other = world(6), world(6)
    one.run()
    other.run()
    other.island.receive(1, 1, [stranger()])
    one.budget = other.budget = 30
    one.run()
    other.run()
    assert other.of(Migrated)
    designs = [[event.design for event in each.of(Designed)] for each in (one, other)]
    assert designs[0] == designs[1] and len(designs[0]) > 5


def stranger() -> Individual:
    draft = Drafted(
        island=1,
        cycle=4,
        slot=2,
        kernel_id="far",
        candidate=Candidate.from_source("/*---\n---*/ far"),
        origin="experiment",
    )
    return draft.individual(judged("far"))


def test_a_hundred_attempts_are_a_hundred_kernels() -> None:
    whole = world(100)
    assert whole.run() == "stopped"
    assert len(set(whole.asked)) == len(whole.asked) == 100
    techniques = {draft.experiment.technique for draft in made(whole) if draft.experiment}
    assert "newcomer" in techniques and len(techniques) > 5


@pytest.mark.parametrize("kept", [4, 11, 20, 29])
def test_it_is_resumed_at_the_seed_which_has_no_place_in_the_population_any_more(kept: int) -> None:
    lone = {"cycles_in_flight": 1, "capacity": 1}
    whole = world(14, islands=lone)
    whole.run()
    cut = whole.log[:kept]
    told = [event for event in cut if isinstance(event, Added)]
    resumed = world(14 - max(0, len(told) - 1), islands=lone, earlier=cut)
    resumed.run()
    assert drafts(resumed.log) == drafts(whole.log)
    assert {draft.parents for draft in made(resumed)} == {(SEED,)}


def test_a_new_verdict_on_the_seed_is_the_one_that_cycles_see() -> None:
    designer = Watching()
    whole = world(3, tools=replace(OPERATORS, designer=designer), islands={"cycles_in_flight": 1})
    whole.run()
    times_us = {"a": 1.0, "b": 1.0}
    whole.island.revise(1, replace(judged(SEED), times_us=times_us))
    before = len(designer.seen)
    whole.budget += 9
    whole.run()
    seen = [times for _, _, times in designer.seen]
    assert seen[before - 1] != times_us
    assert len(seen) > before + 1 and seen[-1] == times_us


# --- with models ------------------------------------------------------------------------------

MODELS = {"models": {"main": {"model": "x"}}}


def asking(**mix: Any) -> dict[str, Any]:
    return {
        "task": "transpose",
        "operators": [{"kind": "llm", **FROM_SEED[0], **mix}],
        "llm": MODELS,
    }


class Nobody:
    """A model that must not be asked."""

    async def complete(self, request: Request) -> Reply | Unanswered:
        raise AssertionError(f"{request.role} is asked")

    def turned_away(self, request: Request, kind: Any, reason: str) -> None:
        raise AssertionError(reason)


def test_with_models_nobody_selects_tunes_or_tells() -> None:
    config = parse_config(asking(select_from=1), where="test")
    operators = island_operators(config, 0, TASK, INFO, Nobody())
    assert isinstance(operators.selector, TournamentSelector)
    assert not config.tunes(0) and not config.shares_memory(0)
    usual = parse_config({**asking(), "operators": [{"kind": "llm"}]}, where="test")
    assert not isinstance(
        island_operators(usual, 0, TASK, INFO, Nobody()).selector, TournamentSelector
    )
    assert usual.tunes(0) and usual.shares_memory(0)


def prompts_that_name_others(folder: Path, mix: dict[str, Any]) -> tuple[list[str], set[str]]:
    """Of a campaign beside a scripted endpoint: prompts that hold another kernel's id than the
    naive seed's; and the roles that were asked."""
    with serving(Script(unique=True)) as server, local_ray():
        values = {
            "task": "sgemm",
            "name": "it",
            "runs_dir": str(folder),
            "tracking": "none",
            "budgets": {"evaluations": 20},
            "operators": [{"kind": "llm", "repairs": 0, **mix}],
            "llm": {"base_url": server.base_url, "models": {"main": {"model": "scripted"}}},
        }
        run_campaign(parse_config(values, where="test"), workbench=quick_workbench())
    events = [stored.event for stored in read_events(folder / "it" / "store.sqlite")]
    others = {e.kernel_id[:12] for e in events if isinstance(e, Drafted) and e.origin != "seed"}
    asked = [  # by islands: the campaign's own last question is of all that was found
        event for event in events if isinstance(event, CallReserved) and event.island != CAMPAIGN
    ]
    texts = ["".join(message.content for message in one.prompt or ()) for one in asked]
    assert len(others) >= 19 and all(texts)
    found = [text for text in texts if any(other in text for other in others)]
    return found, {one.role for one in asked}


@pytest.mark.soak
def test_models_are_told_of_no_other_kernel(tmp_path: Path) -> None:
    found, roles = prompts_that_name_others(tmp_path / "seed", FROM_SEED[0])
    assert found == []
    assert roles == {"designer", "writer"}
    found, roles = prompts_that_name_others(tmp_path / "selected", {"crossover": 0, "mutation": 0})
    assert found and "selector" in roles, "the test tells nothing apart"
