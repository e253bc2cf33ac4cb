"""What several scripts take on their command lines."""

from argparse import ArgumentTypeError
from collections.abc import Callable


def whole_from(least: int) -> Callable[[str], int]:
    """Reads a whole number that is not below it. What it returns raises ArgumentTypeError."""

    def whole(text: str) -> int:
        if not text.isdecimal() or int(text) < least:
            raise ArgumentTypeError(f"{text!r} is not a whole number from {least}")
        return int(text)

    return whole
