"""The commands that help to write a task: what each does, and its exit code."""

import sys
from argparse import Namespace
from collections.abc import Mapping

from engine.cli.usage import FAILED, OK, Command, UsageError


def _new_task(arguments: Namespace) -> int:
    """Write a task's folder: task.yaml, reference.py, seeds/naive.hip. Without --from-kernel it is
    a small task that works, with comments, to write over. With it, what a kernel's signature, its
    launch and the host code around it tell is filled in; what can't be known is marked '# say:',
    and listed. A folder that is there is never written to."""
    from engine.cli.author.new_task import new_task

    if arguments.from_kernel is None and (arguments.kernel or arguments.masks):
        raise UsageError("--kernel and --masks go with --from-kernel FILE")
    new_task(arguments, sys.stdout)
    return OK


def _check_task(arguments: Namespace) -> int:
    """Say whether a task is a good one: are its seeds right, would its tests find broken kernels,
    is its tolerance neither too wide nor too narrow, do its inputs test anything, what memory and
    time it needs, whether its speed of light is plausible. Exit code 1: something must be mended
    before a campaign means anything."""
    from engine.cli.author.check_task import check_task

    return OK if check_task(arguments, sys.stdout) else FAILED


AUTHOR_COMMANDS: Mapping[str, Command] = {"new-task": _new_task, "check-task": _check_task}
