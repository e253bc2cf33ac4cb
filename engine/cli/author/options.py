"""The options of the commands that help to write a task."""

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from engine.cli.look.options import Add
from evaluators.device_info import known_backends


def add_author_commands(add: Add) -> None:
    _add_new_task(add("new-task", "write a task's folder: an example, or drafted from a kernel"))
    _add_check_task(add("check-task", "say whether a task is a good one, and what to mend"))


def _add_new_task(command: ArgumentParser) -> None:
    command.add_argument("name", type=_name, metavar="NAME", help="the task's, and its folder's")
    command.add_argument(
        "--folder",
        type=Path,
        default=Path(),
        metavar="F",
        help="where the folder is made (default: here)",
    )
    command.add_argument(
        "--from-kernel",
        type=Path,
        metavar="FILE",
        help="a program or a library's file (.hip, .cu) whose kernel the task is drafted from",
    )
    command.add_argument(
        "--kernel",
        action="append",
        default=[],
        metavar="NAME",
        help="with --from-kernel: which of its kernels; may be given several times, in order",
    )
    command.add_argument(
        "--masks",
        action="store_true",
        help="with --from-kernel: rewrite __shfl_*_sync without masks, over 32 lanes as before",
    )


def _add_check_task(command: ArgumentParser) -> None:
    command.add_argument("task", metavar="FOLDER", help="a task's folder, or a shipped task's name")
    command.add_argument(
        "--backend", choices=known_backends(), default="cpu", help="where to try it (cpu)"
    )
    command.add_argument(
        "--mutants",
        type=count,
        default=16,
        metavar="N",
        help="how many broken seeds to try at most (16); 0: none",
    )
    command.add_argument("--json", action="store_true", help="print JSON")


def _name(text: str) -> str:
    if not text.replace("-", "_").isidentifier():
        raise ArgumentTypeError(
            f"{text!r} is no task's name: take letters, digits, _ and -, and no path "
            "(--folder says where it goes)"
        )
    return text


def count(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"{text} is no number: give a whole number, 0 or more")
    return int(text)
