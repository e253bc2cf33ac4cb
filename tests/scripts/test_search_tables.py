"""Tests of tables that can't be searched: one sentence with the cause; and of ones that are odd."""

import gzip
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scripts.search.naming import names_of
from scripts.search.problem import Problem
from scripts.search.reading import problem_of
from scripts.search.simulation import simulate
from scripts.search.table import Table, TableError

KERNEL = """/*---
params: {T: 1, B: 64}
space: {T: [1, 2, 4], B: [64, 128]}
constraints: ["T * B <= 256"]
launches: [{kernel: k, grid: [1], block: [B], args: [x, y, R, C]}]
---*/
__global__ void k(const float* x, float* y, int R, int C) {}
"""
SHAPES = [{"R": 4, "C": 8}, {"R": 2, "C": 16}]
LABELS = ("R=4 C=8", "R=2 C=16")


def row(configuration: Any, time: Any = 1.0, **more: Any) -> dict[str, Any]:
    measured = [{"name": "time", "value": time}]
    return {"configuration": configuration, "measurements": measured, **more}


def made_here(*times_us: float) -> dict[str, Any]:
    """A recorded table; times by point, the same on both shapes, the naive seed's 10 us."""
    points = [{"T": t, "B": b} for t in (1, 2, 4) for b in (64, 128) if t * b <= 256]
    rows = [row(point, us / 1e3) for point, us in zip(points, times_us, strict=False)]
    for one in rows:
        for label in LABELS:
            one["measurements"].append({**one["measurements"][0], "name": label})
    metadata = {
        "task": "softmax",
        "backend": "cpu",
        "device": "some",
        "family": "k",
        "kernel": KERNEL,
        "shapes": SHAPES,
        "naive_us": dict.fromkeys(LABELS, 10.0),
        "seed": 0,
    }
    return {"metadata": metadata, "results": rows}


def write(path: Path, tree: Any) -> Path:
    text = json.dumps(tree).encode()
    path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    return path


def shares(problem: Problem, count: int = 12) -> list[float]:
    return simulate(problem, {}, evaluations=count, seed=0).shares


@pytest.mark.parametrize(("best_us", "naive"), [(40.0, 1.0), (5.0, 0.5)])
def test_no_share_is_above_the_optimum_where_the_naive_seed_is_the_best(
    best_us: float, naive: float, tmp_path: Path
) -> None:
    problem = problem_of(write(tmp_path / "a.T4.json", made_here(80, 60, best_us)))
    found = shares(problem)
    assert found[0] == pytest.approx(naive), "the naive seed is the first that is evaluated"
    assert max(found) <= 1.0
    random = problem.random_curve(4)
    assert random[0] == pytest.approx(naive) and random[-1] == pytest.approx(1.0)
    assert len(problem.random_curve(1)) == 1


def test_tables_of_one_name_are_told_apart_by_their_folders(tmp_path: Path) -> None:
    files = ("a/k.T4.json", "b/k.T4.json.gz", "c/k.json", "c/k.T4.json", "b/other.T4.json", "b")
    paths = [tmp_path / file for file in files]
    found = names_of(paths)
    assert list(found.values()) == ["a/k", "b/k", "k.json", "k.T4.json", "other", "b"]


def test_a_table_is_named_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    path = write(tmp_path / "k.T4.json", {})
    with pytest.raises(TableError, match="is named twice"):
        names_of([path, tmp_path / "a" / ".." / "k.T4.json"])


