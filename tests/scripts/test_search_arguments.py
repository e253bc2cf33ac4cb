"""Tests of bench_search's arguments: what can't work is refused before the work begins."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scripts import bench_search
from scripts.search import outputs
from scripts.search.arms import arm_of
from scripts.search.plot import draw
from tests.scripts.test_search_tables import row, write


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = [row({"a": a, "b": b}, 1 + a + b / 3) for a in range(6) for b in range(6)]
    return write(tmp_path / "made.T4.json", {"results": rows})


def refused(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What it ends with, on argparse's last line."""
    with pytest.raises(SystemExit) as ended:
        bench_search.main([*map(str, arguments)])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return error.strip().splitlines()[-1]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("operatorss: []\n", "operatorss is not a known key (did you mean operators?)"),
        ("islands: {cuont: 2}\n", "islands.cuont is not a known key (did you mean count?)"),
        ("islands: {count: 0}\n", "islands.count"),
        ("budgets: {evaluation: 3}\n", "budgets.evaluation is not a known key"),
        ("operators: [{kind: llm}]\n", "llm"),
        ("operators: [{kind: llm}]\nllm: {base_url: 'http://x', models: {a: {model: b}}}\n", "llm"),
        ("- 1\n", "a configuration is a mapping"),
        ("a: b: c\n", "line 1"),
        (b"\xff\xfe", "can't be read: it is not UTF-8 text"),
        (None, "can't be read: no such file or directory"),
        ("folder", "can't be read: is a directory"),
    ],
)
def test_an_arms_configuration_is_checked(
    text: str | bytes | None,
    told: str,
    table: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "own.yaml"
    if text == "folder":
        path.mkdir()
    elif text is not None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    line = refused(capsys, table, "--arm", f"own={path}")
    assert told in line and "own.yaml" in line


def test_keys_that_play_no_part_on_tables_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text("task: sgemm\nbackend: cuda\nislands: {count: 2}\nbudgets: {wall_time_s: 9}\n")
    found = arm_of(f"own={path}")
    assert found.settings == {"islands": {"count": 2}}
    none = tmp_path / "none.json"
    assert bench_search.main([str(none), "--arm", f"own={path}"]) == 1
    said, error = capsys.readouterr().err.strip().splitlines()
    assert said == f"bench_search: {path}: no part on tables: task, backend, budgets"
    assert "none.json is missing" in error


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--arm", "campain"], "'campain' is none of"),
        (["--arm", "=x.yaml"], "write NAME=FILE"),
        (["--arm", "own="], "write NAME=FILE"),
        (["--arm", "pso=x.yaml"], "choose another name"),
        (["--arm", "tuner", "--arm", "tuner"], "--arm tuner is there twice"),
        (["--out", "{tmp}/none/x.json"], "none' is missing: make it"),
        (["--out", "{tmp}"], "is a folder: name a file in it"),
        (["--plot", "{tmp}/none/x.png"], "none' is missing: make it"),
        (["--plot", "{tmp}/x.bmp"], "must end in .png, .svg, .pdf"),
        (["--plot", "{tmp}/x"], "must end in .png, .svg, .pdf"),
        (["--out", "{tmp}/x.png", "--plot", "{tmp}/x.png"], "name two files"),
        (["--out", "{tmp}/made.T4.json"], "is a table: write to another file"),
        (["--out", "{tmp}/" + "n" * 300], "can't be written: file name too long"),
        (["--seeds", "x"], "'x' is not a whole number from 1"),
        (["--seeds", "0"], "'0' is not a whole number from 1"),
        (["--workers", "-1"], "'-1' is not a whole number from 1"),
    ],
)
def test_arguments_that_cannot_work_are_refused_at_once(
    arguments: list[str],
    told: str,
    table: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = [one.format(tmp=tmp_path) for one in arguments]
    assert told in refused(capsys, table, *given)


def test_a_folder_without_permission_and_no_matplotlib_are_told_at_once(
    table: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(outputs, "find_spec", lambda name: None)
    told = refused(capsys, table, "--plot", tmp_path / "x.png")
    assert "matplotlib is missing: pip install matplotlib" in told
    monkeypatch.setattr(outputs, "find_spec", find_spec)
    monkeypatch.setattr("os.access", lambda *_: False)
    told = refused(capsys, table, "--out", tmp_path / "x.json")
    assert "can't be written: permission denied" in told


def test_tables_of_one_name_have_their_own_results_and_are_named_once(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "b" / table.name
    other.parent.mkdir()
    write(other, {"results": [row({"a": a, "b": 7 * a}, 2 - a / 4) for a in range(4)]})
    options = ["--seeds", "1", "--evaluations", "6", "--arm", "random", "--no-kernel-tuner"]
    assert bench_search.main([str(table), str(other), *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["over_tables"]["random"]["tables"] == 2
    assert [one["table"] for one in found["tables"]] == [f"{tmp_path.name}/made", "b/made"]
    assert bench_search.main([str(table), str(table), *options]) == 1
    assert "is named twice" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_disk_that_is_full_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    full = Path("/dev/full")
    assert bench_search.write({"tables": []}, full, None) == 1
    told = capsys.readouterr()
    assert "/dev/full can't be written: no space left on device" in told.err
    assert json.loads(told.out) == {"tables": []}


@pytest.mark.parametrize("ending", [".png", ".svg", ".pdf"])
@pytest.mark.parametrize(
    ("tables", "arms", "count"), [(1, 1, 1), (4, 3, 30), (1, 25, 5)], ids=["one", "many", "arms"]
)
def test_curves_are_drawn_of_any_number_of_tables_and_arms(
    tables: int, arms: int, count: int, ending: str, tmp_path: Path
) -> None:
    names = ["_hidden", "a$b", "x" * 90, *(f"arm {n}" for n in range(arms))][:arms]
    curve = np.linspace(0.0, 1.0, count).tolist()
    told: list[dict[str, Any]] = [
        {
            "table": f"t$_{n}\udcff\n_" + "y" * 80 * n,
            "points": 1 + n,
            "random_curve": curve,
            # Kernel Tuner's, on all but the first.
            "curves": {**dict.fromkeys(names, curve), **({"pso": curve} if n else {})},
        }
        for n in range(tables)
    ]
    path = tmp_path / f"x{ending}"
    draw({"arms": dict.fromkeys(names), "tables": told}, path)
    assert path.stat().st_size > 5_000
    if ending == ".svg":
        assert not tables > 1 or "<!-- pso -->" in path.read_text(), "the legend has all"
