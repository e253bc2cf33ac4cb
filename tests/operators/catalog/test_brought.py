"""Rules of other campaigns in the catalogue: it begins where they won, and leaves their traps."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from evaluators.kernel.source import parse_kernel
from operators.catalog.brought import starts
from operators.catalog.designer import CatalogDesigner
from operators.catalog.families import families
from operators.finding import About, Condition, Finding
from operators.individual import Experiment
from operators.operator import Knowledge
from operators.tuning.initial import InitialDesign, family_of
from tests.operators.people import DEVICE, SGEMM, context, individual

SOURCES = families(SGEMM).sources
LAST = list(SOURCES)[-1]


def rule(kind: str, about: About, ratio: tuple[float, float, float] = (2.0, 1.9, 2.1)) -> Finding:
    return Finding(
        id=f"{kind}{about.key}",
        kind="win" if kind == "win" else "trap",
        rule="x",
        about=about,
        condition=Condition(task="sgemm"),
        ratio=ratio,
        origin="elsewhere",
    )


def point_of(family: str) -> dict[str, int]:
    return SOURCES[family].grid.params(3)


def test_only_points_that_can_be_made_here_are_begun_with() -> None:
    point = point_of("gemm_tile")
    name = next(iter(point))
    rules = [
        rule("win", About(family="gemm_tile", params=point), (3.0, 2.9, 3.1)),
        rule("win", About(family="gemm_tile", params={name: 12345}), (9.0, 8.0, 9.9)),
        rule("win", About(family="nothing", params=point), (9.0, 8.0, 9.9)),
        rule("trap", About(family="gemm_tile", params=point), (0.5, 0.4, 0.6)),
    ]
    assert starts(rules, SOURCES) == [("gemm_tile", point)]


@pytest.mark.parametrize("islands", [1, 2])
def test_an_initial_design_begins_at_the_point_and_leaves_trapped_families(islands: int) -> None:
    point = point_of("gemm_tile")
    brought = [
        rule("win", About(family="gemm_tile", params=point)),
        rule("trap", About(family=LAST), (0.3, 0.2, 0.4)),
    ]
    parts = [
        InitialDesign(
            SGEMM, 0, per_family=3, most=99, place=place, islands=islands, brought=brought
        )
        for place in range(islands)
    ]
    drafts = [one.draft(number) for one in parts for number in range(len(one))]
    first = parse_kernel(parts[0].draft(0).candidate.source)
    assert {name: first.params[name] for name in point} == point
    assert LAST not in {family_of(one.report) for one in drafts}
    assert len(drafts) == 1 + 3 * (len(SOURCES) - 1)


def test_most_bounds_what_is_brought_along_too() -> None:
    brought = [rule("win", About(family="gemm_tile", params=point_of("gemm_tile")))]
    made = InitialDesign(SGEMM, 0, per_family=3, most=4, place=0, islands=1, brought=brought)
    assert len(made) == 4


def designed(*brought: Finding, seed: int = 3) -> list[Experiment]:
    base = individual(SOURCES["gemm_tile"].text, speedup=4.0)
    told = replace(
        context(base),
        rng=np.random.default_rng(seed),
        knowledge=Knowledge(brought=brought),
    )
    design = asyncio.run(CatalogDesigner(SGEMM, DEVICE).design(base, base, told))
    return list(design.experiments)


def test_a_measured_gain_stands_in_the_place_of_the_usual_guess() -> None:
    plain = {one.technique: one for seed in range(12) for one in designed(seed=seed)}
    name = next(one for one in plain if one != "newcomer")
    told = rule("win", About(technique=name), (3.0, 2.9, 3.1))
    after = [one for s in range(12) for one in designed(told, seed=s) if one.technique == name]
    assert after
    for one in after:
        assert one.performance[0] > 150 > plain[name].performance[0]


def test_trapped_families_and_lost_steps_are_not_proposed() -> None:
    base = SOURCES["gemm_tile"].params
    usual = [one for seed in range(12) for one in designed(seed=seed)]
    single = [one for one in usual if len(_changed(one, base)) == 1]
    assert single and any(one.params["family"] == LAST for one in usual)
    ((name, value),) = _changed(single[0], base).items()
    low, high = sorted((base[name], value))
    up = value > base[name]
    lost = rule(
        "trap" if up else "win",
        About(family="gemm_tile", parameter=name, change=(low, high)),
        (0.5, 0.4, 0.6) if up else (2.0, 1.9, 2.1),
    )
    trapped = rule("trap", About(family=LAST), (0.3, 0.2, 0.4))
    after = [one for seed in range(12) for one in designed(lost, trapped, seed=seed)]
    assert not [one for one in after if one.params["family"] == LAST]
    assert not [one for one in after if _changed(one, base) == {name: value}]


def _changed(one: Experiment, base: Mapping[str, int]) -> dict[str, int]:
    if one.params["family"] != "gemm_tile":
        return {}
    return {k: v for k, v in one.params["params"].items() if base[k] != v}
