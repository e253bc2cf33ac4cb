"""Words in sentences: a misspelt name's likely meaning, text that can be stored and shown."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""All but line ends and tabs."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ " (did you mean sgemm?)", to stand behind the word in a sentence; empty without a guess."""
    names = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), names, n=1)
    return f" (did you mean {names[near[0]]}?)" if near else ""


def storable(text: str) -> str:
    """text that UTF-8 can hold: halves of surrogate pairs are joined, lone ones are U+FFFD."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def printable(text: str) -> str:
    """text on one line, with escapes in place of what would move a terminal's cursor."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def without_controls(text: str) -> str:
    """text of several lines, with codes in place of what would move a terminal's cursor."""
    return _CONTROL.sub(lambda found: repr(found[0])[1:-1], text)


def shortened(sentence: str, most: int = 400) -> str:
    """The sentence without its middle when it is longer, such as for quoting what is huge."""
    if len(sentence) <= most:
        return sentence
    return f"{sentence[: most // 2]} ... {sentence[-most // 3 :]}"
