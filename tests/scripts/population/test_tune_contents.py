"""What a study runs on, told apart by what it holds."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.config_errors import ConfigError
from evaluators.tasks.task_file import load_task
from scripts.population.contents import require_unlike
from scripts.population.study import open_study
from scripts.roles.situations import read
from scripts.roles.situations import write as write_situations
from tests.scripts.population.tune_plans import ROOT, plan_of, plan_values

SHIPPED = ROOT / "evaluators" / "tasks"
SITUATIONS = ROOT / "docs" / "measured" / "situations"
Makes = Callable[[Path], Path]


def in_a_folder(seen: Path) -> Path:
    """Linked, as a folder of tables of one task may hold it."""
    folder = seen.parent / "folder"
    folder.mkdir()
    (folder / seen.name).symlink_to(seen)
    return folder


def link(seen: Path) -> Path:
    (seen.parent / "link.T4.json").symlink_to(seen)
    return seen.parent / "link.T4.json"


def copy(seen: Path) -> Path:
    return Path(shutil.copy(seen, seen.parent / "copy.T4.json"))


@pytest.mark.parametrize("other", [in_a_folder, link, copy, lambda seen: seen])
@pytest.mark.parametrize("turned", [False, True])
def test_unseen_tables_may_not_be_seen_ones(tmp_path: Path, other: Makes, turned: bool) -> None:
    plan_values(tmp_path)
    pair = [tmp_path / "seen.T4.json", other(tmp_path / "seen.T4.json")][:: -1 if turned else 1]
    plan = plan_of(tmp_path, seen={"tables": [pair[0]]}, unseen={"tables": [pair[1]]})
    with pytest.raises(ConfigError, match=r"unseen: .* holds what trials run on, which is .* in s"):
        require_unlike(plan)
    require_unlike(plan_of(tmp_path))


def test_nor_a_task_by_its_folder(tmp_path: Path) -> None:
    seen, unseen = {"tasks": ["sgemm"]}, {"tasks": ["softmax", str(SHIPPED / "sgemm")]}
    with pytest.raises(ConfigError, match=r"unseen: .*sgemm holds what trials run on"):
        require_unlike(plan_of(tmp_path, seen=seen, unseen=unseen))


def test_nor_a_situation_in_another_file(tmp_path: Path) -> None:
    ((recorded),) = {
        id(one.campaign): one.campaign
        for one in read([SITUATIONS / "softmax_catalogue_cpu.json.gz"])
    }.values()
    files = [tmp_path / "a.json.gz", tmp_path / "b.json.gz"]
    for file, part in zip(files, (slice(0, 5), slice(4, 9)), strict=True):
        write_situations(file, [replace(recorded, situations=recorded.situations[part])])
    where = [{"situations": [str(file)]} for file in files]
    with pytest.raises(ConfigError, match=r"unseen: .*b.json.gz holds what trials run on"):
        require_unlike(plan_of(tmp_path, seen=where[0], unseen=where[1]))


def test_nothing_counts_twice(tmp_path: Path) -> None:
    plan_values(tmp_path)
    seen = tmp_path / "seen.T4.json"
    with pytest.raises(ConfigError, match=r"seen: .* hold the same; leave one out"):
        require_unlike(plan_of(tmp_path, seen={"tables": [seen, link(seen)]}))
    (tmp_path / "other").mkdir()
    named_alike = tmp_path / "other" / "seen.T4.json"
    shutil.copy(tmp_path / "unseen.T4.json", named_alike)
    with pytest.raises(ConfigError, match="have the same name in figures, seen; rename one"):
        require_unlike(plan_of(tmp_path, seen={"tables": [seen, named_alike]}))


def test_a_table_that_changed_is_noticed(tmp_path: Path) -> None:
    plan, file = plan_of(tmp_path), tmp_path / "seen.T4.json"
    open_study(plan, tmp_path / "out")
    open_study(plan, tmp_path / "out")
    tree = json.loads(file.read_text())
    tree["results"].pop()
    file.write_text(json.dumps(tree))
    with pytest.raises(ConfigError, match=r"seen.T4.json is not what it was when the study"):
        open_study(plan, tmp_path / "out")


def test_so_is_a_task(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    shutil.copytree(SHIPPED / "sgemm", folder)
    before = load_task(folder).hash
    plan = plan_of(tmp_path, seen={"tasks": [str(folder)]}, unseen={"tasks": ["softmax"]})
    open_study(plan, tmp_path / "out")
    text = (folder / "reference.py").read_text()
    (folder / "reference.py").write_text(text + "\n\nMORE = 1\n")
    assert load_task(folder).hash != before
    with pytest.raises(ConfigError, match="mine is not what it was when the study in"):
        open_study(plan, tmp_path / "out")


@pytest.mark.parametrize("changes", [{"evaluations": 30}, {"seed": 4}, {"sampler": "random"}])
def test_what_changed_in_the_plan_is_named(tmp_path: Path, changes: dict[str, Any]) -> None:
    open_study(plan_of(tmp_path), tmp_path / "out")
    (key,) = changes
    with pytest.raises(ConfigError, match=f"or put back {key}: only cores, "):
        open_study(plan_of(tmp_path, **changes), tmp_path / "out")


def test_another_name_is_not_another_study(tmp_path: Path) -> None:
    open_study(plan_of(tmp_path), tmp_path / "out")
    with pytest.raises(ConfigError, match="holds the study small, and this plan's name is other"):
        open_study(plan_of(tmp_path, name="other"), tmp_path / "out")
