"""Quantities: what one answer says of a model in a role, with the verdicts on its kernels."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluators.evaluation import Status
from operators.llm.question import Role
from scripts.roles.answers import Answer, Judged
from scripts.roles.intervals import Scale
from scripts.roles.situations import BENCHED, Situation

SLOWEST = -99.0
"""Percent: what a prediction of less counts as."""

Values = list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An answer with the verdicts on its kernels."""

    answer: Answer
    verdicts: tuple[Judged, ...]

    @property
    def written(self) -> Sequence[Mapping[str, Any]]:
        """Of the experiments of a design, what became of those that were written."""
        return tuple(self.answer.said.get("written", ()))

    @property
    def kernels(self) -> int:
        return sum("source" in one for one in (self.answer.said, *self.written))

    @property
    def asked_for(self) -> int:
        """Kernels that it was to lead to: none of a design that nobody wrote."""
        return len(self.written) if self.answer.role == "designer" else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """values: of one answer, none where it says nothing. better: which is better, "more" or
    "less"; "": neither. judged: it needs verdicts. least: no value is below it."""

    name: str
    scale: Scale
    better: str
    values: Callable[[Seen], Values]
    roles: tuple[Role, ...] = BENCHED
    judged: bool = False
    least: float = -math.inf


# --- choices ------------------------------------------------------------------------------------


def regret(situation: Situation, base_id: str) -> float | None:
    """ln of how many times as fast as the best child of the chosen Base the best child of the
    best-known Base was, by what the campaign measured later; None: it had no child then."""
    return _regrets(situation).get(base_id)


def _regrets(situation: Situation) -> dict[str, float]:
    later = situation.asked.later
    best = max((one.over_fastest for one in later.values()), default=0.0)
    return {identity: best - one.over_fastest for identity, one in later.items()}


def beside(situation: Situation) -> dict[str, float]:
    """What others got of a situation, to compare with. Of a selector's, the regret of who chooses
    the tournament's fastest, and of who draws among those that are known; of others, whether the
    campaign's own kernel passed, and ln of its gain over the Base."""
    outcome = situation.asked.outcome
    if outcome is not None:
        told = {"campaign_passed": float(outcome.status is Status.PASSED)}
        return told | ({"campaign_gain": math.log(outcome.gain[0])} if outcome.gain else {})
    regrets = _regrets(situation)
    drawn = [regrets[one.id] for one in situation.tournament if one.id in regrets]
    if not drawn:
        return {}
    fastest = situation.tournament[0].id
    told = {"lot": sum(drawn) / len(drawn)}
    return told | ({"fastest": regrets[fastest]} if fastest in regrets else {})


def _regret(seen: Seen) -> Values:
    told = seen.answer.said.get("regret")
    return [] if told is None else [told]


def _best_known(seen: Seen) -> Values:
    return [float(one <= 0) for one in _regret(seen)]


def _known(seen: Seen) -> Values:
    return [float(bool(_regret(seen)))] if seen.answer.said else []


def _beside(name: str) -> Callable[[Seen], Values]:
    def values(seen: Seen) -> Values:
        told = seen.answer.beside
        return [told[name]] if name in told else []

    return values


def _untried(seen: Seen) -> Values:
    said = seen.answer.said
    return [float(sum(not one["repeats"] for one in said["experiments"]))] if said else []


def _repeats(seen: Seen) -> Values:
    experiments = seen.answer.said.get("experiments", ())
    return (
        [sum(bool(one["repeats"]) for one in experiments) / len(experiments)] if experiments else []
    )


# --- kernels --------------------------------------------------------------------------------------


def _share(holds: Callable[[Judged], bool]) -> Callable[[Seen], Values]:
    """Of the kernels that were asked for: a reply that can't be used is none."""

    def values(seen: Seen) -> Values:
        return [sum(map(holds, seen.verdicts)) / seen.asked_for] if seen.asked_for else []

    return values


def _gains(seen: Seen) -> Iterator[tuple[float, Judged]]:
    """ln of each gain that was measured."""
    for one in seen.verdicts:
        if one.gain is not None:
            yield math.log(one.gain[0]), one


