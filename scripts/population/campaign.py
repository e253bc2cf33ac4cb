"""A campaign's process, which is interrupted when the process that waits for it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ENDS_WITH_PARENT = """
import ctypes, os, signal, sys
from evaluators.sandbox.confine import PR_SET_PDEATHSIG, prctl
prctl(ctypes.CDLL(None, use_errno=True), PR_SET_PDEATHSIG, ctypes.c_ulong(signal.SIGINT))
if os.getppid() != int(sys.argv[1]):
    sys.exit(1)
os.execv(sys.executable, [sys.executable, *sys.argv[2:]])
"""
"""PARENT ARGUMENTS: the wish to be told outlives the exec. It is of the thread that started it."""

PATIENCE_S = 10.0
"""After Ctrl-C, which a terminal sends to the campaign as well, but `kill -INT` does not."""


def run_until_done(arguments: Sequence[str], output: Path) -> int:
    """As Run of scripts/ablation/campaigns.py."""
    command = [sys.executable, "-m", "engine.cli.main", *arguments]
    with output.open("a") as file, watched(command, file.fileno()) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            end(process)
            raise


def watched(command: Sequence[str], output: int | None = None) -> "subprocess.Popen[bytes]":
    """command: a Python's."""
    started = [sys.executable, "-c", ENDS_WITH_PARENT, str(os.getpid()), *command[1:]]
    return subprocess.Popen(started, stdout=output, stderr=subprocess.STDOUT)


def end(process: "subprocess.Popen[bytes]") -> None:
    """In order, and wait for it."""
    try:
        process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        process.wait()
