"""Runs one campaign: what `ray job submit` starts. Arguments as of `kernel-scientist run`, or as of
`kernel-scientist resume` after --resume."""

import sys

from engine.cli.jobs.inside import words_in_job
from engine.cli.main import main
from engine.cli.usage import UsageError


def run() -> int:
    try:
        words = words_in_job(sys.argv[1:])
    except UsageError as error:
        print(f"kernel-scientist: {error}", file=sys.stderr)
        return 2
    return main(words)


if __name__ == "__main__":
    sys.exit(run())
