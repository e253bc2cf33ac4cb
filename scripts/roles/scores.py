"""Scores by role, each situation counted once; and two sets of answers, situation by situation."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import Any

from operators.llm.question import Role
from scripts.roles.answers import Answers
from scripts.roles.intervals import Difference, Figure
from scripts.roles.quantities import QUANTITIES, Quantity, Seen
from scripts.roles.situations import BENCHED, SituationError

Scores = dict[Role, dict[str, Any]]


def scores(answers: Answers) -> Scores:
    """Of every role that was asked: counts, failures, and figures by a quantity's name."""
    return {role: _of_role(role, seen) for role, seen in _seen(answers).items()}


def _seen(answers: Answers) -> dict[Role, list[Seen]]:
    """By role, in the order of BENCHED."""
    verdicts = defaultdict(list)
    for judged in answers.verdicts.values():
        verdicts[judged.situation, judged.repeat].append(judged)
    found: dict[Role, list[Seen]] = {}
    for role in BENCHED:
        for one in answers.answers.values():
            if one.role == role:
                seen = Seen(answer=one, verdicts=tuple(verdicts[one.situation, one.repeat]))
                found.setdefault(role, []).append(seen)
    return found


def _of_role(role: Role, seen: Sequence[Seen]) -> dict[str, Any]:
    answers = [one.answer for one in seen]
    figures = {
        quantity.name: figure.as_json()
        for quantity in _told(role, seen)
        if (
            figure := Figure.of(
                [*_by_situation(quantity, seen).values()], quantity.scale, quantity.least
            )
        )
    }
    kernels = [one for each in seen for one in each.verdicts]
    spent = [one.dollars for one in answers] + [w["dollars"] for one in seen for w in one.written]
    return {
        "situations": len({one.situation for one in answers}),
        "answers": len(answers),
        "calls": sum(one.calls for one in answers)
        + sum(w["calls"] for s in seen for w in s.written),
        "dollars": round(sum(spent), 6),
        "failures": dict(sorted(Counter(k for one in answers for k in one.failures).items())),
        "kernels": sum(one.kernels for one in seen),
        "judged": len(kernels),
        "verdicts": dict(sorted(Counter(str(one.status) for one in kernels).items())),
        "bases_that_failed": sorted({one.base_failed for one in kernels} - {""}),
        "figures": figures,
    }


def _told(role: Role, seen: Sequence[Seen]) -> Iterator[Quantity]:
    """What may be said of a role: nothing of kernels, as long as some have no verdict."""
    judged = all(one.kernels == len(one.verdicts) for one in seen)
    judged = judged and any(one.kernels for one in seen)
    for quantity in QUANTITIES:
        if role in quantity.roles and (judged or not quantity.judged):
            yield quantity


def _by_situation(quantity: Quantity, seen: Sequence[Seen]) -> dict[str, float]:
    """The mean over a situation's repeats, of those of which it says something."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for one in seen:
        values[one.answer.situation] += quantity.values(one)
    return {one: fmean(found) for one, found in sorted(values.items()) if found}


def compared(first: Answers, second: Answers) -> Scores:
    """What the second has more than the first, in the situations that both were asked, by role
    and quantity. Raises SituationError: there are none."""
    mine, theirs = _seen(first), _seen(second)
    found: Scores = {}
    for role in mine.keys() & theirs.keys():
        pairs = {
            quantity: (_by_situation(quantity, mine[role]), _by_situation(quantity, theirs[role]))
            for quantity in _told(role, mine[role])
            if quantity in _told(role, theirs[role])
        }
        figures = {
            quantity.name: {"better": quantity.better, **told}
            for quantity, pair in pairs.items()
            if (told := _difference(quantity, *pair))
        }
        if figures:
            found[role] = figures
    if not found:
        raise SituationError(
            "no situation was asked of both; ask both the same files and the same --roles"
        )
    return {role: found[role] for role in BENCHED if role in found}


def _difference(
    quantity: Quantity, mine: dict[str, float], theirs: dict[str, float]
) -> dict[str, Any]:
    both = sorted(mine.keys() & theirs.keys())
    if not both:
        return {}
    first, second = [mine[one] for one in both], [theirs[one] for one in both]
    return {
        "first": _figure(first, quantity),
        "second": _figure(second, quantity),
        "difference": Difference.of(first, second, quantity.scale).as_json(),
    }


def _figure(values: Sequence[float], quantity: Quantity) -> dict[str, Any]:
    figure = Figure.of(values, quantity.scale, quantity.least)
    assert figure is not None
    return figure.as_json()
