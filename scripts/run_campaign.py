"""Runs one campaign: what `ray job submit` starts. Arguments as of `kernel-scientist run`."""

import sys

from engine.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["run", *sys.argv[1:]]))
