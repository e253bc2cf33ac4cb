"""A scripted mind: it has thirty ideas, says each in other words every time, and reads the record.

Like a capable model it proposes nothing that it recognises in its prompt as tried, whatever that
was called there; what its prompt does not show it can't know. Where its prompt names directions
to look at first, more than half of what it proposes lies there. Which ideas come to it first is
the same for all islands: they ask one model. What an idea is worth it does not know,
unless it follows findings: then those that won elsewhere come first, and traps are left.
"""

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from scripts.scripted_model.answers import Messages, answer, listing, role_of

IDEAS = Path(__file__).with_name("ideas.yaml")
MARK = "idea_"
RECOGNISED = 48
"""Characters of a sentence by which it is recognised; records are cut off."""

EXPERIMENTS, IN_FOCUS = 5, 3
FOCUS = re.compile(r"Look first at what is left to you: ([^.]*)\.")
AVENUES = ("memory", "tiling", "arithmetic", "latency", "distribution", "occupancy", "layout")
TURNED_AWAY = re.compile(r"^# Turned away just now$.*?(?=^# |\Z)", re.MULTILINE | re.DOTALL)
FINDINGS = re.compile(
    r"^# What this search and earlier ones found$.*?(?=^# |\Z)", re.MULTILINE | re.DOTALL
)
RECIPE = re.compile(
    r"^- the fastest kernel was made by (.*), beside the naive seed: .*$", re.MULTILINE
)
TO_MAKE = "# The experiment to make on the Base"
AT_ONCE = 2
"""Steps of a recipe that are made in one experiment."""

RULE = re.compile(r"^- (trap: )?(.*?): ([\d.]+)x \(", re.MULTILINE)
CODE_TITLES = {"crossover": "First parent", "repair": "The kernel that failed"}

Way = tuple[str, str]
"""A technique's name and a sentence."""


@cache
def directions() -> tuple[str, ...]:
    """Of each idea, where it changes a kernel."""
    return tuple(one["direction"] for one in yaml.safe_load(IDEAS.read_text()))


@cache
def ideas() -> tuple[tuple[Way, ...], ...]:
    """For each idea the ways in which it is said."""
    return tuple(
        tuple((name, sentence) for name, sentence in one["ways"])
        for one in yaml.safe_load(IDEAS.read_text())
    )


@dataclass(slots=True)
class ScriptedMind:
    """A Rule for ScriptedServer. pull: how much sooner the first idea comes to mind than the last,
    as a power of its rank; 0: all alike. follows: whether it heeds the findings in its prompt.
    written: the idea of each call of a writer, in order."""

    seed: int
    pull: float = 0.5
    follows: bool = False
    written: list[int] = field(default_factory=list)
    _weights: list[float] = field(init=False)

    def __post_init__(self) -> None:
        places = list(range(len(ideas())))
        random.Random(f"{self.seed}/pull").shuffle(places)
        self._weights = [(1 + place) ** -self.pull for place in places]

    def __call__(self, messages: Messages, number: int) -> str:
        role = role_of(messages)
        prompt = "\n".join(one["content"] for one in messages if one["role"] != "assistant")
        again = any(one["role"] == "assistant" for one in messages)
        if role in ("selector", "distiller"):
            return answer(messages, number)
        if role == "designer":
            said = "\n".join(one["content"] for one in messages)
            return self._design(said, random.Random(f"{self.seed}/{number}"))
        idea, *others = wanted(prompt)
        if not again and role == "writer":
            self.written.append(idea)
        kernel = with_idea(listing(prompt, CODE_TITLES.get(role, "Base")), idea, number)
        for other in others:
            kernel = with_idea(kernel, other, number)
        return f"```hip\n{kernel}```\n\n## Report\nAs asked for.\n"

    def _design(self, prompt: str, draw: random.Random) -> str:
        known = tried(prompt)
        left = [place for place in range(len(ideas())) if place not in known]
        steps = recipe(prompt) if self.follows else []
        wins, traps = found(prompt) if self.follows else ({}, set())
        left = [place for place in left if place not in traps] or left
        focus = FOCUS.search(prompt)
        first = [place for place in left if focus and directions()[place] in focus[1]]
        # What won is worth making on every kernel that has it not, wherever it was tried.
        held = ideas_in([listing(prompt, "Base")]) if wins or steps else set()
        steps = [place for place in steps if place not in held][:AT_ONCE]
        chosen = [place for place in wins if place not in held][:EXPERIMENTS]
        first = [place for place in first if place not in chosen]
        chosen += self._drawn(first, min(IN_FOCUS, EXPERIMENTS - len(chosen)), draw)
        others = [place for place in left if place not in chosen]
        chosen += self._drawn(others, EXPERIMENTS - len(chosen), draw)
        if not chosen:  # it must say something
            chosen = self._drawn(range(len(ideas())), EXPERIMENTS, draw)
        made = [_experiment(ideas()[place], draw, wins.get(place)) for place in chosen]
        if len(steps) > 1:
            made = [_joined(steps, wins, draw), *made[: EXPERIMENTS - 1]]
        said = {"avenues": list(AVENUES), "experiments": made}
        return f"```json\n{json.dumps(said)}\n```"

    def _drawn(self, places: Sequence[int], count: int, draw: random.Random) -> list[int]:
        """Without replacement, by how soon they come to mind."""
        left = list(places)
        chosen: list[int] = []
        while left and len(chosen) < count:
            chosen.append(draw.choices(left, [self._weights[place] for place in left])[0])
            left.remove(chosen[-1])
        return chosen


