"""Which generic edits are proposed: untried ones, by what edits like them brought; and what
designer, writer, mutation, crossover, random search and the first generation make of them."""

import asyncio
import math
from dataclasses import replace

import numpy as np
import pytest

from evaluators.evaluation import Status
from evaluators.kernel.source import kernel_id, parse_kernel
from evaluators.tasks.task_file import load_task
from operators.catalog import catalog_operators, random_candidate
from operators.catalog.generic.first import FirstEdits
from operators.catalog.generic.proposals import Record, records
from operators.individual import Experiment, Individual
from operators.operator import Declined, Design, Draft
from tests.operators.examples import FISSION, GPU, SGEMM, context, individual

OPERATORS = catalog_operators(SGEMM, FISSION, "generic")
NAIVE = individual(SGEMM.naive)


def design(base: Individual, *known: Individual, seed: int = 0) -> Design:
    return asyncio.run(OPERATORS.designer.design(base, base, context(seed, [base, *known])))


def write(base: Individual, experiment: Experiment) -> Draft:
    return asyncio.run(OPERATORS.writer.write(base, base, experiment, context()))


def edited(base: Individual, experiment: Experiment, speed: float) -> Individual:
    text = write(base, experiment).candidate.source
    return individual(text, speed, parents=(base.id,), experiment=experiment)


def named(technique: str, base: Individual = NAIVE) -> Experiment:
    found = (design(base, seed=seed).experiments for seed in range(99))
    return next(one for some in found for one in some if one.technique == technique)


def test_a_design_repeats_by_seed_and_can_be_written() -> None:
    assert design(NAIVE, seed=3) == design(NAIVE, seed=3)
    told = design(NAIVE)
    assert 3 <= len(told.experiments) <= 5
    for experiment in told.experiments:
        draft = write(NAIVE, experiment)
        assert parse_kernel(draft.candidate.source).id != NAIVE.id
        assert draft.report.startswith(experiment.technique)


def test_an_experiment_is_made_again_on_another_base() -> None:
    first = named("neighbouring outputs a thread")
    other = named("fast math")
    base = edited(NAIVE, other, 1.0)
    both = parse_kernel(write(base, first).candidate.source)
    assert both.options == ("-ffast-math",) and both.params


def test_an_experiment_without_a_place_in_the_base_is_declined() -> None:
    experiment = named("neighbouring outputs a thread")
    sum_of = individual(load_task("sum_reduction").naive)
    with pytest.raises(Declined, match="finds no such place"):
        write(sum_of, experiment)


def test_what_was_tried_is_not_proposed_again() -> None:
    tried = [NAIVE]
    for seed in range(60):
        try:
            told = design(NAIVE, *tried[1:], seed=seed)
        except Declined:
            break
        ids = {one.id for one in tried}
        for experiment in told.experiments:
            one = edited(NAIVE, experiment, 1.0)
            assert one.id not in ids
            tried.append(one)
    else:
        pytest.fail("there is no end of edits of one kernel")
    assert len({one.id for one in tried}) > 10


def test_predictions_follow_what_a_technique_brought() -> None:
    experiment = named("fast math")
    low, high = experiment.performance
    bad = edited(NAIVE, experiment, 0.5)
    told = records([NAIVE, bad])
    assert sum(told["fast math"].gains) == pytest.approx(math.log(0.5))
    corrected = told["fast math"].corrected((low, high))
    assert corrected[0] < low and corrected[1] < high


def test_failures_make_a_technique_rarer() -> None:
    experiment = named("fast math")
    wrong = edited(NAIVE, experiment, 1.0)
    failed = replace(
        wrong.evaluation, status=Status.WRONG, reason="it is", times_us={}, gains={}, speedup=None
    )
    told = records([NAIVE, replace(wrong, evaluation=failed)])["fast math"]
    assert (told.failed, told.gains) == (1, ())
    assert told.success < Record().success


def test_gpus_are_offered_other_techniques() -> None:
    designer = catalog_operators(SGEMM, GPU, "generic").designer
    found = set()
    for seed in range(60):
        told = asyncio.run(designer.design(NAIVE, NAIVE, context(seed, [NAIVE], device=GPU)))
        found |= {one.technique for one in told.experiments}
    assert {"unrolling", "launch bounds"} <= found
    assert not {"one thread a block", "loops unrolled by the compiler"} & found


def test_a_mutation_of_a_kernel_without_a_space_is_an_edit() -> None:
    draft = asyncio.run(OPERATORS.mutator.mutate(NAIVE, context(1, [NAIVE])))
    assert kernel_id(draft.candidate.source) != NAIVE.id


def test_a_child_has_the_edits_of_the_other_parents_line() -> None:
    fast = edited(NAIVE, named("fast math"), 1.2)
    tile = edited(NAIVE, named("register tiles"), 8.0)
    known = context(0, [NAIVE, fast, tile])
    child = parse_kernel(asyncio.run(OPERATORS.crossover.cross(tile, fast, known)).candidate.source)
    assert child.options == ("-ffast-math",) and set(child.params) == {"PER_X", "PER_Y"}


def test_random_search_walks_from_the_seed_and_repeats_by_seed() -> None:
    texts = {
        random_candidate(SGEMM, np.random.default_rng(seed), FISSION, "generic").candidate.source
        for seed in range(12)
    }
    assert len(texts) > 6
    again = random_candidate(SGEMM, np.random.default_rng(5), FISSION, "generic")
    assert again.candidate.source in texts
    with pytest.raises(Declined, match="no family"):
        random_candidate(SGEMM, np.random.default_rng(0), None, "generic")


def test_islands_share_the_first_generation() -> None:
    def of(place: int, islands: int) -> list[str]:
        first = FirstEdits(SGEMM, FISSION, SGEMM.naive, most=9, place=place, islands=islands)
        return [first.draft(number).candidate.source for number in range(len(first))]

    together = of(0, 1)
    assert len(set(together)) == 9
    assert sorted([*of(0, 2), *of(1, 2)]) == sorted(together)
    first = FirstEdits(SGEMM, FISSION, SGEMM.naive, most=9, place=0, islands=1)
    experiments = [first.experiment(number) for number in range(9)]
    assert len({one.technique for one in experiments if one is not None}) == 9  # each once first
    assert first.experiment(9) is None
    with pytest.raises(Declined):
        first.draft(9)
