"""The catalogue's operators: reproducible, within constraints, and honest when they decline."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task, shipped_tasks
from operators.catalog import catalog_operators
from operators.catalog.designer import AVENUES, EXPERIMENTS, NEWCOMER, TECHNIQUES
from operators.catalog.families import FAMILIES, families, random_params
from operators.catalog.generated import WRITERS
from operators.catalog.technique import Technique
from operators.individual import Experiment, Individual
from operators.operator import Declined, Design, Draft, choose_experiments
from tests.operators.catalog.formula.tasks import turned
from tests.operators.examples import FISSION, GPU, LABELS, SGEMM, context, individual
from tests.soaked import one_in

KNOWN = families(SGEMM)
TUTORIAL = Path(__file__).parents[2] / "kernels" / "tutorial"
WRITTEN_FOR = [
    TUTORIAL / name
    for name in ("softmax_rows", "stencil_halo", "matmul_double_buffer", "scan_blelloch")
]
"""Tasks whose families are written from their formulas, one of each kind."""
OPERATORS = catalog_operators(SGEMM, FISSION, "families")

FOREIGN = """/*---
launches:
  - {kernel: f, grid: [1], block: [TILE], args: [a, b, c, M, N, K]}
params: {TILE: 8, DEPTH: 2}
space: {TILE: [4, 8, 16], DEPTH: [1, 2]}
constraints: ["TILE * DEPTH <= 16"]
---*/
__global__ void f(const float* a, const float* b, float* c, int M, int N, int K) {}
"""


def tile(speedup: float = 1.0, **params: int) -> Individual:
    return individual(KNOWN.render("gemm_tile", params).text, speedup)


def naive() -> Individual:
    return individual(SGEMM.naive)


def design(base: Individual, seed: int = 0, known: Sequence[Individual] = ()) -> Design:
    return asyncio.run(OPERATORS.designer.design(base, base, context(seed, [base, *known])))


def write(base: Individual, experiment: Experiment) -> Draft:
    return asyncio.run(OPERATORS.writer.write(base, base, experiment, context()))


def mutate(parent: Individual, seed: int = 0, known: Sequence[Individual] = ()) -> Draft:
    return asyncio.run(OPERATORS.mutator.mutate(parent, context(seed, [parent, *known])))


def cross(first: Individual, second: Individual, seed: int = 0) -> Draft:
    return asyncio.run(OPERATORS.crossover.cross(first, second, context(seed, [first, second])))


class TestTechniques:
    @pytest.mark.parametrize("technique", TECHNIQUES, ids=lambda t: f"{t.name}: {t.target}")
    def test_it_names_families_that_exist(self, technique: Technique) -> None:
        names = {*(family.name for family in FAMILIES), *WRITERS}
        assert technique.sources <= names
        assert technique.target is None or technique.target in names
        for low, high in (technique.cpu, technique.gpu):
            assert -100 < low < high
        assert 0 <= technique.innovation <= 100

    @pytest.mark.parametrize(
        "technique", one_in(4, TECHNIQUES), ids=lambda t: f"{t.name}: {t.target}"
    )
    def test_it_fits_somewhere_and_leads_to_a_feasible_other_point(
        self, technique: Technique, tmp_path: Path
    ) -> None:
        rng = np.random.default_rng(1)
        fitted = 0
        tasks: list[str | Path] = [*shipped_tasks(), *WRITTEN_FOR]
        for task in [*map(load_task, tasks), turned(tmp_path / "t")]:
            known = families(task)
            for family in sorted(technique.sources & set(known.sources)):
                for _ in range(60):
                    params = random_params(known.sources[family], rng)
                    for point in technique.points(known, family, params):
                        fitted += 1
                        assert known.sources[point[0]].feasible(point[1])
                        assert point != (family, params)
        assert fitted

    @pytest.mark.parametrize("name", ["sgemm", "softmax", "sum_reduction", "transpose"])
    def test_they_lead_from_the_textbook_kernel_to_every_family(self, name: str) -> None:
        known = families(load_task(name))
        assert known.home is not None
        reached: set[str | None] = {known.home}
        for _ in known.sources:
            reached |= {
                technique.target
                for technique in TECHNIQUES
                if technique.target in known.sources and technique.sources & reached
            }
        assert reached == set(known.sources)


def newcomers(design: Design) -> list[Experiment]:
    return [one for one in design.experiments if one.technique == NEWCOMER.name]


def steps(design: Design) -> list[Experiment]:
    return [one for one in design.experiments if one.technique != NEWCOMER.name]


class TestDesigner:
    def test_the_naive_seed_gets_experiments_that_can_be_written(self) -> None:
        base = naive()
        found = design(base)
        assert 1 <= len(found.avenues) <= AVENUES
        assert 3 <= len(found.experiments) <= EXPERIMENTS
        for experiment in found.experiments:
            assert experiment.avenue in found.avenues
            draft = write(base, experiment)
            kernel = parse_kernel(draft.candidate.source)
            assert KNOWN.of(kernel) == experiment.params["family"]
            assert experiment.technique in draft.report

    def test_one_experiment_changes_one_thing_and_keeps_the_rest(self) -> None:
        params = {"TM": 4, "TN": 16, "BX": 2, "BY": 4, "KU": 2, "ORDER": 2, "EDGE": 1}
        base = tile(**params)
        before = parse_kernel(base.candidate.source).params
        decisions = {
            technique.name: {*technique.sets, *technique.steps, *technique.free}
            for technique in TECHNIQUES
            if "gemm_tile" in technique.sources
        }
        for seed in range(20):
            for experiment in steps(design(base, seed)):
                after = experiment.params["params"]
                differing = {
                    name for name in before if after.get(name, before[name]) != before[name]
                }
                assert differing <= decisions[experiment.technique]
                if experiment.params["family"] == "gemm_tile":
                    assert differing

    def test_it_repeats_by_seed_and_varies_between_seeds(self) -> None:
        base = tile(TM=4, TN=8)
        assert design(base, 1) == design(base, 1)
        drawn = {tuple(e.technique for e in design(base, seed).experiments) for seed in range(10)}
        assert len(drawn) > 3

    def test_what_was_tried_is_not_proposed_again(self) -> None:
        assert KNOWN.home is not None
        home = KNOWN.sources[KNOWN.home].params
        points = [p for t in TECHNIQUES for p in t.points(KNOWN, KNOWN.home, home)]
        unique = {(family, *params.items()): (family, params) for family, params in points}
        *tried, left = (
            individual(KNOWN.render(family, params).text) for family, params in unique.values()
        )
        for seed in range(3):
            for experiment in steps(design(naive(), seed, tried)):
                assert write(naive(), experiment).candidate == left.candidate
        assert steps(design(naive(), 0, [*tried, left])) == []

    def test_newcomers_come_from_anywhere_and_follow_what_was_measured(self) -> None:
        """Where one family is known to be slow and another to be fast, the fast one is drawn."""
        base = tile(TM=4, TN=8)
        drawn = [one for seed in range(8) for one in newcomers(design(base, seed))]
        assert {one.params["family"] for one in drawn} > {"gemm_pack", "gemm_lds"}
        points = {str(one.params["params"]) for one in drawn}
        assert len(points) == len(drawn) > 8
        rng = np.random.default_rng(7)
        measured = [
            individual(
                source.with_params(random_params(source, rng)).text,
                9.0 if name == "gemm_lds" else 1.0,
            )
            for name, source in KNOWN.sources.items()
            for _ in range(10)
        ]
        after = [one for seed in range(8) for one in newcomers(design(base, seed, measured))]
        share = sum(one.params["family"] == "gemm_lds" for one in after) / len(after)
        assert share > 0.6

    def test_predictions_are_the_backends_own(self) -> None:
        base = tile(TM=2, TN=2)
        gpu = catalog_operators(SGEMM, GPU).designer
        by_technique = {t.name: t for t in TECHNIQUES if "gemm_tile" in t.sources}
        found = asyncio.run(gpu.design(base, base, context(device=GPU)))
        for experiment in steps(found):
            low, high = by_technique[experiment.technique].gpu
            assert low - 5 <= experiment.performance[0] < experiment.performance[1] <= high + 5

    def test_predictions_follow_what_was_measured_nearby(self) -> None:
        """Wider tiles won twice and K's unrolling lost twice; the next predictions know."""
        base = tile(TM=4, TN=8, speedup=10.0)
        known = [
            tile(TM=4, TN=16, speedup=30.0),
            tile(TM=2, TN=16, speedup=25.0),
            tile(TM=2, TN=8, speedup=9.0),
            tile(TM=4, TN=8, KU=2, speedup=5.0),
            tile(TM=2, TN=8, KU=2, speedup=4.0),
        ]

        def predicted(technique: str, others: Sequence[Individual]) -> float:
            for seed in range(100):
                for experiment in design(base, seed, others).experiments:
                    if experiment.technique == technique:
                        return sum(experiment.performance)
            pytest.fail(f"{technique} was never proposed")

        assert predicted("much wider tile", known) > predicted("much wider tile", [])
        worse = tile(TM=6, TN=8, KU=2, speedup=4.0)
        assert predicted("taller tile", [*known, tile(TM=8, TN=8, speedup=2.0), worse]) < (
            predicted("taller tile", [])
        )

    def test_differences_to_the_reference_can_be_adopted(self) -> None:
        base, reference = tile(TM=2, TN=2), tile(TM=2, TN=64)
        adopted = set()
        for seed in range(30):
            found = asyncio.run(OPERATORS.designer.design(base, reference, context(seed)))
            adopted |= {
                experiment.params["params"]["TN"]
                for experiment in found.experiments
                if experiment.technique == "adopt TN"
            }
        assert adopted == {64}

    def test_a_kernel_of_someone_else_is_tuned_in_its_own_space(self) -> None:
        base = individual(FOREIGN)
        techniques: dict[str, Experiment] = {}
        for seed in range(60):
            techniques |= {e.technique: e for e in design(base, seed).experiments}
        assert {"tune TILE", "tune DEPTH", "register tiling"} <= set(techniques)
        draft = write(base, techniques["tune DEPTH"])
        assert "__global__ void f(" in draft.candidate.source
        assert parse_kernel(draft.candidate.source).params == {"TILE": 8, "DEPTH": 1}

    def test_a_task_without_families_and_a_kernel_without_space_are_declined(self) -> None:
        name = next(
            (name for name in shipped_tasks() if families(load_task(name)).home is None),
            None,
        )
        if name is None:
            pytest.skip("every shipped task is a known problem")
        task = load_task(name)
        operators = catalog_operators(task, FISSION, "families")
        base = individual(task.naive)
        with pytest.raises(Declined):
            asyncio.run(operators.designer.design(base, base, context(task=task)))


