"""Tests of what prompts tell of a kernel's parameters."""

import math
from dataclasses import replace
from typing import Any

from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id, parse_kernel
from evaluators.measuring.intervals import Spread
from operators.individual import Candidate, Individual
from operators.llm.prompts.landscape import landscape_lines, landscapes
from operators.llm.prompts.render import Scene, designer_prompt, selector_prompt, writer_prompt
from scripts.scripted_model.individuals import DEVICE, EXPERIMENT, SEED, SGEMM

SPREAD = Spread(sitting=0.003, distance=0.0, run=0.8)

SOURCE = """/*---
launches: [{kernel: k, grid: [1], block: [64], args: [x]}]
params: {ROWS: 1, V: 4}
space: {ROWS: [1, 2, 8], V: [4, 8, 16]}
constraints: ["ROWS * V <= 64"]
---*/
__global__ void k(float* x) { x[0] = ROWS * V; }
"""


def point(rows: int, v: int, percent: float | None, status: Status | None = None) -> Individual:
    """So many percent faster than the kernel at ROWS 1, V 4, raced beside the same anchor."""
    source = parse_kernel(SOURCE).with_params({"ROWS": rows, "V": v}).text
    identity = kernel_id(source)
    common: dict[str, Any] = {"kernel_id": identity, "task_hash": "t", "device_class": "c"}
    if percent is None:
        made = Evaluation(status=status or Status.WRONG, reason="c[0] is wrong", **common)
    else:
        speedup = 2.0 * (1 + percent / 100)
        gain = {"a": math.log(speedup)}
        made = Evaluation(
            status=Status.PASSED,
            times_us={"a": 100 / speedup},
            blocks={"a": tuple(gain["a"] + d for d in (-1e-4, 0.0, 1e-4, 0.0))},
            gains=gain,
            anchor_id="seed",
            speedup=speedup,
            ci95=(0.99 * speedup, 1.01 * speedup),
            **common,
        )
    return Individual(
        id=identity, candidate=Candidate.from_source(source), origin="mutation", evaluation=made
    )


HERE = point(1, 4, 0.0)
FASTER = point(8, 4, 6.0)
POINTS = [HERE, FASTER, point(1, 8, 0.1), point(1, 16, None), point(2, 8, -3.0)]


def test_each_parameter_says_what_its_values_brought_with_interval_or_noise() -> None:
    rows, v, summary = landscape_lines(HERE, POINTS, SPREAD)
    elsewhere, measured = rows.split("; ")
    assert elsewhere.startswith("ROWS 1 -> 2 at V=8: -3.") and "..-" in elsewhere
    assert measured.startswith("1 -> 8: +6% (+") and "within" not in measured
    assert v.startswith("V 4 -> 8: within noise (-") and v.endswith("; 4 -> 16: WRONG")
    assert summary.startswith(f"5 points of 8 tried, best ROWS=8 V=4 ({FASTER.id}): +6% (")


def test_constraints_and_other_structures_are_no_points() -> None:
    other = parse_kernel(SOURCE.replace("x[0] =", "x[1] =")).text
    stranger = Individual(
        id=kernel_id(other),
        candidate=Candidate.from_source(other),
        origin="experiment",
        evaluation=HERE.evaluation,
    )
    assert landscape_lines(HERE, [HERE, stranger], SPREAD) == []
    tight = SOURCE.replace("<= 64", "<= 16")
    assert parse_kernel(tight).structure == parse_kernel(SOURCE).structure
    one = Individual(
        id=HERE.id,
        candidate=Candidate.from_source(tight),
        origin="experiment",
        evaluation=HERE.evaluation,
    )
    *_, summary = landscape_lines(one, [one, point(1, 8, -1.0)], SPREAD)
    assert summary == "2 points of 5 tried, this one is the best"


def test_a_structure_is_told_once() -> None:
    told = landscapes([FASTER, HERE], POINTS, SPREAD)
    assert list(told) == [FASTER.id]
    assert "ROWS 8 -> 1: -5.6" in told[FASTER.id] and "this one is the best" in told[FASTER.id]


def test_designer_and_selector_are_told_and_the_promise_is_made_where_it_is_kept() -> None:
    scene = Scene(task=SGEMM, device=DEVICE, tuned={one.id: one for one in POINTS[1:]})
    known = {HERE.id: HERE, SEED.id: SEED}
    designer = designer_prompt(scene, HERE, SEED, known, avenues=1, experiments=1)
    assert "- ROWS 1 -> 2 at V=8" in designer.messages[1].content
    selector = selector_prompt(scene, [HERE, SEED], known)
    assert f"- {HERE.id}: ROWS 1 -> 2 at V=8" in selector.messages[1].content
    said = writer_prompt(scene, SEED, SEED, EXPERIMENT, known).messages[0].content
    assert "While devices are idle" in said
    nobody = Scene(task=SGEMM, device=DEVICE, tuned=None)
    said = writer_prompt(nobody, SEED, SEED, EXPERIMENT, known).messages[0].content
    assert "idle" not in said and "Mutations try them" in said


# --- shapes that want different points ----------------------------------------------------------


