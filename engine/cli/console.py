"""What commands write to: a terminal, a file, or a pipe that nobody may read on."""

import os
from typing import IO

from rich.console import Console

WIDE = 400
"""Columns, where there is no terminal."""


class ReadConsole(Console):
    """rich's own would end the process where nobody reads on."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def console_of(stream: IO[str]) -> Console:
    """What is no terminal folds no line."""
    console = ReadConsole(file=stream)
    return console if console.is_terminal else ReadConsole(file=stream, width=WIDE)


def let_go(stream: IO[str]) -> None:
    """Nobody reads the stream any more: what is written to it from now on goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
