"""A misspelt name's likely meaning."""

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """ " (did you mean sgemm?)", to stand behind the word in a sentence; empty without a guess."""
    names = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), names, n=1)
    return f" (did you mean {names[near[0]]}?)" if near else ""
