"""The command line's commands and options, and what --help says of them."""

import math
from argparse import (
    Action,
    ArgumentError,
    ArgumentParser,
    ArgumentTypeError,
    RawDescriptionHelpFormatter,
    _SubParsersAction,
)
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from engine.cli.author.options import add_author_commands, count
from engine.cli.jobs.options import add_job_commands, add_sending
from engine.cli.look.options import add_look_commands
from engine.cli.steer.options import add_steer_commands
from engine.cli.steer.resume import add_resume_options
from engine.cli.usage import Command
from evaluators.device_info import known_backends
from evaluators.spelling import did_you_mean

PACKAGE = "kernel-scientist"

WRONG_USAGE = 2
"""The exit code of what can't be done as asked."""

EXAMPLES = """examples:
  kernel-scientist run configs/quickstart.yaml
  kernel-scientist run configs/quickstart.yaml task=softmax budgets.evaluations=200
  kernel-scientist resume runs/quickstart
  kernel-scientist evaluate my.hip --task sgemm --backend cpu --json
  kernel-scientist doctor
  kernel-scientist doctor --device --backend hip --out report.md
"""

# Written out, so that --help need not import what they are names of; a test compares.
SECTION_NAMES = (
    *("device", "contract", "mfma", "rates"),
    *("faults", "together", "noise", "seeds"),
)


class _Parser(ArgumentParser):
    """Says what is wrong in one sentence, and what a misspelt word may mean."""

    def _check_value(self, action: Action, value: Any) -> None:
        choices = None if action.choices is None else list(map(str, action.choices))
        if choices is not None and value not in choices:
            what = "command" if isinstance(action, _SubParsersAction) else "choice"
            guess = did_you_mean(str(value), choices)
            known = ", ".join(choices)
            raise ArgumentError(
                None if what == "command" else action,
                f"{str(value)!r} is no {what}{guess}: choose one of {known}",
            )

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"{self.prog}: {message}; see {self.prog} --help\n")


