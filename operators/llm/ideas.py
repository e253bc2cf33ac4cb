"""Ideas: whether an experiment was tried before, however it is worded."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evaluators.lined_yaml import load

REPEATED = 0.5
"""Likeness from which on an idea counts as one that was tried: see docs/measured/ideas.json."""

LEAST_NEW = 3
"""Concepts and words that a sentence on what is new must bring."""

SPECIFIC, GENERAL, WORD = 1.0, 0.15, 0.25
"""What a concept, a general one and any other word weigh."""

_WORDS = re.compile(r"[a-z][a-z0-9]*")
_ENDINGS = re.compile(
    r"(isations?|izations?|ations?|ising|izing|ised|ized|ises|izes|ings?|ers?|ed|es|ly|s|e)$"
)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Idea:
    """An experiment's name and words. key: which draft it became or may become; island: whose."""

    key: str
    technique: str
    description: str
    rubric: str = ""
    island: int = 0


Features = Mapping[str, float]
"""Weights by concept and word; the sum of their squares is 1."""


class Ideas:
    """All ideas of a campaign so far."""

    def __init__(self, ideas: Iterable[Idea] = ()) -> None:
        self._known: list[tuple[Idea, Features]] = []
        for idea in ideas:
            self.add(idea)

    def __len__(self) -> int:
        return len(self._known)

    def add(self, idea: Idea) -> None:
        self._known.append((idea, features(idea)))

    def nearest(self, idea: Idea, *, island: int | None = None) -> tuple[Idea, float] | None:
        """The one most like it, and how alike they are, 0 to 1. island: among its own alone."""
        mine = features(idea)
        alike = [
            (likeness(mine, theirs), known)
            for known, theirs in self._known
            if island in (None, known.island)
        ]
        if not alike:
            return None
        most, known = max(alike, key=lambda pair: pair[0])
        return known, most


def features(idea: Idea) -> Features:
    """The concepts and words of an idea: its name and description in full, its rubric by half."""
    counted: Counter[str] = Counter()
    for text, share in ((idea.technique, 1.0), (idea.description, 1.0), (idea.rubric, 0.5)):
        for feature, weight in _weights(text).items():
            counted[feature] = max(counted[feature], share * weight)  # type: ignore[assignment]
    norm = math.sqrt(sum(weight**2 for weight in counted.values()))
    return {feature: weight / norm for feature, weight in counted.items()} if norm else {}


def likeness(first: Features, second: Features) -> float:
    """The cosine of two sets of features, 0 to 1."""
    small, large = sorted((first, second), key=len)
    return sum(weight * large[feature] for feature, weight in small.items() if feature in large)


def says_what_is_new(said: str, earlier: Idea) -> bool:
    """Whether a sentence on what is new names something that the earlier idea does not."""
    told, had = _weights(said), _weights(" ".join((earlier.technique, earlier.description)))
    rubric = _weights(earlier.rubric)
    new = [word for word in told if word not in had and word not in rubric]
    return len(new) >= LEAST_NEW


def _weights(text: str) -> dict[str, float]:
    plain = " ".join(re.sub(r"[-_/]", " ", text.lower()).split())
    hyphened = " ".join(text.lower().replace("_", "-").split())
    found: dict[str, float] = {}
    covered: set[str] = set()
    for name, weight, pattern in _concepts():
        hits = [*pattern.finditer(plain), *pattern.finditer(hyphened)]
        if hits:
            found[f"#{name}"] = weight
            covered.update(word for hit in hits for word in _WORDS.findall(hit[0]))
    for word in _WORDS.findall(plain):
        if word not in _STOP and word not in covered and len(word) > 2:
            found[_ENDINGS.sub("", word) or word] = WORD
    return found


@cache
def _concepts() -> tuple[tuple[str, float, re.Pattern[str]], ...]:
    tree = load((Path(__file__).parent / "knowledge" / "concepts.yaml").read_text("utf-8"))
    assert isinstance(tree, dict)
    return tuple(
        (str(name), weight, re.compile(rf"\b(?:{pattern})\w*"))
        for group, weight in (("specific", SPECIFIC), ("general", GENERAL))
        for name, pattern in tree[group].items()
    )
