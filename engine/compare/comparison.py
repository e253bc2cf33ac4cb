"""compare(): campaigns grouped by configuration, at equal amounts, with a verdict for each pair."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.compare.amounts import Amounts, cut_short, equal_amounts, far_enough
from engine.compare.arms import Arm, apart, comparable, distinct, group
from engine.compare.campaign import Campaign, CompareError
from engine.compare.notes import notes_on, uneven
from engine.compare.pairs import Estimate, Pair, Quantity, Question, exp, pair_up, values_of
from engine.compare.statistics import mean_interval
from engine.history.trajectory import Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """repetitions: all campaigns are of one configuration, and each is an arm by itself.

    tasks: names by hash; of several with one name, the hash tells them apart. notes: sentences on
    what was left out, and on what may mislead.
    """

    question: Question
    campaigns: tuple[Campaign, ...]
    arms: tuple[Arm, ...]
    repetitions: bool
    tasks: Mapping[str, str]
    amounts: Amounts
    pairs: tuple[Pair, ...]
    notes: tuple[str, ...]

    def level(self, arm: Arm, quantity: Quantity, axis: Axis) -> Estimate | None:
        """Of an arm by itself, over its tasks; None where nothing was spent on the axis."""
        if any(axis not in self.amounts[task] for task in arm.tasks):
            return None
        weight = 1 / len(arm.tasks)
        groups = [
            (weight, values_of(arm, task, quantity, axis, self.amounts)) for task in arm.tasks
        ]
        centre = weight * sum(float(values.mean()) for _, values in groups)
        return exp(centre, mean_interval(groups))

    def spread(self, task: str) -> Estimate:
        """Of repetitions on a task: the geometric mean over the campaigns, with the least and the
        largest in place of an interval, by the question's quantity."""
        by, over = self.question.by, self.question.over
        found = [
            float(values_of(arm, task, by, over, self.amounts)[0])
            for arm in self.arms
            if task in arm.tasks
        ]
        return exp(sum(found) / len(found), (min(found), max(found)))


def compare(campaigns: Sequence[Campaign], question: Question) -> Comparison:
    """Raises CompareError."""
    kept, notes = distinct(campaigns)
    kept, left_out = comparable(kept)
    notes += left_out
    if len(kept) > 1 and question.at is not None:
        kept, short = far_enough(kept, question.over, question.at)
        notes += short
    if len(kept) < 2:
        raise CompareError(
            "; ".join([f"a comparison needs two campaigns, and {kept[0].name} is one", *notes])
        )
    arms = group(kept, question.reference)
    repetitions = len(arms) == 1
    if repetitions:
        arms = apart(arms[0])
    if question.at is None:
        notes += cut_short(kept, question.over)
    amounts = equal_amounts(kept, question.over, question.at)
    pairs = [] if repetitions else pair_up(arms, question, amounts)
    return Comparison(
        question=question,
        campaigns=tuple(kept),
        arms=tuple(arms),
        repetitions=repetitions,
        tasks=_task_names(kept),
        amounts=amounts,
        pairs=tuple(pairs),
        notes=(*notes, *notes_on(arms, repetitions=repetitions), *filter(None, map(uneven, pairs))),
    )


def _task_names(campaigns: Sequence[Campaign]) -> dict[str, str]:
    names = {one.task_hash: one.task_name for one in campaigns}
    count = Counter(names.values())
    return {key: f"{name} ({key[:8]})" if count[name] > 1 else name for key, name in names.items()}
