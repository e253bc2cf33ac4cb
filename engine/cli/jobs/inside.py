"""What a job does before its campaign begins: it takes the variables that were passed to it."""

import sys
from collections.abc import Sequence

from engine.cli.jobs.environment import OPTION, take_over

RESUME = "--resume"


def words_in_job(arguments: Sequence[str]) -> list[str]:
    """A command line of `kernel-scientist` from that of scripts/run_campaign.py.

    arguments: [--passed PACKAGE] CONFIG [key=value ...], or [--passed PACKAGE] --resume RUN
    [key=value ...]. Raises UsageError: what was passed is gone.
    """
    words = list(arguments)
    if words[:1] == [OPTION]:
        names = take_over(words[1])
        print(f"variables that were passed: {', '.join(names)}", file=sys.stderr)
        words = words[2:]
    return ["resume", *words[1:]] if words[:1] == [RESUME] else ["run", *words]
