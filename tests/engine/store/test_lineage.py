"""How a kernel came about: each step's technique and parameters on one line, no report."""

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from engine.cli.result import STEPS_SHOWN, result_lines
from engine.store.events import Drafted, Event
from engine.store.lineage import lineage, lineage_text, what_made
from engine.store.replay import Replay, replay
from engine.store.store import Store
from engine.store.summary import summarise
from operators.catalog.families import families
from operators.individual import Candidate, Experiment, Origin
from operators.tuning.initial import InitialDesign
from tests.engine import campaign_log as log
from tests.operators.examples import SGEMM

REPORT = "I staged the tile through LDS.\n\nThen I padded it.\n" + "And more. " * 200


cycles = count(1)


def kernel(name: str, **params: int) -> Candidate:
    values = ", ".join(f"{key}: {value}" for key, value in params.items())
    launch = "launches:\n  - {kernel: k, grid: [1], block: [1], args: []}\n"
    return Candidate.from_source(
        f"/*---\n{launch}params: {{{values}}}\n---*/\n// {name}\n__global__ void k() {{}}\n"
    )


def step(
    name: str, base: str, speedup: float | None, candidate: Candidate, **changes: Any
) -> Iterator[Event]:
    drafted, *others = log.step(0, next(cycles), name, base, speedup)
    assert isinstance(drafted, Drafted)
    yield replace(drafted, candidate=candidate, report=REPORT, **changes)
    yield from others


def experiment(technique: str, **params: Any) -> Experiment:
    return Experiment(
        technique=technique,
        description="",
        rubric="",
        performance=(0.0, 1.0),
        innovation=1,
        params=params,
    )


def told(path: Path, *events: Event) -> Replay:
    store = path / "store.sqlite"
    log.write(store, [*log.opening(log.config(path)), *events, *log.ending()])
    return replay(store)


def of(origin: Origin, experiment: Experiment | None = None) -> dict[str, Any]:
    return {"origin": origin, "experiment": experiment}


def test_each_step_is_one_line_of_technique_and_changed_parameters(tmp_path: Path) -> None:
    tiles = experiment("stage the tile\nin LDS", family="tile")
    whole = told(
        tmp_path,
        *step("tiled", "seed", 2.0, kernel("tiled", T=8, V=1), experiment=tiles),
        *step("broken", "tiled", None, Candidate.from_source("no kernel"), experiment=tiles),
        *step("mended", "broken", 3.0, kernel("mended", T=8, V=1), **of("repair", tiles)),
        *step("tuned", "mended", 4.0, kernel("tuned", T=8, V=4), **of("mutation")),
        *step(
            "both",
            "tuned",
            5.0,
            kernel("both", T=8, V=4, S=2),
            parents=("tuned", "tiled"),
            **of("crossover"),
        ),
    )
    assert [(one.speedup, one.text) for one in lineage(whole, "both")] == [
        ("1.00x", "seed"),
        ("2.00x", "stage the tile in LDS: tile, T = 8, V = 1"),
        ("WRONG", "stage the tile in LDS: tile"),
        ("3.00x", "repair of 'stage the tile in LDS': tile, T = 8, V = 1"),
        ("4.00x", "mutation: V 1 -> 4"),
        ("5.00x", "crossover with tiled: S = 2"),
    ]
    assert lineage(whole, "both")[1].line.startswith(
        "stage the tile in LDS: tile, T = 8, V = 1  +100% (+"
    )
    lines = list(result_lines(summarise(whole, tmp_path), whole, None))
    shown = lines[lines.index("how it came about:") + 1 :][:6]
    assert [one.split()[1] for one in shown] == [
        "seed",
        "tiled",
        "broken",
        "mended",
        "tuned",
        "both",
    ]
    assert "I staged" not in "\n".join(lines) + lineage_text(whole, "both")
    assert len(lineage_text(whole, "both").splitlines()) == 6


def test_a_point_of_the_initial_design_is_told_with_its_family(tmp_path: Path) -> None:
    drafted, *others = step("first", "seed", 2.0, kernel("first", T=8))
    assert isinstance(drafted, Drafted)
    design = InitialDesign(SGEMM, 0, per_family=1, most=9, place=0, islands=1)
    report = design.draft(1).report
    family = report.removeprefix("initial design: ").partition(",")[0]
    assert family in families(SGEMM).sources
    first = replace(drafted, origin="initial", experiment=None, report=report)
    found = told(tmp_path, first, *others)
    assert lineage(found, "first")[-1].text == f"initial: {family}, T = 8"
    assert what_made(first) == f"initial: {family}"
    other = replace(first, report="initial design of my own")
    assert what_made(other) == "initial"


def test_variants_by_shape_are_told_with_what_they_change(tmp_path: Path) -> None:
    def made(name: str, variants: str) -> Candidate:
        source = kernel(name, T=8, V=1).source
        return Candidate.from_source(source.replace("\n---*/", f"\nvariants: [{variants}]\n---*/"))

    small, large = "{when: N <= 64, params: {T: 1}}", "{when: N > 99, params: {T: 16, V: 4}}"
    whole = told(
        tmp_path,
        *step("plain", "seed", 2.0, kernel("plain", T=8, V=1), **of("experiment", experiment("t"))),
        *step("one", "plain", 3.0, made("one", small), **of("mutation")),
        *step("two", "one", 4.0, made("two", f"{small}, {large}"), **of("mutation")),
    )
    assert [one.text for one in lineage(whole, "two")][2:] == [
        "mutation: where N <= 64: T 8 -> 1",
        "mutation: where N > 99: T 8 -> 16, V 1 -> 4",
    ]


def test_a_long_way_and_many_parameters_are_cut(tmp_path: Path) -> None:
    many = {f"P{number}": number for number in range(20)}
    events: list[Event] = []
    for number in range(1, STEPS_SHOWN + 5):
        base = f"k{number - 1}" if number > 1 else "seed"
        technique = experiment("a technique " * 40)
        events += step(f"k{number}", base, 1.0 + number, kernel("k", **many), experiment=technique)
    whole = told(tmp_path, *events)
    lines = list(result_lines(summarise(whole, tmp_path), whole, None))
    start = lines.index("how it came about:")
    assert lines[start + 1].strip() == "5 earlier steps are in the store's view lineage"
    first = lineage(whole, "k1")[-1].text
    assert first.endswith(" ...: P0 = 0, P1 = 1, P2 = 2, P3 = 3, P4 = 4, P5 = 5, P6 = 6, 13 more")
    assert max(map(len, lines[start:])) < 250


def test_a_store_of_before_shows_how_its_best_came_about(tmp_path: Path) -> None:
    path = Path(__file__).parents[1] / "data" / "store_of_20edbf1.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    with Store(tmp_path / "store.sqlite") as store:
        store.append(
            [(r["kind"], r["key"], r["island"], r["cycle"], json.dumps(r["body"])) for r in rows]
        )
    whole = replay(tmp_path / "store.sqlite")
    assert whole.scores.best is not None
    steps = lineage(whole, whole.scores.best.kernel_id)
    assert steps[0].text == "seed"
    assert all("\n" not in one.text for one in steps)
