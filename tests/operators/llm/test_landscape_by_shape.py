"""Tests of what prompts tell of shapes that want different points, beyond noise and at any size."""

from dataclasses import replace

import numpy as np
import pytest

from evaluators.evaluation import Status
from evaluators.kernel.source import kernel_id, parse_kernel
from evaluators.tasks.arguments import Workload
from operators.individual import Candidate, Individual
from operators.llm.call import estimated_tokens
from operators.llm.prompts.landscape import landscape_lines
from operators.llm.prompts.render import Scene, designer_prompt, selector_prompt
from operators.llm.question import Prompt
from scripts.scripted_model.individuals import DEVICE, SEED, SGEMM
from tests.operators.llm.test_landscape_lines import (
    EVEN,
    LARGE,
    SMALL,
    SPREAD,
    at,
    point,
    shaped,
    varied,
)

SHAPES = [Workload(dims={"N": n}, suite="benchmarks") for n in (64, 128)]
LOW, HIGH = (one.label for one in SHAPES)
PREFIX = "best by shape: "


def by_shape(one: Individual, *others: Individual) -> str:
    """The line, or "" where there is none."""
    lines = landscape_lines(one, [one, *others], SPREAD, SHAPES)
    told = [line for line in lines if line.startswith(PREFIX)]
    assert lines and len(told) <= 1
    return told[0].removeprefix(PREFIX) if told else ""


@pytest.mark.parametrize("variants", [False, True])
def test_the_point_that_runs_on_a_shape_is_no_news_there(variants: bool) -> None:
    """At N=128 the kernel with variants is the point V=16, whatever another race said of it."""
    source = varied(1, 4) if variants else at(1, 4)
    one = shaped(source, {LOW: 0.0, HIGH: 0.0})
    there = shaped(at(1, 16), {LOW: -50.0, HIGH: 30.0})
    assert bool(by_shape(one, there)) is not variants
    better = shaped(at(8, 4), {LOW: -40.0, HIGH: 60.0})
    assert by_shape(one, there, better).startswith(f"{HIGH}: ROWS=8 V=4 ({better.id}): +60% (")


def test_the_best_of_all_is_named_where_another_is_as_good_within_noise() -> None:
    one = shaped(at(1, 4), {LOW: 0.0, HIGH: 0.0})
    best = shaped(at(8, 4), {LOW: 50.0, HIGH: -10.0})
    luckier = shaped(at(2, 4), {LOW: 50.3, HIGH: -30.0})
    told = by_shape(one, best, luckier)
    assert f"({best.id})" in told and luckier.id not in told
    ahead = shaped(at(2, 4), {LOW: 70.0, HIGH: -30.0})
    assert f"({ahead.id})" in by_shape(one, best, ahead)


@pytest.mark.soak
def test_what_chance_makes_of_many_equal_points_is_not_told() -> None:
    """200 times 30 points and 12 shapes, each off by what single races are."""
    rng = np.random.default_rng(1)
    labels = [f"N={n}" for n in range(12)]
    numbers = list(range(30))
    text = parse_kernel(at(1, 4)).with_space({"V": [1, *numbers]}).text
    text = text.replace('constraints: ["ROWS * V <= 64"]\n', "")
    sources = [parse_kernel(text).with_params({"V": v}).text for v in numbers]
    told = 0
    for _ in range(200):
        errors = 100 * SPREAD.sitting * rng.standard_normal((len(numbers), len(labels)))
        people = [
            shaped(source, dict(zip(labels, map(float, row), strict=True)))
            for source, row in zip(sources, errors, strict=True)
        ]
        lines = landscape_lines(people[0], people, SPREAD)
        told += any(line.startswith(PREFIX) for line in lines)
    assert told <= 4


def test_evaluations_without_gains_by_shape_say_nothing_by_shape() -> None:
    """They have one speedup, which would stand for every shape."""
    one = shaped(at(1, 4), {LOW: 0.0, HIGH: 0.0})
    other = shaped(at(1, 8), {LOW: -50.0, HIGH: 30.0})
    old = shaped(at(8, 4), {LOW: 20.0, HIGH: 20.0})
    assert old.id in by_shape(one, other, old)
    old = replace(old, evaluation=replace(old.evaluation, gains={}, blocks={}))
    assert by_shape(one, other, old) == by_shape(one, other) != ""


def test_where_the_kernel_without_variants_failed_values_are_told_from_elsewhere() -> None:
    one = shaped(varied(1, 4), {LOW: 0.0, HIGH: 0.0})
    points = [
        shaped(at(*values), {LOW: gain, HIGH: gain})
        for values, gain in (((8, 4), 1.0), ((1, 8), 2.0), ((8, 8), 9.0))
    ]
    start, rows, *_ = landscape_lines(one, [point(1, 4, None), *points], SPREAD, SHAPES)
    assert start.startswith("this kernel without its variants has no times")
    assert rows.startswith("ROWS 1 -> 8 at V=8: +6.8")


