"""Novelty: how alike two kernel files are, so that no evaluation is spent on a near-duplicate."""

import re
from collections.abc import Iterable
from zlib import crc32

import numpy as np
import numpy.typing as npt

from operators.individual import Individual

SHINGLE = 5
"""Tokens taken together; ShinkaEvolve (arXiv 2509.19349) compares embeddings instead."""

_COMMENT = re.compile(r"//[^\n]*|/\*(?!---).*?(?:\*/|\Z)", re.DOTALL)
_TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")

Shingles = npt.NDArray[np.uint32]


class Novelty:
    """Compares a source with those of an island; keeps what it made of each of them."""

    def __init__(self, threshold: float | None) -> None:
        """threshold: similarity from which on a kernel is turned away; None: never."""
        self.threshold = threshold
        self._known: dict[str, Shingles] = {}

    def twin(self, source: str, individuals: Iterable[Individual]) -> tuple[str, float] | None:
        """Id and similarity of the first individual that is too much alike."""
        if self.threshold is None:
            return None
        mine = shingles(source)
        known: dict[str, Shingles] = {}
        found: tuple[str, float] | None = None
        for one in individuals:
            theirs = self._known.get(one.id)
            if theirs is None:
                theirs = shingles(one.candidate.source)
            known[one.id] = theirs
            if found is None:
                alike = similarity(mine, theirs, self.threshold)
                found = (one.id, alike) if alike >= self.threshold else None
        self._known = known  # the island has forgotten the others
        return found


def shingles(source: str) -> Shingles:
    """Sorted hashes of every SHINGLE tokens in a row, comments left out; repeats are told apart."""
    tokens = _TOKEN.findall(_COMMENT.sub(" ", source))
    seen: dict[int, int] = {}
    hashes: list[int] = []
    for i in range(max(1, len(tokens) - SHINGLE + 1)):
        value = crc32("\0".join(tokens[i : i + SHINGLE]).encode())
        count = seen.get(value, 0)
        seen[value] = count + 1
        hashes.append(crc32(count.to_bytes(4, "little"), value) if count else value)
    return np.unique(np.array(hashes, dtype=np.uint32))


def similarity(first: Shingles, second: Shingles, at_least: float) -> float:
    """Jaccard index, 0 to 1; zero without a look when the sizes alone rule at_least out."""
    small, large = sorted((len(first), len(second)))
    if small < at_least * large:
        return 0.0
    common = len(np.intersect1d(first, second, assume_unique=True))
    return common / (small + large - common)