def _gain(seen: Seen) -> Values:
    gains = [gain for gain, _ in _gains(seen)]
    return [sum(gains) / len(gains)] if gains else []


def _progress(seen: Seen) -> Values:
    """What a search gets of a question: the gain where there is one, else nothing."""
    if not seen.asked_for or any(one.base_failed for one in seen.verdicts):
        return []
    return [sum(max(0.0, gain) for gain, _ in _gains(seen)) / seen.asked_for]


def _predictions(seen: Seen) -> Iterator[tuple[float, float, float]]:
    """ln of a measured gain, and of the lowest and the highest that was predicted."""
    for gain, one in _gains(seen):
        if one.predicted is not None:
            low, high = (math.log1p(max(SLOWEST, percent) / 100) for percent in one.predicted)
            yield gain, min(low, high), max(low, high)


def _within(seen: Seen) -> Values:
    held = [low <= gain <= high for gain, low, high in _predictions(seen)]
    return [sum(held) / len(held)] if held else []


def _hoped(seen: Seen) -> Values:
    over = [(low + high) / 2 - gain for gain, low, high in _predictions(seen)]
    return [sum(over) / len(over)] if over else []


# --- all of them ----------------------------------------------------------------------------------


def _cost(value: Callable[[Answer], float | None]) -> Callable[[Seen], Values]:
    def values(seen: Seen) -> Values:
        found = value(seen.answer)
        return [] if found is None else [float(found)]

    return values


def _quantity(
    name: str, scale: Scale, better: str, values: Callable[[Seen], Values], *roles: Role
) -> Quantity:
    """None of whose values is below 0; a regret is 0 where the best was chosen."""
    kept = roles or BENCHED
    return Quantity(name=name, scale=scale, better=better, values=values, roles=kept, least=0.0)


def _of_kernels(
    name: str,
    scale: Scale,
    better: str,
    values: Callable[[Seen], Values],
    least: float = -math.inf,
) -> Quantity:
    return Quantity(
        name=name,
        scale=scale,
        better=better,
        values=values,
        roles=("designer", "writer", "repair"),
        judged=True,
        least=least,
    )


QUANTITIES = (
    _quantity("usable", "share", "more", lambda seen: [float(seen.answer.usable)]),
    _quantity(
        "usable at first",
        "share",
        "more",
        lambda seen: [float(seen.answer.usable and seen.answer.at_first)],
    ),
    _quantity("regret", "ratio", "less", _regret, "selector"),
    _quantity("regret of the fastest", "ratio", "", _beside("fastest"), "selector"),
    _quantity("regret by lot", "ratio", "", _beside("lot"), "selector"),
    _quantity("best-known Base", "share", "more", _best_known, "selector"),
    _quantity("chosen is known", "share", "", _known, "selector"),
    _quantity("new experiments", "mean", "more", _untried, "designer"),
    _quantity("repeats", "share", "less", _repeats, "designer"),
    _of_kernels("parses", "share", "more", _share(lambda one: one.status is not Status.INVALID)),
    _of_kernels("compiles", "share", "more", _share(lambda one: one.compiled)),
    _of_kernels("passes", "share", "more", _share(lambda one: one.status is Status.PASSED)),
    _of_kernels("gain where it passes", "ratio", "more", _gain),
    _of_kernels("gain a question", "ratio", "more", _progress, least=0.0),
    _of_kernels("within the prediction", "share", "more", _within),
    _of_kernels("predicted / measured", "ratio", "", _hoped),
    Quantity(
        name="the campaign's passed",
        scale="share",
        better="",
        values=_beside("campaign_passed"),
        roles=("writer", "repair"),
    ),
    Quantity(
        name="the campaign's gain",
        scale="ratio",
        better="",
        values=_beside("campaign_gain"),
        roles=("writer", "repair"),
    ),
    _quantity("prompt tokens", "mean", "less", _cost(lambda one: one.prompt_tokens)),
    _quantity("completion tokens", "mean", "less", _cost(lambda one: one.completion_tokens)),
    _quantity("dollars", "mean", "less", _cost(lambda one: one.dollars)),
    _quantity("calls", "mean", "less", _cost(lambda one: one.calls)),
    _quantity("seconds a reply", "mean", "less", _cost(lambda one: one.seconds)),
)