def _experiment(ways: Sequence[Way], draw: random.Random, known: float | None) -> dict[str, object]:
    """known: how many times as fast findings say it is, which it then predicts. new: why it is
    none of the ideas in the record; the mind is sure of that, in other words."""
    (name, sentence), (_, another) = draw.sample(list(ways), 2)
    low = draw.randint(-5, 15)
    high = low + draw.randint(1, 40)
    if known is not None:
        low, high = round(100 * known) - 105, round(100 * known) - 95
    return {
        "technique": name,
        "avenue": draw.choice(AVENUES),
        "description": sentence,
        "rubric": f"1. {sentence}\n2. Keep the rest.",
        "new": another,
        "performance": [low, high],
        "innovation": draw.randint(0, 100),
    }


def _joined(
    steps: Sequence[int], wins: Mapping[int, float], draw: random.Random
) -> dict[str, object]:
    """Steps of a recipe as one experiment."""
    ways = [draw.sample(list(ideas()[place]), 2) for place in steps]
    gain = math.prod(wins.get(place, 1.0) for place in steps)
    low = round(100 * gain) - 105
    return {
        "technique": "-and-".join(name for (name, _), _ in ways),
        "avenue": draw.choice(AVENUES),
        "description": " ".join(sentence for (_, sentence), _ in ways),
        "rubric": "\n".join(f"{n}. {way[0][1]}" for n, way in enumerate(ways, 1)),
        "new": " ".join(another for _, (_, another) in ways),
        "performance": [low, low + 10],
        "innovation": draw.randint(0, 100),
    }


def recipe(prompt: str) -> list[int]:
    """Ideas that led to the fastest kernel, in order, as findings say."""
    section = FINDINGS.search(prompt)
    told = RECIPE.search(section[0] if section else "")
    steps = [sorted(recognised(name)) for name in told[1].split(", then ")] if told else []
    return [place for step in steps for place in step]


def found(prompt: str) -> tuple[dict[int, float], set[int]]:
    """Ideas that findings say won with their ratios, the largest first; and their traps."""
    section = FINDINGS.search(prompt)
    gains: dict[int, float] = {}
    said = RECIPE.sub("", section[0] if section else "")
    for trap, rule, estimate in RULE.findall(said):
        for place in recognised(rule.partition(" on a kernel")[0]):
            gains[place] = -1.0 if trap else max(float(estimate), gains.get(place, 0.0))
    ranked = sorted(gains.items(), key=lambda one: -one[1])
    wins = {place: ratio for place, ratio in ranked if ratio > 0}
    return wins, {place for place in gains if gains[place] < 0}


def tried(prompt: str) -> set[int]:
    """Ideas that the prompt shows as tried. What was turned away just now is tried only where the
    mind sees that it is the earlier idea; where that is another one, it may insist. What findings
    say was tried by others, perhaps on another kernel."""
    prompt = FINDINGS.sub("", prompt)
    turned_away = TURNED_AWAY.search(prompt)
    if turned_away is None:
        return recognised(prompt)
    elsewhere = prompt[: turned_away.start()] + prompt[turned_away.end() :]
    earlier = re.findall(r" repeats (\S+)", turned_away[0])
    return recognised(elsewhere) | recognised("\n".join(earlier))


def recognised(prompt: str) -> set[int]:
    """Ideas of which a name or the beginning of a sentence stands in the prompt."""
    return {
        place
        for place, ways in enumerate(ideas())
        if any(name in prompt or sentence[:RECOGNISED] in prompt for name, sentence in ways)
    }


def wanted(prompt: str) -> list[int]:
    """The idea whose sentence stands last in a prompt: the experiment to make; after it others that
    a writer is to make with it."""
    places = [max(prompt.rfind(sentence) for _, sentence in ways) for ways in ideas()]
    last = places.index(max(places))
    start = prompt.rfind(TO_MAKE)
    together = [idea for idea, place in enumerate(places) if 0 <= start < place and idea != last]
    return [last, *together]


def with_idea(source: str, idea: int, number: int) -> str:
    """The kernel with a mark of the idea; number: no two kernels are the same."""
    return f"{source.rstrip()}\n__device__ constexpr int {MARK}{idea} = {number};\n"


def ideas_in(sources: Sequence[str]) -> set[int]:
    text = "\n".join(sources)
    return {place for place in range(len(ideas())) if f"{MARK}{place} =" in text}
