"""Tests of searches on recorded tables: what a table says is what a campaign meets."""

import gzip
import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts import bench_search, record_table
from scripts.search.reading import problem_of
from scripts.search.scores import Mean, over_random
from scripts.search.simulation import simulate
from scripts.search.table import Table, TableError

TILES, BLOCKS, LAYOUTS = (1, 2, 3, 4, 6, 8), (16, 32, 48, 64, 128, 256), ("row", "column")


def results() -> list[dict[str, Any]]:
    """144 points less those that break a restriction; a few of them fail."""
    found = []
    for tile, block, layout, cached in itertools.product(TILES, BLOCKS, LAYOUTS, (False, True)):
        if tile * block > 512:
            continue
        time = 1 + abs(math.log2(tile / 4)) + 0.5 * abs(math.log2(block / 64))
        time += 0.7 * (layout == "row") + 0.2 * cached
        fails = tile == 3 and layout == "row"
        found.append(
            {
                "configuration": {"tile": tile, "block": block, "layout": layout, "cached": cached},
                "invalidity": "runtime" if fails else "correct",
                "measurements": [] if fails else [{"name": "time", "value": time, "unit": "ms"}],
                "times": {"compilation": 12.5},
            }
        )
    return found


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "made.A1.T4.json.gz"
    tree = {"schema_version": "1.0.0", "metadata": {}, "results": results()}
    path.write_bytes(gzip.compress(json.dumps(tree).encode()))
    return path


def test_what_others_say_of_a_table_does_not_make_it_ours(table: Path) -> None:
    tree = json.loads(gzip.decompress(table.read_bytes()))
    tree["metadata"] = {"kernel": "convolution", "task": "tuning", "device": 7, "shapes": "one"}
    table.write_bytes(gzip.compress(json.dumps(tree).encode(), mtime=0))
    (points,) = problem_of(table).points.values()
    assert len(points) == len(results())


def test_a_foreign_table_becomes_a_space_of_its_points_and_no_others(table: Path) -> None:
    problem = problem_of(table)
    (source,) = problem.sources.values()
    (points,) = problem.points.values()
    names = source.grid.names
    listed = {tuple(dict(point)[name] for name in names) for point in points}
    assert {tuple(row) for row in source.grid.rows.tolist()} == listed
    assert len(listed) == len(results())
    assert sum(one.gains is None for one in points.values()) == sum(
        not one["measurements"] for one in results()
    )
    curve = problem.random_curve(len(listed))
    assert curve == sorted(curve) and curve[-1] == pytest.approx(1.0)
    shares = sorted(math.exp(g) for one in points.values() if one.gains for g in one.gains.values())
    passed = [one["measurements"][0]["value"] for one in results() if one["measurements"]]
    assert curve[0] == pytest.approx(sum(1 / time for time in passed) / len(listed))
    assert shares[-1] == pytest.approx(max(passed)), "over the slowest"


@pytest.mark.soak
def test_a_campaign_finds_the_optimum_and_pays_for_each_kernel_once(table: Path) -> None:
    problem = problem_of(table)
    traces = [simulate(problem, {}, evaluations=90, seed=seed) for seed in (1, 1, 2)]
    assert traces[0].shares == traces[1].shares != traces[2].shares
    for trace in traces:
        assert len(trace.shares) == 90 and trace.unknown == 0
        assert trace.curve(90)[-1] == pytest.approx(1.0)
        assert trace.curve(100)[-10:] == [trace.curve(90)[-1]] * 10
    whole = simulate(problem, {}, evaluations=400, seed=0)
    assert len(whole.shares) == len(results()), "it ends where no kernel is left"