def test_recorded_tables_of_one_name_keep_their_kernels_apart(tmp_path: Path) -> None:
    for folder, tree in (("a", made_here(8)), ("b", made_here(9, 5))):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "k.T4.json", tree)
    first, second = (problem_of(tmp_path / name / "k.T4.json") for name in "ab")
    assert first.task.hash != second.task.hash


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([3], "result 1 lacks 'configuration'"),
        ([row([1])], "result 1 lacks 'configuration'"),
        ([row({"a": 1}), row({"a": [1]})], r"result 2: 'a' is \[1\], and no number"),
        ([row({"a": None})], "result 1: 'a' is None"),
        ([row({"a": math.nan})], "result 1: 'a' is nan"),
        ([row({"a": True}), row({"a": 2})], "'a' is true or false in some results, not in others"),
        ([row({"a": 1}), row({"a": 2}), row({"a": 1.0}, 3)], "results 1 and 3 are of one config"),
        ([row({"a": 1}), row({"a": 1})], "results 1 and 2 are of one configuration.*: keep one"),
        ([row({"a": 1}), row({"b": 1})], "differ in the names of their parameters: results 1 and"),
        ([row({"a": 1}, "fast")], "result 1 is 'correct' and its 'time' is 'fast', no time"),
        ([row({"a": 1}, 0)], "its 'time' is 0, no time"),
        ([row({"a": 1}, -1.5)], "its 'time' is -1.5, no time"),
        ([row({"a": 1}, math.nan)], "its 'time' is nan, no time"),
        ([row({"a": 1}, True)], "its 'time' is True, no time"),
        ([row({"a": 1}, 10**400)], "its 'time' is 1000.*, no time"),
        ([row({"a": 1}, invalidity=3)], "result 1: 'invalidity' is no word"),
        ([row({"a": 1}, times=[1])], "result 1: 'times' is no mapping"),
        ([{"configuration": {}, "measurements": {"time": 1}}], "result 1: 'measurements' is no"),
        ([row({"a": 1})], "no parameter varies"),
        ([row({})], "no parameter varies"),
        ([row({"a": n}, invalidity="runtime") for n in range(3)], "no point with a time"),
        ([row({"a": n}) for n in range(70)], "'a' has 70 values, and a kernel's .* at most 64"),
        ([row({f"p{n}": n * m for n in range(80)}) for m in (1, 2)], "limit 64"),
    ],
)
def test_rows_that_cannot_be_used_are_named(rows: list[Any], told: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.T4.json", {"results": rows})
    with pytest.raises(TableError, match=told) as error:
        problem_of(path)
    assert str(path) in str(error.value) and "\n" not in str(error.value)


GZIP = gzip.compress(json.dumps({"results": [row({"a": 1}), row({"a": 2})]}).encode(), mtime=0)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.json", b'{"results": "\xff"}', "is not UTF-8 text"),
        ("a.json", b'{"results": [], "metadata": [1]}', "'metadata' is no mapping"),
        ("a.json", b"", "is not JSON"),
        ("a.json.gz", b"{}", "is named .gz and is not gzip"),
        ("a.json.gz", GZIP[:-12], "is damaged"),
        ("a.json.gz", GZIP[:10] + b"\xff" * 20, "is damaged"),
    ],
    ids=["deep", "latin-1", "metadata", "empty", "no gzip", "cut", "garbage"],
)
def test_files_that_cannot_be_read_get_the_cause(
    name: str, content: bytes, told: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError, match=told.replace(".gz", r"\*\.gz")):
        problem_of(tmp_path / name)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (PermissionError(13, "Permission denied"), "can't be read: permission denied"),
        (IsADirectoryError(21, "Is a directory"), "can't be read: is a directory"),
    ],
)
def test_a_file_that_the_system_refuses_is_not_called_bad_json(
    error: OSError, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Path) -> bytes:
        raise error

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(TableError, match=told):
        Table.read(tmp_path / "a.json")


def test_a_folder_with_a_tables_name_is_searched_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a.T4.json").mkdir()
    with pytest.raises(TableError, match="holds no table"):
        problem_of(tmp_path / "a.T4.json")
    with pytest.raises(TableError, match=r"a\.T4\.json can't be read: is a directory"):
        problem_of(tmp_path)


