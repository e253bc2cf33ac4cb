"""What loads are for: polls wait for another wavefront's flag, guards look before an atomic change.

Machine code does not tell an atomic load from another. A load at an address that stays the same,
in a short loop that does nothing else, is a poll: compilers move any other out of the loop, and may
let a first one run before it. What is compared at once, or comes before a compare-and-swap, may be
a guard, as before an atomic maximum.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from evaluators.hip.emulator.instruction import GUARDS, KIND, POLLS

LONGEST = 24
"""Instructions of a loop that does nothing but wait."""
FARTHEST = 400
"""Instructions from a guard to the compare-and-swap that it is for."""

_LOAD = re.compile(r"(ds_read|flat_load|global_load)_[ui]?(b|dword|byte|short|8|16)")
_READS = re.compile(r"ds_read|\w+_load_")
_LOCAL = re.compile(r"ds_read|flat_load")
_ATOMIC = re.compile(
    r"ds_(add|sub|inc|dec|min|max|and|or|xor|wrxchg|cmpst|pk_add|append)|flat_atomic"
)
_MEMORY = re.compile(r"(ds|flat|global|scratch|buffer)_")
_QUIET = re.compile(r"ds_read|\w+_load_|buffer_(inv|wbl2)")
_LEAVES = re.compile(r"s_(barrier|swappc|setpc|call|endpgm)")
_COMPARES = re.compile(r"v_cmpx?_|v_readfirstlane")
_SWAPS = re.compile(r"ds_cmpst|flat_atomic_cmpswap")
_ENDS = re.compile(r"s_(barrier|endpgm)")


def mark_loads(code: np.ndarray[Any, Any], texts: Sequence[str]) -> None:
    """Sets POLLS and GUARDS in the flags of those that are."""
    _mark_polls(code, texts)
    if any(map(_ATOMIC.match, texts)):
        for at, text in enumerate(texts):
            if _LOCAL.match(text) and (_compared(code, texts, at) or _before_swap(texts, at)):
                code[at]["flags"] |= GUARDS


def _mark_polls(code: np.ndarray[Any, Any], texts: Sequence[str]) -> None:
    targets = code["target"]
    for branch in np.flatnonzero((targets >= 0) & (targets <= np.arange(len(code)))):
        body = range(int(targets[branch]), int(branch))
        if len(body) > LONGEST or any(map(_acts, (texts[at] for at in body))):
            continue
        written = {register for at in body for register in _results(code[at])}
        loads = [at for at in body if _READS.match(texts[at])]
        if all(written.isdisjoint(_sources(code[at])) for at in loads):  # else it does more
            for at in filter(lambda at: _LOAD.match(texts[at]), loads):
                code[at]["flags"] |= POLLS
                _mark_first(code, texts, at, body.start)


def _mark_first(code: np.ndarray[Any, Any], texts: Sequence[str], poll: int, loop: int) -> None:
    """The same load right before its loop."""
    address = _sources(code[poll])
    for at in range(loop - 1, max(-1, loop - 1 - LONGEST), -1):
        if _address(texts[at]) == _address(texts[poll]):
            code[at]["flags"] |= POLLS
        if _acts(texts[at]) or not address.isdisjoint(_results(code[at])):
            return


def _address(text: str) -> tuple[str, str]:
    """Mnemonic, and all but the result."""
    return text.split(maxsplit=1)[0], text.partition(",")[2]


def _before_swap(texts: Sequence[str], load: int) -> bool:
    for text in texts[load + 1 : load + FARTHEST]:
        if _ENDS.match(text):
            return False
        if _SWAPS.match(text):
            return True
    return False


def _compared(code: np.ndarray[Any, Any], texts: Sequence[str], load: int) -> bool:
    """Whether the first that uses what was loaded compares it."""
    loaded = _results(code[load])
    for at in range(load + 1, min(load + LONGEST, len(code))):
        if not loaded.isdisjoint(_sources(code[at])):
            return bool(_COMPARES.match(texts[at]))
    return False


def _acts(text: str) -> bool:
    return bool(_LEAVES.match(text) or (_MEMORY.match(text) and not _QUIET.match(text)))


Register = tuple[int, int]


def _results(one: Any) -> set[Register]:
    return set().union(*(_registers(one["o"][k]) for k in range(int(one["results"]))))


def _sources(one: Any) -> set[Register]:
    after = range(int(one["results"]), int(one["operands"]))
    return set().union(*(_registers(one["o"][k]) for k in after))


def _registers(operand: Any) -> set[Register]:
    """Vector and scalar ones: kind and number."""
    kind = int(operand["kind"])
    if kind not in (KIND["vector"], KIND["scalar"]):
        return set()
    first = int(operand["index"])
    return {(kind, at) for at in range(first, first + int(operand["registers"]))}
