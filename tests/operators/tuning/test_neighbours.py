"""Tests of the next untried point: neighbours first, every structure early, nothing twice."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace

from evaluators.kernel.source import kernel_id, parse_kernel
from operators.individual import Individual
from operators.tuning.neighbours import Neighbours
from tests.operators.examples import individual

SOURCE = """/*---
launches: [{kernel: k, grid: [1], block: [64], args: [x]}]
params: {ROWS: 4, V: 4}
space: {ROWS: [1, 2, 4, 8], V: [2, 4, 8]}
constraints: ["ROWS * V <= 32"]
---*/
__global__ void k(float* x) { x[0] = ROWS * V; }
"""


def structure(number: int) -> str:
    return SOURCE.replace("x[0]", f"x[{number}]")


def tried(
    start: Iterable[Individual], count: int, speed: Callable[[dict[str, int]], float]
) -> list[Individual]:
    """So many points, each measured before the next is chosen."""
    known = list(start)
    neighbours, made = Neighbours(), []
    for _ in range(count):
        found = neighbours.next(known, known, {one.id for one in known})
        if found is None:
            break
        source = found.draft.candidate.source
        one = individual(
            source, speed(dict(parse_kernel(source).params)), parents=(found.parent.id,)
        )
        made.append(one)
        known.append(one)
    return made


def params(one: Individual) -> dict[str, int]:
    return dict(parse_kernel(one.candidate.source).params)


def test_first_single_steps_then_pairs_each_once_until_all_were_tried() -> None:
    start = individual(SOURCE, 2.0)
    made = tried([start], 99, lambda point: 1.0)  # nothing is faster
    singles, rest = made[:4], made[4:]
    assert sorted(tuple(params(one).values()) for one in singles) == [
        (2, 4),
        (4, 2),
        (4, 8),
        (8, 4),
    ]
    assert all(params(one)["ROWS"] * params(one)["V"] <= 32 for one in made)
    assert len({one.id for one in made}) == len(made)
    assert rest and all(one.id != start.id for one in made)
    assert len(made) == 4 * 3 - 1 - 1, "the whole space, but for its start and what is excluded"
    assert tried([start, *made], 1, lambda point: 1.0) == []


def test_the_fastest_leads_on() -> None:
    made = tried([individual(SOURCE, 2.0)], 8, lambda point: 8.0 / point["ROWS"])
    assert min(params(one)["ROWS"] for one in made) == 1, "downhill twice from 4"


def test_every_structure_has_its_first_points_early_and_the_fastest_the_most() -> None:
    speeds = {1: 8.0, 2: 4.0, 3: 1.0}
    start = [individual(structure(number), speed) for number, speed in speeds.items()]
    by_structure = {parse_kernel(one.candidate.source).structure: one for one in start}
    made = tried(start, 14, lambda point: 0.5)
    counts = Counter(
        by_structure[parse_kernel(one.candidate.source).structure].evaluation.speedup
        for one in made
    )
    assert counts[8.0] > counts[4.0] > 0 and counts[1.0] > 0


def test_what_is_known_failed_or_without_a_space_is_left_alone() -> None:
    start = individual(SOURCE, 2.0)
    kernel = parse_kernel(SOURCE)
    neighbours = {
        kernel.with_params(changed).id for changed in ({"ROWS": 2}, {"ROWS": 8}, {"V": 2}, {"V": 8})
    }
    found = Neighbours().next([start], [start], neighbours)
    assert found is not None and kernel_id(found.draft.candidate.source) not in neighbours
    bare = SOURCE.replace("space: {ROWS: [1, 2, 4, 8], V: [2, 4, 8]}\n", "")
    assert Neighbours().next([individual(bare)], [individual(bare)], ()) is None
    unreadable = replace(start, candidate=replace(start.candidate, files={"kernel.hip": "no"}))
    assert Neighbours().next([unreadable], [unreadable], ()) is None


def test_the_same_knowledge_gives_the_same_choice() -> None:
    start = [individual(structure(number), 1.0 + number) for number in range(3)]
    first, second = (tried(start, 9, lambda point: point["V"]) for _ in range(2))
    assert [one.id for one in first] == [one.id for one in second]