def _of(key: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree["metadata"].__setitem__(key, value)


def _at(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda tree: tree["results"][1]["configuration"].__setitem__(name, value)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (_of("task", "nope"), "its task can't be used: no task 'nope'"),
        (_of("task", 3), "metadata: task: write text"),
        (_of("kernel", 5), "metadata: kernel: write text"),
        (_of("kernel", "void f() {}"), "its kernel can't be used: .*front matter"),
        (_of("backend", "tpu"), "backend 'tpu' is not known here"),
        (_of("device", None), "metadata: device: "),
        (_of("family", ["x"]), "metadata: family: "),
        (_of("shapes", {"R": 1}), "metadata: shapes: .*list"),
        (_of("shapes", [1]), "metadata: shapes.0: "),
        (_of("shapes", []), "metadata: shapes: "),
        (_of("shapes", [{"R": 0, "C": 1}]), "metadata: shapes.0.R: .*1, not 0"),
        (_of("shapes", SHAPES[:1]), "naive_us has R=4 C=8, R=2 C=16, and the shapes are R=4 C=8"),
        (_of("naive_us", [1]), "metadata: naive_us: "),
        (_of("naive_us", dict.fromkeys(LABELS, 0)), "metadata: naive_us.*, not 0"),
        (_of("naive_us", dict.fromkeys(LABELS, -1.0)), "metadata: naive_us.*, not -1"),
        (_of("naive_us", dict.fromkeys(LABELS, "x")), "metadata: naive_us.*, not 'x'"),
        (_of("naive_us", dict.fromkeys(LABELS, math.inf)), "metadata: naive_us.*, not inf"),
        (_at("T", 3), "result 2: T is 3, which the kernel's space has not"),
        (_at("T", 1.5), "result 2: T is 1.5"),
        (_at("T", "x"), "result 2: T is 'x'"),
        (lambda tree: tree["results"][1]["measurements"].pop(), "result 2 .* lacks a time on a sh"),
        (
            lambda tree: [one["configuration"].__setitem__("Z", 1) for one in tree["results"]],
            "result 1 has T, B, Z, and the kernel's space T, B",
        ),
        (
            lambda tree: tree["results"][3]["configuration"].update(T=4, B=128),
            "result 4 breaks the kernel's constraints",
        ),
    ],
)
def test_what_a_recorded_table_says_of_itself_is_checked(
    spoil: Callable[[dict[str, Any]], object], told: str, tmp_path: Path
) -> None:
    tree = made_here(5, 6, 7, 8)
    spoil(tree)
    path = write(tmp_path / "a.T4.json", tree)
    with pytest.raises(TableError, match=told) as error:
        problem_of(path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("device", "another", "has another 'device' than"),
        ("backend", "cuda", "has another 'backend' than"),
        ("task", "sgemm", "has another 'task' than"),
        ("family", "k", "family 'k' is there twice"),
        ("family", "other", "family 'other' is there twice"),
    ],
)
def test_tables_of_a_folder_must_belong_together(
    key: str, value: str, told: str, tmp_path: Path
) -> None:
    write(tmp_path / "a.T4.json", made_here(5, 6))
    other = made_here(5, 6)
    other["metadata"][key] = value
    write(tmp_path / "b.T4.json", other)
    with pytest.raises(TableError, match=told):
        problem_of(tmp_path)


@pytest.mark.parametrize(
    "rows",
    [
        [row({"a": n}, 1 + n) for n in range(50)],
        [row({"a": 0}, 5), row({"a": 1}, invalidity="runtime")],
        [row({"a": n}) for n in range(9)],
        [row({"a": 10**30 * n, "b": "x"}, 1 + n) for n in range(9)],
        [row({"a": n / 7, "b": -n}, 1 + n) for n in range(9)],
        [row({"a b": word, "params": "---*/"}, 1 + len(word)) for word in ("", "*/", "'q\"\n")],
        [row({"a": 0}, 1e-9), row({"a": 1}, 9e29)],
        [row({"a": 1}), row({"a": "1"}, 2), row({"a": 1.5}, 2)],
    ],
)
def test_odd_tables_are_searched_to_their_optimum(rows: list[Any], tmp_path: Path) -> None:
    problem = problem_of(write(tmp_path / "a.T4.json", {"results": rows}))
    trace = simulate(problem, {}, evaluations=60, seed=1)
    assert len(trace.shares) == len(rows) and trace.unknown == 0
    assert max(trace.shares) == pytest.approx(1.0)
    assert problem.random_curve(60)[-1] == pytest.approx(1.0)


def test_points_that_were_not_recorded_are_not_proposed(tmp_path: Path) -> None:
    whole = write(tmp_path / "whole.T4.json", made_here(4.0, 3.0, 2.0, 5.0, 6.0))
    part = write(tmp_path / "part.T4.json", made_here(4.0, 3.0, 2.0))
    for path, count in ((part, 3), (whole, 5)):
        (source,) = problem_of(path).sources.values()
        assert len(source.grid.rows) == count
        trace = simulate(problem_of(path), {}, evaluations=4, seed=0)
        assert trace.unknown == 0
        assert max(trace.shares) == pytest.approx(1.0)


def test_the_optimum_of_several_families_is_one_kernel_s(tmp_path: Path) -> None:
    """Each family is the faster one on one shape, and no file holds both."""
    for name, times in {"a": (1.0, 8.0), "b": (6.0, 2.0)}.items():
        tree = made_here(9.0)
        for label, time in zip(LABELS, times, strict=True):
            tree["results"][0]["measurements"].append({"name": label, "value": time / 1e3})
        tree["metadata"]["family"] = name
        tree["metadata"]["kernel"] = KERNEL + f"// {name}\n"
        write(tmp_path / f"{name}.T4.json", tree)
    found = problem_of(tmp_path)
    assert found.best == pytest.approx(
        {LABELS[0]: math.log(10.0 / 1.0), LABELS[1]: math.log(10.0 / 8.0)}
    )
