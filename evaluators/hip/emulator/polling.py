"""Which loads are polls: a wavefront that sees another's flag has waited for what it wrote before.

Machine code does not tell an atomic load from another. A load at an address that stays the same,
in a short loop that writes nothing, is one: compilers move any other out of the loop.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluators.hip.emulator.instruction import KIND, POLLS

LONGEST = 24
"""Instructions of a loop that does nothing but wait."""

_LOAD = re.compile(r"(ds_read|flat_load)_[ui]?(b|dword|byte|short|8|16)")
_MEMORY = re.compile(r"(ds|flat|global|scratch|buffer)_")
_QUIET = re.compile(r"ds_read|\w+_load_|buffer_(inv|wbl2)")
_LEAVES = re.compile(r"s_(barrier|swappc|setpc|call|endpgm)")


def mark_polls(code: np.ndarray[Any, Any], texts: Sequence[str]) -> None:
    """Sets POLLS in the flags of those that are."""
    targets = code["target"]
    for branch in np.flatnonzero((targets >= 0) & (targets <= np.arange(len(code)))):
        body = range(int(targets[branch]), int(branch))
        if len(body) <= LONGEST and not any(map(_acts, (texts[at] for at in body))):
            written = {register for at in body for register in _results(code[at])}
            for at in body:
                if _LOAD.match(texts[at]) and written.isdisjoint(_registers(code[at]["o"][1])):
                    code[at]["flags"] |= POLLS
                    _mark_first_look(code, texts, at, int(targets[branch]))


def _mark_first_look(
    code: np.ndarray[Any, Any], texts: Sequence[str], poll: int, loop: int
) -> None:
    """Compilers take a loop's first turn out of it: the same load, right before the loop."""
    address = _registers(code[poll]["o"][1])
    for at in range(loop - 1, max(-1, loop - 1 - LONGEST), -1):
        if texts[at] == texts[poll]:
            code[at]["flags"] |= POLLS
            return
        if _acts(texts[at]) or not address.isdisjoint(_results(code[at])):
            return


def _acts(text: str) -> bool:
    return bool(_LEAVES.match(text) or (_MEMORY.match(text) and not _QUIET.match(text)))


def _results(one: Any) -> set[int]:
    return set().union(*(_registers(one["o"][k]) for k in range(int(one["results"]))))


def _registers(operand: Any) -> set[int]:
    """Vector registers."""
    if int(operand["kind"]) != KIND["vector"]:
        return set()
    first = int(operand["index"])
    return set(range(first, first + int(operand["registers"])))
