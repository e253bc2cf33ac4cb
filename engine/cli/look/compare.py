"""Campaigns compared, for a person or a script: sentences, tables, a plot."""

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from engine.cli.console import ReadConsole
from engine.cli.look.compare_tables import parts
from engine.cli.usage import OK, UsageError
from engine.compare.as_json import comparison_json
from engine.compare.campaign import Campaign, CompareError
from engine.compare.comparison import Comparison, compare
from engine.compare.folders import read_folders
from engine.compare.pairs import Question
from engine.compare.plot import draw
from engine.compare.tracked import read_experiment
from engine.compare.winners import Remeasured, choose, remeasure
from engine.store.run_folder import STORE
from evaluators.tasks.task_file import load_task

WIDTH = 100
"""Where no terminal says how wide it is."""

PLOT = "compare.svg"


def compare_campaigns(arguments: Namespace, stream: IO[str]) -> int:
    """Raises UsageError, StoreError, ConfigError, TaskError, BackendMissing, DeviceFault."""
    try:
        campaigns = _read(arguments)
        question = Question(
            by=arguments.by,
            over=arguments.over,
            at=arguments.at,
            reference=arguments.reference,
            all_pairs=arguments.all_pairs,
        )
        comparison = compare(campaigns, question)
        plot = _plot(arguments, comparison)
        together = list(_together(comparison, arguments.seconds)) if arguments.remeasure else []
    except CompareError as error:
        raise UsageError(str(error)) from error
    if arguments.json:
        values = comparison_json(comparison, together, str(plot or ""))
        print(json.dumps(values, indent=2), file=stream)
        return OK
    console = ReadConsole(file=stream, highlight=False)
    if not console.is_terminal:
        console = ReadConsole(file=stream, highlight=False, width=WIDTH)
    for part in parts(comparison, together, plot):
        console.print(part)
    return OK


def _read(arguments: Namespace) -> list[Campaign]:
    if arguments.experiment is None:
        if arguments.filter or arguments.uri:
            raise UsageError("--uri and --filter go with --experiment")
        if not arguments.runs:
            raise UsageError("name campaigns' folders, such as runs/*, or --experiment NAME")
        return read_folders(arguments.runs)
    if arguments.runs:
        raise UsageError("name either folders or --experiment, not both")
    return read_experiment(
        uri=arguments.uri or _known_uri(),
        experiment=arguments.experiment,
        wanted=arguments.filter or "",
    )


def _known_uri() -> str:
    here = Path("runs") / "mlflow.db"
    if uri := os.environ.get("MLFLOW_TRACKING_URI"):
        return uri
    if here.is_file():
        return f"sqlite:///{here.resolve()}"
    raise UsageError("no runs/mlflow.db is here: name MLflow's address by --uri")


def _plot(arguments: Namespace, comparison: Comparison) -> Path | None:
    if arguments.no_plot:
        if arguments.plot is not None:
            raise UsageError("--plot and --no-plot: say one of them")
        return None
    file: Path = arguments.plot or _beside(arguments.runs) / PLOT
    draw(comparison, file)
    return file


def _beside(runs: Sequence[Path]) -> Path:
    """The folder that holds all campaigns; where nothing is named, this one."""
    if not runs:
        return Path()
    holds_several = [run.is_dir() and not (run / STORE).is_file() for run in runs]
    folders = [
        run.resolve() if several else run.resolve().parent
        for run, several in zip(runs, holds_several, strict=True)
    ]
    folder = Path(os.path.commonpath(folders))
    return folder.relative_to(Path.cwd()) if folder.is_relative_to(Path.cwd()) else folder


def _together(comparison: Comparison, seconds: float) -> Iterator[Remeasured]:
    for task_hash, name in comparison.tasks.items():
        member = next(one for one in comparison.campaigns if one.task_hash == task_hash)
        task = load_task(member.task)
        if task.hash != task_hash:
            raise CompareError(
                f"--remeasure: the task {name} is not as it was in these campaigns; measure with "
                "the version of the repository that they ran with"
            )
        winners, left_out = choose(comparison.arms, task_hash)
        for sentence in left_out:
            _say(sentence)
        if winners:
            made = remeasure(winners, task, member.backend, seconds=seconds, tell=_say)
            if made.device.device_class != member.device_class:
                _say(f"measured on {made.device.device_class}, not on {member.device_class}")
            yield made


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