class TestWriter:
    def test_an_experiment_in_words_only_is_declined(self) -> None:
        experiment = Experiment(
            technique="magic", description="", rubric="", performance=(0, 1), innovation=1
        )
        with pytest.raises(Declined, match="magic"):
            write(naive(), experiment)

    @pytest.mark.parametrize(
        "params",
        [
            {"family": "softmax_block", "params": {}},
            {"family": "gemm_tile", "params": {"TM": 16, "TN": 64}},
            {"params": {"TM": 3}},
        ],
        ids=["another problem", "constraint", "unknown parameter"],
    )
    def test_what_does_not_fit_is_declined(self, params: dict[str, Any]) -> None:
        experiment = Experiment(
            technique="x",
            description="",
            rubric="",
            performance=(0, 1),
            innovation=1,
            params=params,
        )
        with pytest.raises(Declined):
            write(naive(), experiment)


class TestMutator:
    def test_one_or_two_parameters_move_one_place(self) -> None:
        parent = tile(TM=4, TN=8, BX=8, BY=8, KU=2, ORDER=1)
        kernel = parse_kernel(parent.candidate.source)
        counts = set()
        for seed in range(60):
            mutant = parse_kernel(mutate(parent, seed).candidate.source)
            assert mutant.code == kernel.code
            assert mutant.feasible({})
            moved = {k for k in kernel.params if kernel.params[k] != mutant.params[k]}
            counts.add(len(moved))
            for name in moved:
                values = kernel.space[name]
                places = values.index(mutant.params[name]) - values.index(kernel.params[name])
                assert abs(places) == 1
        assert counts == {1, 2}

    def test_constraints_hold_in_a_foreign_kernel(self) -> None:
        parent = individual(FOREIGN)
        seen = set()
        for seed in range(40):
            params = parse_kernel(mutate(parent, seed).candidate.source).params
            assert params["TILE"] * params["DEPTH"] <= 16
            seen.add(tuple(params.values()))
        assert seen == {(4, 2), (8, 1), (4, 1), (16, 1)}

    def test_known_neighbours_are_left_out_until_none_is_left(self) -> None:
        parent = individual(FOREIGN)
        known: list[Individual] = []
        for _ in range(4):
            known.append(individual(mutate(parent, 1, known).candidate.source))
        assert len({one.id for one in known}) == 4
        with pytest.raises(Declined, match="neighbour"):
            mutate(parent, 1, known)

    def test_without_a_space_it_declines(self) -> None:
        with pytest.raises(Declined, match="space"):
            mutate(naive())


