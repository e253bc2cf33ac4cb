"""The options of the commands that look at campaigns."""

import math
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path

from evaluators.device_info import known_backends

Add = Callable[[str, str], ArgumentParser]
"""A command's name and summary -> its parser."""

# Written out, so that --help need not import what they are names of; a test compares.
ROLE_NAMES = ("selector", "designer", "writer", "crossover", "repair", "distiller", "prober")


def add_look_commands(add: Add) -> None:
    _add_report(add)
    _add_runs(add)
    _add_watch(add)
    _add_profile(add)
    _add_track(add)
    _add_prompts(add)
    _add_compare(add)
    _add_findings(add)


def _add_report(add: Add) -> None:
    report = add("report", "write a page of what a campaign found")
    add_run_dir(report)
    report.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the page (default: report.html in the campaign's folder, with plots/*.svg)",
    )


def _add_runs(add: Add) -> None:
    runs = add("runs", "list campaigns, and how they fare")
    runs.add_argument(
        "folder", type=Path, nargs="?", default=Path("runs"), metavar="FOLDER", help="(runs)"
    )
    runs.add_argument("--json", action="store_true", help="print JSON")


def _add_watch(add: Add) -> None:
    watch = add("watch", "look on while a campaign runs")
    add_run_dir(watch)
    watch.add_argument("--once", action="store_true", help="show one picture, and end")


def _add_profile(add: Add) -> None:
    profile = add("profile", "say what bounds a kernel, and what to try")
    profile.add_argument(
        "target", type=Path, metavar="RUN", help="a campaign's folder, or a kernel file (.hip)"
    )
    profile.add_argument(
        "kernel",
        nargs="?",
        metavar="KERNEL",
        help="of the campaign: how its id begins, best, or seed (best)",
    )
    profile.add_argument("--task", help="of a kernel file: a task's name or folder")
    profile.add_argument(
        "--backend", choices=known_backends(), help="of a kernel file: where to run it"
    )
    profile.add_argument(
        "--shape", default="", metavar="LABEL", help="a benchmark shape (the largest)"
    )
    profile.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where to keep it (RUN/profiles/KERNEL/...)"
    )
    profile.add_argument("--json", action="store_true", help="print JSON")


def _add_track(add: Add) -> None:
    track = add("track", "bring MLflow up to date with a campaign")
    add_run_dir(track)
    track.add_argument("--uri", help="MLflow's (default: the one in the campaign's configuration)")


def _add_prompts(add: Add) -> None:
    prompts = add("prompts", "print what a model is sent")
    prompts.add_argument("--role", required=True, choices=ROLE_NAMES, help="who is asked")
    prompts.add_argument(
        "--run-dir", type=Path, metavar="RUN", help="what this campaign sent last, or sends"
    )
    prompts.add_argument("--island", type=int, metavar="N", help="on this island of it")
    prompts.add_argument("--cycle", type=int, metavar="N", help="in this cycle of the island")
    prompts.add_argument("--next", action="store_true", help="what it sends next")
    prompts.add_argument("--task", help="without a campaign: the naive seed of this task")
    prompts.add_argument(
        "--backend", default="cpu", choices=known_backends(), help="and whose device (cpu)"
    )


def _add_compare(add: Add) -> None:
    compare = add("compare", "say which configuration is better, and whether that is shown")
    compare.add_argument(
        "runs",
        type=Path,
        nargs="*",
        default=[],
        metavar="RUN",
        help="campaigns, or a folder that holds some",
    )
    compare.add_argument(
        "--experiment", metavar="NAME", help="campaigns of this experiment, MLflow"
    )
    compare.add_argument("--uri", help="MLflow's (default: MLFLOW_TRACKING_URI, or runs/mlflow.db)")
    compare.add_argument(
        "--filter",
        metavar="SEARCH",
        help="of them those that MLflow finds by: params.task = 'sgemm'",
    )
    compare.add_argument(
        "--by",
        default="best",
        choices=("best", "area"),
        help="best so far (best), or area under it",
    )
    compare.add_argument(
        "--over",
        default="evaluations",
        choices=("evaluations", "device_s", "dollars"),
        help="what campaigns have equal amounts of, for the verdict (evaluations)",
    )
    compare.add_argument(
        "--at", type=_amount, metavar="N", help="that many of it (default: what all reached)"
    )
    compare.add_argument(
        "--reference", default="", metavar="NAME", help="compare with this campaign's configuration"
    )
    compare.add_argument(
        "--all-pairs", action="store_true", help="compare every two configurations"
    )
    compare.add_argument(
        "--remeasure", action="store_true", help="measure the best kernels again, side by side"
    )
    compare.add_argument(
        "--seconds",
        type=_amount,
        default=60.0,
        metavar="S",
        help="for --remeasure, of each task (60)",
    )
    compare.add_argument(
        "--plot", type=Path, metavar="FILE", help="(default: compare.svg beside the campaigns)"
    )
    compare.add_argument("--no-plot", action="store_true", help="draw none")
    compare.add_argument("--json", action="store_true", help="print JSON")


def _add_findings(add: Add) -> None:
    findings = add("findings", "merge what campaigns found, and say what contradicts")
    findings.add_argument(
        "runs", type=Path, nargs="+", metavar="RUN", help="campaigns, or files of findings"
    )
    findings.add_argument("--out", type=Path, metavar="FILE", help="write them to this file too")
    findings.add_argument("--json", action="store_true", help="print JSON")


def _amount(text: str) -> float:
    amount = float(text)  # argparse tells of a ValueError
    if not 0 < amount < math.inf:
        raise ArgumentTypeError(f"{text} is no amount: give more than 0")
    return amount


def add_run_dir(command: ArgumentParser) -> None:
    command.add_argument(
        "run_dir", type=Path, metavar="RUN", help="the campaign's folder, such as runs/quickstart"
    )
