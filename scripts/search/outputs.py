"""Outputs: files that a command will write, checked before the work begins."""

import os
from argparse import ArgumentTypeError
from importlib.util import find_spec
from pathlib import Path

PICTURES = (".png", ".svg", ".pdf")


def output(text: str) -> Path:
    """A file that can be written. Raises ArgumentTypeError."""
    path = Path(text)
    try:
        if path.is_dir():
            raise ArgumentTypeError(f"{text!r} is a folder: name a file in it")
        if not path.parent.is_dir():
            raise ArgumentTypeError(f"the folder {str(path.parent)!r} is missing: make it")
        there = path if path.exists() else path.parent
    except OSError as error:
        raise ArgumentTypeError(f"{text!r} can't be written: {reason_of(error)}") from None
    if not os.access(there, os.W_OK):
        raise ArgumentTypeError(f"{text!r} can't be written: permission denied for {str(there)!r}")
    return path


def picture(text: str) -> Path:
    """A picture that can be drawn and written. Raises ArgumentTypeError."""
    path = output(text)
    if path.suffix.lower() not in PICTURES:
        raise ArgumentTypeError(f"{text!r} must end in {', '.join(PICTURES)}")
    if find_spec("matplotlib") is None:
        raise ArgumentTypeError("matplotlib is missing: pip install matplotlib")
    return path


def reason_of(error: OSError | UnicodeDecodeError) -> str:
    """Why a file can't be read or written, in words."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8 text"
    return (error.strerror or str(error)).lower()