def test_the_command_tells_of_arms_tables_and_pairs(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own.yaml"
    own.write_text("task: sgemm\nislands: {count: 1}\noperators: [{kind: random}]\n")
    arguments = [str(table), "--seeds", "3", "--evaluations", "50", "--workers", "2"]
    arguments += ["--arm", "tuner", "--arm", f"own={own}", "--no-kernel-tuner"]
    plot = tmp_path / "curves.png"
    assert bench_search.main([*arguments, "--plot", str(plot)]) == 0
    found = json.loads(capsys.readouterr().out)
    (told,) = found["tables"]
    assert told["points"] == len(results()) and found["at"] == [25, 50]
    assert told["arms"]["tuner"]["share"]["50"]["mean"] > told["random"]["50"]
    assert told["tuner_less"]["own"]["area"]["mean"] > 0
    assert set(found["evaluations_per_s"]) == {"tuner", "own"}
    assert plot.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("no json", ["is not JSON", "name a T4 file"]),
        ("{}", ["no list 'results'"]),
        ('{"results": [{"measurements": []}]}', ["result 1 lacks 'configuration'"]),
        (
            '{"results": [{"configuration": {"a": 1}, "measurements": []}]}',
            ["no point with a time"],
        ),
    ],
)
def test_a_file_that_is_no_table_gets_one_sentence(
    text: str, words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "bad.T4.json"
    path.write_text(text)
    assert bench_search.main([str(path)]) == 1
    error = capsys.readouterr().err
    assert all(word in error for word in words) and error.count("\n") == 1
    assert bench_search.main([str(tmp_path / "none.json")]) == 1
    assert "is missing" in capsys.readouterr().err


@pytest.mark.soak
def test_points_that_no_rule_tells_from_the_rest_are_searched(tmp_path: Path) -> None:
    """Words, fractions and a listing by lot, in a grid of a billion points."""
    rng = np.random.default_rng(0)
    values: dict[str, list[Any]] = {f"n{place}": list(range(40)) for place in range(5)}
    values |= {"how": ["rows", "columns", "tiles"], "part": [0.25, 0.5, 1.0], "fast": [True, False]}
    path = tmp_path / "sparse.T4.json"
    listed = {
        tuple(one[int(rng.integers(len(one)))] for one in values.values()) for _ in range(240)
    }
    rows = [
        {
            "configuration": dict(zip(values, point, strict=True)),
            "invalidity": "correct" if point[0] else "runtime",
            "measurements": [{"name": "time", "value": 1.0 + abs(point[1] - 20) + point[2] / 50}],
        }
        for point in sorted(listed, key=str)
    ]
    path.write_text(json.dumps({"results": rows}))
    problem = problem_of(path)
    trace = simulate(problem, {}, evaluations=80, seed=0)
    assert len(trace.shares) == 80 and trace.unknown == 0
    assert trace.curve(80)[-1] > problem.random_curve(80)[-1]
    assert len(simulate(problem, {}, evaluations=400, seed=0).shares) == len(rows)
    (source,) = problem.sources.values()
    beside = {name: one[0] for name, one in source.space.items()}
    assert not source.feasible(beside) and source.feasible(source.params)


@pytest.mark.soak
def test_two_tables_of_one_space_keep_their_points_apart(table: Path, tmp_path: Path) -> None:
    other = tmp_path / "part.T4.json"
    # All values of all parameters, and fewer points.
    kept = [one for place, one in enumerate(results()) if place % 3 or place < 40]
    other.write_text(json.dumps({"results": kept}))
    first, second = problem_of(table), problem_of(other)
    spaces = [next(iter(one.sources.values())).space for one in (first, second)]
    assert spaces[0] == spaces[1]
    for problem, rows in ((first, results()), (second, kept)):
        (source,) = problem.sources.values()
        assert len(source.grid.rows) == len(rows)
        assert simulate(problem, {}, evaluations=60, seed=0).unknown == 0


def test_scores_mean_what_they_say() -> None:
    curves = np.array([[0.5, 1.0, 1.0], [0.5, 0.5, 1.0]])
    assert over_random(curves, [0.5, 0.5, 0.5]).tolist() == pytest.approx([2 / 3, 1 / 3])
    assert over_random(curves[:, :1], [0.8])[0] == -1.0
    mean = Mean.of(np.array([0.2, 0.4, 0.6]))
    assert mean.mean == pytest.approx(0.4) and mean.low < 0.4 < mean.high and mean.worst == 0.2


@pytest.mark.soak
def test_a_recorded_table_goes_on_where_it_stopped_and_is_searched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sum_atomic.T4.json.gz"
    arguments = ["--task", "sum_reduction", "--family", "sum_atomic", "--shape", "N=4096"]
    arguments += ["--values", "BLOCKS=8,32", "--values", "BLOCK=64", "--values", "LANES=1,4"]
    arguments += ["--values", "VEC=0", "--out", str(path), "--workers", "2"]
    assert record_table.main([*arguments, "--seconds", "0"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert 0 < first["recorded"] < first["points"]
    before = Table.read(path).rows
    assert record_table.main(arguments) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["recorded"] == told["points"] == first["points"]
    table = Table.read(path)
    assert list(table.rows[: len(before)]) == list(before), "nothing is measured twice"
    assert all(row.status.value == "PASSED" and len(row.times_ms) == 2 for row in table.rows)
    problem = problem_of(path)
    trace = simulate(problem, {}, evaluations=8, seed=0)
    assert trace.curve(8)[-1] > 0
    assert record_table.main([*arguments, "--shape", "N=8192"]) == 1
    assert "was recorded with other 'shapes'" in capsys.readouterr().err


def test_tables_that_differ_are_not_searched_together(table: Path, tmp_path: Path) -> None:
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / "x.T4.json.gz").write_bytes(table.read_bytes())
    with pytest.raises(TableError, match=r"only tables of scripts/record_table\.py"):
        problem_of(tmp_path / "both")
