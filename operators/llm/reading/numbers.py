"""Ranges of numbers as models write them: "5-20%", "+5% to +20%", [5, 20], {min: 5, max: 20}."""

import re
from collections.abc import Iterator
from typing import Any

MOST_CHARACTERS = 200
"""Of a range; what is longer tells a story."""

_NUMBER = re.compile(r"(?P<digits>\d+(?:\.\d+)?)(?P<factor>[ \t]?[xX×](?!\w))?")
_MINUS = ("-", "\N{MINUS SIGN}")


def percents(value: Any) -> list[float]:
    """The numbers in a range, in their order; a factor such as 1.2x is 20 percent.

    Empty where the value is no number, list, mapping or short text.
    """
    return list(_numbers(value, depth=0))


def _numbers(value: Any, depth: int) -> Iterator[float]:
    if isinstance(value, bool) or depth > 2:
        return
    if isinstance(value, int | float):
        yield float(value)
    elif isinstance(value, str) and len(value) <= MOST_CHARACTERS:
        yield from _of_text(value)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _numbers(one, depth + 1)
    elif isinstance(value, dict):
        yield from _numbers(list(value.values()), depth)


def _of_text(text: str) -> Iterator[float]:
    end = 0
    for found in _NUMBER.finditer(text):
        before = text[end : found.start()].replace("%", "").strip()
        # Of "5-20" the dash is a range's; of "-5", "-5 to -2" and "-5 - -2" it is a sign.
        apart = end == 0 or len(before) > 1
        sign = -1.0 if before.endswith(_MINUS) and apart else 1.0
        number = sign * float(found["digits"])
        yield 100.0 * (number - 1.0) if found["factor"] else number
        end = found.end()