def test_failed_and_damaged_kernels_are_passed_over() -> None:
    one = shaped(varied(1, 4), {LOW: 0.0, HIGH: 0.0})
    damaged = replace(SMALL, id="0" * 16, candidate=Candidate.from_source("/*--- params: {"))
    assert landscape_lines(damaged, [damaged, EVEN], SPREAD, SHAPES) == []
    broken = point(8, 4, None, Status.CRASHED)
    lines = landscape_lines(one, [one, damaged, broken], SPREAD, SHAPES)
    assert lines == ["1 point of 8 tried without variants, none passed"]
    strange = parse_kernel(at(1, 4)).with_variants((("ELSEWHERE > 1", {"V": 8}),)).text
    told = by_shape(shaped(strange, {LOW: 0.0, HIGH: 0.0}), shaped(at(8, 4), {LOW: 30.0, HIGH: 0}))
    assert told.startswith(f"{LOW}: ROWS=8 V=4 (")


def huge(names: int, values: int, changed: dict[str, int]) -> str:
    params = {f"PARAMETER_{i}": 1 for i in range(names)}
    space = ", ".join(f"{name}: {list(range(1, values + 1))}" for name in params)
    flow = ", ".join(f"{name}: {value}" for name, value in {**params, **changed}.items())
    return f"""/*---
launches: [{{kernel: k, grid: [1], block: [64], args: [x]}}]
params: {{{flow}}}
space: {{{space}}}
variants: [{{when: "N > 100", params: {{PARAMETER_0: 2}}}}]
---*/
__global__ void k(float* x) {{ x[0] = PARAMETER_0; }}
"""


def text_of(prompt: Prompt) -> str:
    return prompt.messages[1].content


def test_a_huge_space_is_told_in_few_words_within_the_budget() -> None:
    known_labels = [workload.label for workload in SGEMM.workloads("benchmarks", "cpu")]
    labels = [*known_labels, *(f"M={n} N={n} K={n}" for n in range(9000, 9012))]
    one = shaped(huge(64, 64, {}), dict.fromkeys(labels, 0.0))
    people = [one]
    for i, label in enumerate(labels):
        changed = {f"PARAMETER_{(7 * i + j) % 64}": 5 for j in range(40)}
        source = parse_kernel(huge(64, 64, changed)).with_variants(()).text
        people.append(shaped(source, {**dict.fromkeys(labels, -9.0), label: 30.0 + i}))
    summary, line = landscape_lines(one, people, SPREAD)
    assert line.startswith(PREFIX) and 300 < len(line) <= 600
    assert " and 34 more (" in line and line.endswith(" more shapes")
    assert "points of up to 4e+115 tried" in summary
    scene = Scene(task=SGEMM, device=DEVICE, tokens=8000, tuned={p.id: p for p in people[1:]})
    known = {one.id: one, SEED.id: SEED}
    for prompt in (
        designer_prompt(scene, one, SEED, known, avenues=2, experiments=1),
        selector_prompt(scene, [one, SEED], known),
    ):
        assert estimated_tokens(prompt.messages) <= 8000


def test_designer_and_selector_are_told_by_the_shapes_of_the_task() -> None:
    """With its own dims, so that what its variant chose is not told as news."""
    workloads = SGEMM.workloads("benchmarks", DEVICE.backend)
    labels = [one.label for one in workloads]
    first = parse_kernel(at(1, 4))
    chosen = " and ".join(f"{name} == {size}" for name, size in workloads[0].dims.items())
    one = shaped(first.with_variants(((chosen, {"V": 8}),)).text, dict.fromkeys(labels, 0.0))
    low = dict.fromkeys(labels, -60.0)
    same = shaped(at(1, 8), {**low, labels[0]: 400.0})
    other = shaped(at(8, 4), {**low, labels[1]: 500.0})
    scene = Scene(task=SGEMM, device=DEVICE, tuned={p.id: p for p in (same, other)})
    known = {one.id: one, SEED.id: SEED}
    line = f"best by shape: {labels[1]}: ROWS=8 V=4 ({other.id}): +500% ("
    designer = text_of(designer_prompt(scene, one, SEED, known, avenues=1, experiments=1))
    selector = text_of(selector_prompt(scene, [one, SEED], known))
    for text in (designer, selector):
        assert line in text and f"{labels[0]}: ROWS" not in text


def test_shapes_told_are_those_with_most_to_gain() -> None:
    assert kernel_id(at(1, 4)) == EVEN.id
    lines = landscape_lines(EVEN, [EVEN, SMALL, LARGE], SPREAD)
    assert lines[-1].index(SMALL.id) < lines[-1].index(LARGE.id)