def shaped(source: str, percents: dict[str, float]) -> Individual:
    """So many percent faster than the kernel at ROWS 1, V 4 on each shape."""
    gains = {label: math.log(2.0 * (1 + one / 100)) for label, one in percents.items()}
    speedup = math.exp(sum(gains.values()) / len(gains))
    one = point(1, 4, 0.0)
    blocks = {label: tuple(g + d for d in (-1e-4, 0.0, 1e-4, 0.0)) for label, g in gains.items()}
    evaluation = replace(
        one.evaluation,
        kernel_id=kernel_id(source),
        times_us={label: 100 / math.exp(g) for label, g in gains.items()},
        gains=gains,
        blocks=blocks,
        speedup=speedup,
        ci95=(0.99 * speedup, 1.01 * speedup),
    )
    candidate = Candidate.from_source(source)
    return replace(one, id=kernel_id(source), candidate=candidate, evaluation=evaluation)


def at(rows: int, v: int) -> str:
    return parse_kernel(SOURCE).with_params({"ROWS": rows, "V": v}).text


def varied(rows: int, v: int) -> str:
    kernel = parse_kernel(SOURCE).with_params({"ROWS": rows, "V": v})
    return kernel.with_variants((("N >= 100", {"V": 16}),)).text


SMALL = shaped(at(8, 4), {"a": 40.0, "b": -20.0})
LARGE = shaped(at(1, 8), {"a": -5.0, "b": 10.0})
EVEN = shaped(at(1, 4), {"a": 0.0, "b": 0.0})


def test_where_shapes_want_different_points_both_are_named() -> None:
    *_, told = landscape_lines(EVEN, [EVEN, SMALL, LARGE], SPREAD)
    assert told.startswith("best by shape: a: ROWS=8 V=4 (")
    first, second = told.removeprefix("best by shape: ").split("; ")
    assert SMALL.id in first and ": +40% (" in first
    assert second.startswith(f"b: ROWS=1 V=8 ({LARGE.id}): +10% (")
    *_, told = landscape_lines(LARGE, [EVEN, SMALL, LARGE], SPREAD)
    assert told.startswith(f"best by shape: a: ROWS=8 V=4 ({SMALL.id}): +47.4% (")
    assert told.endswith("; on the others none is shown to be faster")


def test_one_best_point_or_noise_is_not_told_by_shape() -> None:
    faster = shaped(at(8, 4), {"a": 40.0, "b": 20.0})
    noisy = shaped(at(1, 8), {"a": 0.1, "b": -0.1})
    for others in ([faster], [noisy], [shaped(at(2, 8), {"a": -1.0, "b": -9.0})]):
        lines = landscape_lines(EVEN, [EVEN, *others], SPREAD)
        assert lines and not any(line.startswith("best by shape") for line in lines)


def test_a_kernel_with_variants_is_told_of_the_points_without() -> None:
    one = shaped(varied(1, 4), {"a": 1.0, "b": 30.0})
    start, rows, v, summary, told = landscape_lines(one, [one, EVEN, SMALL, LARGE], SPREAD)
    assert start == f"values are told from {EVEN.id}, which is this kernel without its variants"
    assert rows.startswith("ROWS 1 -> 8: ") and v.startswith("V 4 -> 8: ")
    # Like with like: the point at ROWS=1 V=4 stands beside others, not the kernel with variants.
    ratio = math.sqrt(1.4 * 0.8) - 1
    assert f"ROWS 1 -> 8: {100 * ratio:+.2f}% (" in rows
    assert summary.startswith("3 points of 8 tried without variants, best ROWS=8 V=4 (")
    assert summary.endswith(") beside this one")
    assert told.startswith(f"best by shape: a: ROWS=8 V=4 ({SMALL.id}): +38.6% (")
    assert told.endswith("; on the others none is shown to be faster")
    # It is no point itself, where others are shown.
    assert one.id not in " ".join(landscape_lines(EVEN, [one, EVEN, SMALL], SPREAD))


def test_without_its_own_point_nothing_is_compared_with_a_kernel_of_variants() -> None:
    one = shaped(varied(1, 4), {"a": 1.0, "b": 30.0})
    lines = landscape_lines(
        one, [one, SMALL, LARGE, shaped(at(2, 8), {"a": 3.0, "b": 4.0})], SPREAD
    )
    assert lines[0].startswith("this kernel without its variants has no times")
    assert any(line.startswith("ROWS 1 -> 2 at V=8: +") for line in lines)
    assert not any(line.startswith("V ") for line in lines)
    assert landscape_lines(one, [one], SPREAD) == []


def test_kernels_that_differ_in_variants_are_one_structure() -> None:
    one = shaped(varied(1, 4), {"a": 1.0, "b": 30.0})
    assert list(landscapes([one, EVEN], [EVEN, SMALL], SPREAD)) == [one.id]


def test_of_many_shapes_those_are_named_on_which_most_is_to_be_gained() -> None:
    labels = [f"N={2**number}" for number in range(20)]
    even = shaped(at(1, 4), dict.fromkeys(labels, 0.0))
    gains = {label: float(5 * number) for number, label in enumerate(labels)}
    other = shaped(at(8, 4), gains)
    third = shaped(at(1, 8), {**dict.fromkeys(labels, -5.0), labels[1]: 50.0})
    *_, told = landscape_lines(even, [even, other, third], SPREAD)
    assert told.startswith(f"best by shape: {labels[19]}: ROWS=8 V=4 ")
    assert told.endswith("; 13 more shapes; on the others none is shown to be faster")
    assert told.count("ROWS=8 V=4") == 1 and told.count(other.id) == 6 and len(told) < 500
