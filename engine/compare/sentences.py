"""What a comparison says, in sentences: which differences are real, and how many seeds would do."""

from collections.abc import Iterator

from engine.compare.amounts import amount_text
from engine.compare.arms import Arm
from engine.compare.comparison import Comparison
from engine.compare.pairs import WORTH_SHOWING, Estimate, Pair

LONGEST_NAME = 50

PAIRWISE = (
    "p-values are adjusted for the number of pairs (Holm); intervals are of one pair at a time"
)


def headlines(comparison: Comparison) -> Iterator[str]:
    """The verdicts, the reference's pairs first."""
    if comparison.repetitions:
        yield from _repetitions(comparison)
    for pair in comparison.pairs:
        yield _verdict(comparison, pair)
        if len(pair.by_task) > 1:
            yield _by_task(comparison, pair)
    if len(comparison.pairs) > 1:
        yield PAIRWISE


def arm_text(arm: Arm) -> str:
    """Its letter, and its name unless that is too long for a sentence."""
    return f"{arm.letter} ({arm.name})" if len(arm.name) <= LONGEST_NAME else arm.letter


def factor(value: float) -> str:
    """ "1.31x", "0.072x", "154x"."""
    return f"{value:.3g}x" if value < 0.1 or value >= 100 else f"{value:.2f}x"


def interval_text(estimate: Estimate) -> str:
    if estimate.ci95 is None:
        return "no interval"
    return f"95% interval {factor(estimate.ci95[0])} to {factor(estimate.ci95[1])}"


def p_text(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.2g}"


def _verdict(comparison: Comparison, pair: Pair) -> str:
    outcome = pair.verdict.outcome
    if outcome == "real":
        return _real(comparison, pair)
    return _not_shown(comparison, pair) if outcome == "not shown" else _too_few(comparison, pair)


def _real(comparison: Comparison, pair: Pair) -> str:
    ratio = _primary(comparison, pair)
    better, worse = pair.second, pair.first
    if ratio.value < 1:
        ratio, better, worse = _inverse(ratio), worse, better
    return (
        f"{arm_text(better)} is better than {arm_text(worse)}: {_where(comparison, pair)} is "
        f"{factor(ratio.value)} as fast ({_evidence(pair, ratio)})"
    )


def _not_shown(comparison: Comparison, pair: Pair) -> str:
    ratio = _primary(comparison, pair)
    assert ratio.ci95 is not None  # else it were too few
    low, high = ratio.ci95
    if low == high == 1:
        return (
            f"no difference is shown between {arm_text(pair.first)} and {arm_text(pair.second)}: "
            f"{_where(comparison, pair)} is the same in all campaigns ({_counts(pair)})"
        )
    return (
        f"no difference is shown between {arm_text(pair.first)} and {arm_text(pair.second)}: "
        f"{_where(comparison, pair)} of {pair.second.letter} is {factor(ratio.value)} as fast as "
        f"that of {pair.first.letter} ({_evidence(pair, ratio)}). Less than {factor(low)} and more "
        f"than {factor(high)} are left out; that they are equal is not shown. {_advice(pair)}"
    )


def _too_few(comparison: Comparison, pair: Pair) -> str:
    ratio, verdict = _primary(comparison, pair), pair.verdict
    task = " and task" if len(pair.tasks) > 1 else ""
    advice = _advice(pair)
    if verdict.needed is None and ratio.ci95 is None:
        advice = "How campaigns of one configuration differ, nothing says yet"
    return (
        f"too few seeds to tell {arm_text(pair.first)} from {arm_text(pair.second)}: "
        f"{_where(comparison, pair)} of {pair.second.letter} is {factor(ratio.value)} as fast as "
        f"that of {pair.first.letter} ({interval_text(ratio)}), and {_counts(pair)} can't show "
        f"whether that is luck. Run {verdict.least} or more of each{task}, with other seeds. "
        f"{advice}"
    )


def _advice(pair: Pair) -> str:
    """How many would do."""
    verdict = pair.verdict
    if verdict.needed is None or verdict.needed_for is None:
        return "A difference of 10% would take more than 200 of each to show"
    ratio = max(verdict.needed_for, 1 / verdict.needed_for)
    as_seen = abs(ratio - WORTH_SHOWING) > 1e-6
    what = "if the difference is as large as it seems" if as_seen else "to show one of 10%"
    task = " and task" if len(pair.tasks) > 1 else ""
    return f"About {verdict.needed} campaigns of each{task} would do, {what}"


def _where(comparison: Comparison, pair: Pair) -> str:
    """ "at 60 evaluations the best"."""
    amount = amount_text(comparison.amounts, comparison.question.over, pair.tasks)
    if comparison.question.by == "best":
        return f"at {amount} the best"
    return f"on average up to {amount} the best so far"


def _primary(comparison: Comparison, pair: Pair) -> Estimate:
    cell = pair.cell(comparison.question.by, comparison.question.over)
    assert cell is not None  # equal_amounts() saw to it
    return cell.ratio


def _evidence(pair: Pair, ratio: Estimate) -> str:
    return f"{interval_text(ratio)}, {p_text(pair.verdict.p)}, {_counts(pair)}"


def _counts(pair: Pair) -> str:
    first, second = pair.counts
    if first == second == 1:
        return "one campaign of each"
    return f"{first} campaigns of each" if first == second else f"{first} and {second} campaigns"


def _inverse(ratio: Estimate) -> Estimate:
    ci95 = (1 / ratio.ci95[1], 1 / ratio.ci95[0]) if ratio.ci95 else None
    return Estimate(value=1 / ratio.value, ci95=ci95)


def _by_task(comparison: Comparison, pair: Pair) -> str:
    parts = []
    for task, ratio in pair.by_task.items():
        ends = f" ({factor(ratio.ci95[0])} to {factor(ratio.ci95[1])})" if ratio.ci95 else ""
        apart = ", not counted: one campaign of a side" if task in pair.single else ""
        parts.append(f"{comparison.tasks[task]} {factor(ratio.value)}{ends}{apart}")
    return f"  task by task, {pair.second.letter} over {pair.first.letter}: {'; '.join(parts)}"


def _repetitions(comparison: Comparison) -> Iterator[str]:
    question = comparison.question
    for task, name in comparison.tasks.items():
        members = [arm for arm in comparison.arms if task in arm.tasks]
        amount = amount_text(comparison.amounts, question.over, [task])
        spread = comparison.spread(task)
        assert spread.ci95 is not None  # the least and the largest
        if len(members) == 1:
            yield (
                f"one campaign is on {name}: nothing says how campaigns of this configuration "
                f"differ ({_of_repetitions(question.by)} {amount} was {factor(spread.value)})"
            )
            continue
        yield (
            f"these {len(members)} campaigns on {name} are repetitions of one configuration: by "
            f"luck alone {_of_repetitions(question.by)} {amount} goes from "
            f"{factor(spread.ci95[0])} to {factor(spread.ci95[1])} the naive seed (geometric mean "
            f"{factor(spread.value)}), so there are no configurations to tell apart"
        )


def _of_repetitions(by: str) -> str:
    return "the best at" if by == "best" else "the best so far, on average up to"