class TestCrossover:
    def test_children_mix_both_parents(self) -> None:
        first = tile(TM=2, TN=4, BX=8, BY=8, KU=1)
        second = tile(TM=8, TN=32, BX=2, BY=2, KU=4)
        a, b = (parse_kernel(one.candidate.source).params for one in (first, second))
        seen = set()
        for seed in range(40):
            child = parse_kernel(cross(first, second, seed).candidate.source)
            assert child.feasible({})
            assert child.id not in (first.id, second.id)
            assert all(child.params[name] in (a[name], b[name]) for name in a)
            assert any(child.params[name] != a[name] for name in a)
            seen.add(child.id)
        assert len(seen) > 10
        assert cross(first, second, 7) == cross(first, second, 7)

    def test_families_exchange_the_parameters_they_share(self) -> None:
        first = tile(TM=2, TN=4)
        second = individual(KNOWN.render("gemm_split", {"TM": 8, "SPLIT": 4}).text)
        children = [parse_kernel(cross(first, second, seed).candidate.source) for seed in range(5)]
        assert all(KNOWN.of(child) == "gemm_tile" for child in children)
        assert any(child.params["TM"] == 8 for child in children)
        assert not any("SPLIT" in child.params for child in children)

    def test_strangers_and_twins_are_declined(self) -> None:
        with pytest.raises(Declined, match="share no parameter"):
            cross(tile(TM=2), individual(FOREIGN))
        with pytest.raises(Declined, match="share no parameter"):
            cross(tile(TM=2), tile(TM=2))

    def test_infeasible_mixes_are_declined(self) -> None:
        """16 x 64 outputs a thread break the constraint, and nothing else differs."""
        with pytest.raises(Declined, match="feasible"):
            cross(tile(TM=16, TN=8), tile(TM=16, TN=64 // 2))


class TestSelector:
    def test_better_ranks_are_bases_more_often(self) -> None:
        tournament = [tile(TM=tm) for tm in (1, 2, 4, 8)]
        bases = [
            asyncio.run(
                OPERATORS.selector.select(tournament, context(seed, tournament, task=SGEMM))
            ).base_id
            for seed in range(300)
        ]
        counts = [bases.count(one.id) for one in tournament]
        assert counts == sorted(counts, reverse=True)
        assert counts[0] > 100
        assert counts[3] > 0

    def test_the_reference_is_best_where_the_base_is_not(self) -> None:
        base = individual(tile(TM=8).candidate.source, 4.0, (100, 900))
        ahead = individual(tile(TM=4).candidate.source, 3.0, (300, 450))
        behind = individual(tile(TM=2).candidate.source, 2.0, (500, 1000))
        tournament = [base, ahead, behind]
        for seed in range(40):
            selection = asyncio.run(
                OPERATORS.selector.select(tournament, context(seed, tournament))
            )
            assert selection.decided_by == "tournament"
            assert selection.base_id != selection.reference_id
            if selection.base_id == base.id:
                break
        assert selection.base_id == base.id
        assert selection.reference_id == ahead.id
        assert f"2.00x as fast on {LABELS[1]}" in selection.rationale

    def test_else_the_reference_is_a_distant_relative(self) -> None:
        seed_ = naive()
        root = individual(tile(TM=1).candidate.source, 2.0, parents=(seed_.id,))
        base = individual(tile(TM=2).candidate.source, 9.0, parents=(root.id,))
        brother = individual(tile(TM=4).candidate.source, 8.0, parents=(root.id,))
        cousin = individual(tile(TM=8).candidate.source, 3.0, parents=(seed_.id,))
        known = [seed_, root, base, brother, cousin]
        for seed in range(40):
            selection = asyncio.run(
                OPERATORS.selector.select([base, brother, cousin], context(seed, known))
            )
            if selection.base_id == base.id:
                break
        assert selection.reference_id == cousin.id
        assert "1 common ancestors" in selection.rationale

    def test_alone_it_is_its_own_reference(self) -> None:
        one = naive()
        selection = asyncio.run(OPERATORS.selector.select([one], context(known=[one])))
        assert selection.base_id == selection.reference_id == one.id


def test_the_best_product_is_at_least_three_steps_from_the_naive_seed() -> None:
    """Tiles in registers, the order of loops over them, and edges that overlap."""
    for technique in TECHNIQUES:
        touched = {*technique.sets, *technique.steps, *technique.free}
        if "gemm_naive" in technique.sources:
            assert not touched & {"ORDER", "EDGE"}
        assert not ("EDGE" in touched and touched & {"TM", "TN", "ORDER"})


def test_choose_experiments_takes_one_by_each_criterion() -> None:
    chosen = choose_experiments(design(naive()).experiments)
    assert len({experiment.technique for experiment in chosen}) == len(chosen) == 3
