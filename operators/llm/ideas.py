"""Ideas: whether an experiment was tried before, however it is worded."""

import math
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path

from evaluators.lined_yaml import load
from operators.individual import Idea

LOOKS_REPEATED, REPEATED = 0.2, 0.25
"""Likeness from which on a designer is asked what is new; and from which on an idea counts as
tried before, when that was asked. docs/measured/idea_likeness.json has how many of those that are
only worded anew, and of those that are new, lie above."""

LEAST_TERMS, VERBATIM = 8, 0.95
"""An idea of fewer concepts and words says too little to be told from another in other words: it is
a repeat where it says the very same."""

LEAST_NEW = 3
"""Concepts and words that a sentence on what is new must bring."""

GENERAL = 0.3
"""What a concept that says little by itself weighs, beside 1 for the others and for words."""

PRIOR = 20
"""Ideas that a campaign is taken to have seen before its first, each of other words."""

_WORDS = re.compile(r"[a-z][a-z0-9]*")
_NUMBERS = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![.)]\s)")
STEM = 5
"""Letters of a word that count: tile, tiles, tiled."""
_STOP = frozenset(
    _WORDS.findall("""
a about after again all also an and another any are as at be because been before being both
but by can could do does each else every few first for from further get gets give had has have
how if in instead into is it its itself just keep less let like long made make makes many may
more most much must need needs new no not now of off on once one only or other others our out
over own rather same should since so some still such take takes than that the their them then
there these they this those through to too two under until up use used uses using very via was
well what when where which while whole will with within without would yet you your step steps
kernel code change value values write compute work works should help time fast faster slow
slower speed performance gain better best cost
""")
)


Terms = Mapping[str, float]
"""Concepts and words of a text, with what each weighs besides how rare it is."""


class Ideas:
    """All ideas of a campaign so far."""

    def __init__(self, ideas: Iterable[Idea] = ()) -> None:
        self._known: list[tuple[Idea, Terms]] = []
        self._seen: Counter[str] = Counter()  # ideas that a term is in
        for idea in ideas:
            self.add(idea)

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[Idea]:
        return (idea for idea, _ in self._known)

    def add(self, idea: Idea) -> None:
        terms = terms_of(idea)
        self._known.append((idea, terms))
        self._seen.update(terms)

    def nearest(self, idea: Idea, keys: Container[str] | None = None) -> tuple[Idea, float] | None:
        """The one most like it, and how alike they are, 0 to 1. keys: among these; None: all.

        The cosine of terms weighted by how rare they are (Salton and Buckley, Information
        Processing and Management 24, 1988).
        """
        mine = self._weighted(terms_of(idea))
        alike = [
            (_cosine(mine, self._weighted(terms)), known)
            for known, terms in self._known
            if keys is None or known.key in keys
        ]
        if not alike:
            return None
        most, known = max(alike, key=lambda pair: pair[0])
        return known, most

    def _weighted(self, terms: Terms) -> Terms:
        """Of length 1."""
        count = len(self._known) + PRIOR
        raw = {
            term: weight * math.log(1 + count / (1 + self._seen[term]))
            for term, weight in terms.items()
        }
        norm = math.sqrt(sum(weight**2 for weight in raw.values()))
        return {term: weight / norm for term, weight in raw.items()} if norm else {}


def _cosine(first: Terms, second: Terms) -> float:
    small, large = sorted((first, second), key=len)
    return sum(weight * large[term] for term, weight in small.items() if term in large)


def terms_of(idea: Idea) -> Terms:
    return _terms(" ".join((idea.technique, idea.description, idea.rubric)))


def says_little(idea: Idea) -> bool:
    return len(terms_of(idea)) < LEAST_TERMS


def says_what_is_new(said: str, earlier: Idea) -> bool:
    """Whether a sentence on what is new names something that the earlier idea does not."""
    had = terms_of(earlier)
    return sum(term not in had for term in _terms(said)) >= LEAST_NEW


@lru_cache(maxsize=4096)
def _terms(text: str) -> Terms:
    hyphened = " ".join(text.lower().replace("_", "-").split())
    plain = " ".join(re.sub(r"[-/]", " ", hyphened).split())
    found = {
        f"#{name}": weight
        for name, weight, pattern in _concepts()
        if pattern.search(plain) or pattern.search(hyphened)
    }
    words = (word for word in _WORDS.findall(plain) if word not in _STOP and len(word) > 2)
    numbers = dict.fromkeys(_NUMBERS.findall(plain), 1.0)  # 64 x 64 is not 128 x 128
    return found | numbers | {word[:STEM]: 1.0 for word in words}


@cache
def _concepts() -> tuple[tuple[str, float, re.Pattern[str]], ...]:
    tree = load((Path(__file__).parent / "knowledge" / "concepts.yaml").read_text("utf-8"))
    assert isinstance(tree, dict)
    return tuple(
        (str(name), weight, re.compile(rf"\b(?:{pattern})\w*"))
        for group, weight in (("specific", 1.0), ("general", GENERAL))
        for name, pattern in tree[group].items()
    )