class _Version(Action):
    """Looks the version up only when it is asked for."""

    def __call__(self, parser: ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import PackageNotFoundError, version

        try:
            found = version(PACKAGE)
        except PackageNotFoundError:
            found = "run from its files, not installed"
        print(f"{PACKAGE} {found}")
        parser.exit(0)


def build_parser(commands: Mapping[str, Command]) -> ArgumentParser:
    """One subparser a command, described by its docstring; each sets `run` to the command."""
    top = _Parser(
        prog="kernel-scientist",
        description="Finds the fastest correct GPU kernel for a task, by evolution.",
        epilog=EXAMPLES,
        formatter_class=RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version, and end")
    subparsers = top.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(name: str, summary: str) -> ArgumentParser:
        command = subparsers.add_parser(
            name, help=summary, description=(commands[name].__doc__ or "")
        )
        command.set_defaults(run=commands[name])
        return command

    run = add("run", "run a campaign")
    run.add_argument("config", type=Path, metavar="CONFIG", help="a YAML file, as in configs/")
    run.add_argument(
        "--or-resume",
        action="store_true",
        help="go on with the campaign of that name where there is one, in runs_dir or as a copy in "
        "snapshots.folder; of the configuration then counts only where things are: ray, snapshots, "
        "llm.base_url and llm.api_key_env",
    )
    _add_overrides(run)

    resume = add("resume", "go on with a campaign that was stopped, killed or paused")
    add_resume_options(resume)
    resume.add_argument(
        "--job",
        action="store_true",
        help="as a job on a Ray cluster; RUN is its folder there, or its name as 'jobs' shows it",
    )
    add_sending(resume)

    _add_evaluate_options(add("evaluate", "check and time one kernel file"))

    _add_probe_options(add("probe", "ask a device something by a probe file"))

    _add_certify_options(add("certify", "check and measure a kernel so that others can repeat it"))
    _add_export_options(add("export", "write a kernel as a C++ header, or as a judge's entry"))

    _add_predict_options(add("predict", "predict a family's times on an MI300X, and say why"))

    add_job_commands(add)
    add_author_commands(add)
    add_look_commands(add)
    add_steer_commands(add)

    doctor = add("doctor", "say what is here, what is missing, and what to do")
    doctor.add_argument(
        "config", nargs="?", type=Path, help="also look for the models that this campaign asks"
    )
    doctor.add_argument("--json", action="store_true", help="print JSON")
    _add_device_trial(doctor)
    return top


def _add_device_trial(doctor: ArgumentParser) -> None:
    doctor.add_argument(
        "--device",
        action="store_true",
        help="put a device through everything a campaign relies on (10 minutes at most)",
    )
    doctor.add_argument(
        "--backend",
        choices=known_backends(),
        help="with --device: whose (default: a GPU's, if any)",
    )
    doctor.add_argument(
        "--section",
        action="append",
        default=[],
        choices=SECTION_NAMES,
        help="with --device: only this; may be given several times",
    )
    doctor.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="with --device: the report (default: device-report.md)",
    )
    doctor.add_argument(
        "--emulate",
        action="store_true",
        help="with --device --backend hip: try the emulated MI300X, on which nothing is timed",
    )


def _add_overrides(command: ArgumentParser) -> None:
    command.add_argument(
        "overrides",
        nargs="*",
        default=[],
        metavar="KEY=VALUE",
        help="change a key of the file: task=softmax, budgets.evaluations=200, tracking=none",
    )


def _add_task(command: ArgumentParser) -> None:
    command.add_argument(
        "--task", required=True, help="a shipped task's name, or the path of a task's folder"
    )


def _add_evaluate_options(command: ArgumentParser) -> None:
    command.add_argument("file", type=Path, metavar="FILE", help="a kernel file (.hip)")
    _add_task(command)
    command.add_argument(
        "--backend", required=True, choices=known_backends(), help="where to run it"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--seconds",
        type=_seconds,
        default=24.0,
        metavar="S",
        help="for the measurement, once it is found right (24); 0: one race, no more",
    )
    command.add_argument(
        "--compile-only",
        action="store_true",
        help="compile for every shape of the task and stop; needs no device",
    )
    command.add_argument(
        "--explain",
        action="store_true",
        help="with --backend cpu: tell how the kernels were cut into regions, and why; then stop",
    )
    command.add_argument(
        "--arch", help="with --compile-only: the processor to compile for, such as gfx942"
    )
    command.add_argument(
        "--emulate",
        action="store_true",
        help="with --backend hip: check it on an emulated MI300X, on small shapes; times nothing",
    )
    command.add_argument(
        "--order",
        type=_order,
        metavar="SEED",
        help="with --emulate: wavefronts take turns by this seed; 0: in order (default: at random)",
    )


def _add_probe_options(command: ArgumentParser) -> None:
    command.add_argument("file", type=Path, nargs="?", metavar="FILE", help="a probe file (.hip)")
    command.add_argument("--shipped", action="store_true", help="the shipped set, and no file")
    command.add_argument(
        "--backend", required=True, choices=known_backends(), help="where to run it"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--anew", action="store_true", help="with --shipped: measure also what is kept"
    )


def _add_export_options(command: ArgumentParser) -> None:
    command.add_argument(
        "file", type=Path, metavar="KERNEL", help="a kernel file (.hip), or a campaign's folder"
    )
    command.add_argument(
        "--task", help="a shipped task's name or a task's folder (default: the campaign's)"
    )
    command.add_argument(
        "--form",
        choices=("header", "submission"),
        default="header",
        help="header: a C++ header for HIP and CUDA; submission: one Python file for a judge of "
        "kernels, where the task has such a form (default: header)",
    )
    command.add_argument(
        "--backend",
        choices=known_backends(),
        default="hip",
        help="on whose shapes of the task it was checked (hip); a submission is for hip alone",
    )
    command.add_argument("--out", type=Path, metavar="FILE", help="the file (default: its name)")


def _add_predict_options(command: ArgumentParser) -> None:
    command.add_argument("task", metavar="TASK", help="a shipped task's name or a task's folder")
    command.add_argument(
        "--kernel", type=Path, metavar="FILE", help="one of the family's kernels (default: all)"
    )
    command.add_argument(
        "--top", type=count, default=5, metavar="N", help="so many over all shapes (5)"
    )
    command.add_argument("--json", action="store_true", help="JSON")


def _order(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text} is no seed: give a whole number, 0 or more")
    return int(text)


def _seconds(text: str) -> float:
    seconds = float(text)  # argparse tells of a ValueError
    if not 0 <= seconds < math.inf:
        raise ArgumentTypeError(f"{text} is no number of seconds: give 0 or more")
    return seconds


def _some_seconds(text: str) -> float:
    seconds = _seconds(text)
    if not seconds:
        raise ArgumentTypeError("0 seconds are too few for a measurement: give more")
    return seconds


def _add_certify_options(command: ArgumentParser) -> None:
    command.add_argument("file", type=Path, nargs="?", metavar="KERNEL", help="a kernel file")
    command.add_argument(
        "--task", help="a shipped task's name or a task's folder (with --verify: its own)"
    )
    command.add_argument(
        "--backend", choices=known_backends(), default="cpu", help="where to run it (cpu)"
    )
    command.add_argument(
        "--seconds", type=_some_seconds, default=60.0, metavar="S", help="for the measurement (60)"
    )
    command.add_argument(
        "--out", type=Path, metavar="FOLDER", help="where both files go (default: here)"
    )
    command.add_argument("--verify", type=Path, metavar="FILE", help="a certificate.json to repeat")
