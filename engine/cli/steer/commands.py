"""The commands that steer a campaign: what each does, and its exit code."""

import sys
from argparse import Namespace
from collections.abc import Mapping

from engine.cli.usage import Command


def _pause(arguments: Namespace) -> int:
    """Let a campaign that runs rest: no cycle, call of a model or evaluation begins, and what is
    under way ends and is stored. Its wall time stands still. 'resume' lets it go on; so it does
    for one that was killed meanwhile. Exit code 1: the campaign does not run."""
    from engine.cli.steer.pause import pause

    return pause(arguments.run_dir, sys.stdout)


def _inject(arguments: Namespace) -> int:
    """Put a kernel file, or an idea in words (a file that ends in .md), into a campaign's inbox.
    While the campaign runs it is taken within a second, else when the campaign is resumed. A
    kernel becomes a candidate of an island, an idea an experiment that a model writes on the best
    or on the kernel that the file's front matter names (---, base: ID, ---). Both count for
    the budgets. Exit code 0: it lies there; with --wait: it passed. 1: it did not pass, nobody
    measures it now, or the campaign has it already. 2: it can't be used, with one sentence why."""
    from engine.cli.steer.inject import inject_file

    return inject_file(arguments, sys.stdout)


STEER_COMMANDS: Mapping[str, Command] = {"pause": _pause, "inject": _inject}
