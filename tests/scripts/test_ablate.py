"""An ablation at equal evaluations: interleaved, resumable, and empty where nothing was run."""

import json
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from engine.campaign import resume_campaign, run_campaign
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.config_file import load_config
from engine.snapshot import Snapshot
from scripts.ablate import main
from scripts.ablation.arms import ARMS, Budget, configuration, read_llm
from scripts.bench_writers import SleepingWorkbench
from tests.engine.local_ray import local_ray
from tests.engine.quick_bench import quick_workbench

LLM = {"base_url": "http://127.0.0.1:1/v1", "models": {"m": {"model": "some/model"}}}


class Here:
    """Runs campaigns in this process, with kernels that are judged at once."""

    def __init__(self, fails_at: int = -1, stops_at: int = -1) -> None:
        """Which command fails, and which is ended by Ctrl-C in order, as one in a terminal is."""
        self.commands: list[tuple[str, str]] = []
        self._fails_at, self._stops_at = fails_at, stops_at

    def __call__(self, arguments: Sequence[str], output: Path) -> int:
        command, where = arguments
        self.commands.append((command, output.parent.name))
        if len(self.commands) == self._fails_at:
            return 130
        with local_ray():
            if command == "run":
                config = load_config(Path(where))
                self._run(config)
            else:
                resume_campaign(Path(where), workbench=quick_workbench())
        return 0

    def _run(self, config: CampaignConfig) -> None:
        if len(self.commands) != self._stops_at:
            run_campaign(config, workbench=quick_workbench())
            return
        quick = quick_workbench()
        slow = SleepingWorkbench(
            task_hash=quick.task_hash, labels=quick.labels, binary_bytes=100, evaluation_s=0.3
        )
        run_campaign(config, observer=_interrupt, workbench=slow)


def _interrupt(now: Snapshot) -> None:
    if now.phase == "running":
        signal.raise_signal(signal.SIGINT)


def options(folder: Path, *more: str) -> list[str]:
    usual = ["--tasks", "sgemm", "--seeds", "2", "--evaluations", "10", "--final-seconds", "1"]
    return [*usual, "--runs-dir", str(folder / "runs"), *more]


def config_of(arm: str, folder: Path) -> CampaignConfig:
    budget = Budget(backend="cpu", evaluations=7, final_s=1.0)
    return configuration(
        ARMS[arm], task="sgemm", seed=3, budget=budget, llm=LLM, run_dir=folder / arm
    )


@pytest.mark.soak
def test_arms_meet_on_equal_terms_and_what_was_not_run_is_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stopped, interrupted, rest = Here(stops_at=2), Here(fails_at=4), Here()
    found = tmp_path / "found.json"
    asked = options(tmp_path, "--arms", "catalog,random,best-of-n,llm", "--output", str(found))
    assert main(asked, run=stopped) == 2
    assert "random-sgemm-0 did not finish (exit code 0)" in capsys.readouterr().err
    assert main(asked, run=interrupted) == 2
    assert "the same command goes on" in capsys.readouterr().err
    assert main(asked, run=rest) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(found.read_text())
    assert interrupted.commands[0] == ("resume", "random-sgemm-0")
    done = stopped.commands[:1] + interrupted.commands[:3] + rest.commands
    assert [name for _, name in done] == [
        "catalog-sgemm-0",
        "random-sgemm-0",
        "best-of-n-sgemm-0",
        "random-sgemm-1",
        "best-of-n-sgemm-1",
        "catalog-sgemm-1",
    ]
    result = json.loads(found.read_text())
    assert result["arms"].pop("llm") == {
        "about": "evolution by models",
        "not_run": "no model was given",
    }
    for arm in result["arms"].values():
        assert [(one["seed"], len(one["best_so_far"])) for one in arm["curves"]] == [
            (0, 10),
            (1, 10),
        ]
        assert arm["tasks"]["sgemm"]["best"]["value"] > 0
    assert result["arms"]["catalog"]["over_tasks"] is None
    assert result["arms"]["random"]["over_tasks"]["verdict"]["outcome"] == "too few"

    assert main(["--table", str(found)]) == 0
    *rows, last = capsys.readouterr().out.splitlines()
    assert [row.split(":")[0] for row in rows[2:]] == ["| catalog", "| random", "| best-of-n"]
    assert last == "| llm: not run, no model was given |  |  |"

    again = Here()
    assert main(asked, run=again) == 0
    assert again.commands == []
    capsys.readouterr()
    assert main([*asked, "--evaluations", "11"], run=again) == 2
    assert "another configuration" in capsys.readouterr().err
    assert again.commands == []


@pytest.mark.parametrize("arm", ARMS)
def test_an_arm_is_what_its_name_says(arm: str, tmp_path: Path) -> None:
    config = config_of(arm, tmp_path)
    (mix,) = config.operators
    assert config.asks_models == arm.startswith("llm")
    assert mix.evolves != arm.endswith("best-of-n")
    assert (mix.crossover == 0) == arm.endswith(("no-crossover", "best-of-n"))
    assert (mix.tuning == 0) == (arm == "no-tuning")
    assert (config.migration.elites == 0) == arm.endswith("no-migration")
    assert (config.islands.memory == "own") == arm.endswith("no-shared-memory")
    assert (mix.kind == "random") == (arm == "random")
    assert (config.budgets.evaluations, config.budgets.tuning, config.seed) == (7, 0, 3)
    assert config.tracking_uri is None


def test_arms_differ_in_nothing_that_their_names_do_not_say(tmp_path: Path) -> None:
    """Of one kind all else is alike, so that a difference is that of what was taken away."""

    def rest(arm: str) -> dict[str, Any]:
        values = config_of(arm, tmp_path).model_dump()
        for key in ("name", "operators", "migration", "credit"):
            del values[key]
        del values["islands"]["memory"]
        return values

    assert all(rest(arm) == rest("llm") for arm in ARMS if arm.startswith("llm"))
    assert all(rest(arm) == rest("catalog") for arm in ARMS if not arm.startswith("llm"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("task: sgemm", "give it a section llm"),
        ("llm: [", "line 2"),
        ("llm: {models: {m: {model: scripted}}}", "no result of a language model"),
    ],
)
def test_what_is_no_model_is_refused(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "llm.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=says):
        read_llm(file)
    file.write_text(json.dumps({"llm": LLM}))
    assert read_llm(file) == LLM


def test_models_alone_can_not_be_run_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(options(tmp_path, "--arms", "catalog,llm"), run=Here()) == 2
    assert "those of models need --llm FILE" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--output", "{folder}/no/such.json"], "name a file in a folder that is there"),
        (["--output", "{folder}"], "name a file in a folder that is there"),
        (["--plot", "{folder}/x.txt"], "a plot's name ends in one of .svg"),
        (["--table", "{folder}/missing.json"], "no such file"),
        (["--table", "{folder}/other.json"], "this is no --output of this program"),
        (["--table", "{folder}/no.json"], "this is no --output of this program"),
    ],
)
def test_what_can_not_be_written_or_read_is_said_before_anything_runs(
    tmp_path: Path, words: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "other.json").write_text("[1]")
    (tmp_path / "no.json").write_bytes(b"\xff{")
    here = Here()
    assert main(options(tmp_path, *(one.format(folder=tmp_path) for one in words)), run=here) == 2
    (told,) = capsys.readouterr().err.splitlines()
    assert told.startswith("ablate: ") and sentence in told
    assert here.commands == []
