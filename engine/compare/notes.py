"""What may mislead in a comparison, in a sentence each."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.compare.arms import Arm, listed
from engine.compare.campaign import Campaign
from engine.compare.pairs import Pair

NOT_ENDED = {
    "running": "still runs, and is used as far as it has come",
    "starting": "still runs, and is used as far as it has come",
    "killed": "was killed, and is used as far as it came",
}


def notes_on(arms: Sequence[Arm], *, repetitions: bool) -> Iterator[str]:
    campaigns = [one for arm in arms for one in arm.campaigns]
    yield from _not_ended(campaigns)
    yield from _steered(campaigns)
    yield from _toolchains(campaigns)
    yield from _task_versions(campaigns)
    yield from _seeds(campaigns)
    if not repetitions:
        yield from _alone(arms)
        yield from _order(arms)


UNEVEN, ENOUGH = 2.5, 4
"""Spreads that differ by that factor, and campaigns of each that can tell."""


def uneven(pair: Pair) -> str:
    """A sentence where one arm's campaigns differ much more than the other's; else empty."""
    first, second = pair.spreads
    if not first or not second or min(pair.counts) < ENOUGH * len(pair.tasks):
        return ""
    ratio, wide = max((second / first, pair.second), (first / second, pair.first), key=_ratio)
    if ratio < UNEVEN:
        return ""
    narrow = pair.first if wide is pair.second else pair.second
    return (
        f"campaigns of {wide.letter} differ among themselves {ratio:.2g} times as much as those of "
        f"{narrow.letter} (by their logarithms): a rare lucky campaign may be missing from either, "
        f"so run more of {wide.letter}"
    )


def _ratio(found: tuple[float, Arm]) -> float:
    return found[0]


def _not_ended(campaigns: Sequence[Campaign]) -> Iterator[str]:
    for state, sentence in NOT_ENDED.items():
        if names := [one.name for one in campaigns if one.state == state]:
            yield f"{listed(names)} {sentence}"


def _steered(campaigns: Sequence[Campaign]) -> Iterator[str]:
    if names := [one.name for one in campaigns if one.steered]:
        yield (
            f"a person put kernels or ideas into {listed(names)}, so not all that was found there "
            "is the configuration's"
        )


def _toolchains(campaigns: Sequence[Campaign]) -> Iterator[str]:
    found = Counter(one.toolchain for one in campaigns)
    if len(found) > 1:
        named = ", ".join(f"{count} with {name}" for name, count in found.most_common())
        yield (
            f"these campaigns were measured with different toolchains ({named}), so part of a "
            "difference may be theirs"
        )


def _task_versions(campaigns: Sequence[Campaign]) -> Iterator[str]:
    for name in dict.fromkeys(one.task_name for one in campaigns):
        hashes = {one.task_hash for one in campaigns if one.task_name == name}
        if len(hashes) > 1:
            yield (
                f"the task {name} was changed between these campaigns: its {len(hashes)} versions "
                "count as different tasks"
            )


def _seeds(campaigns: Sequence[Campaign]) -> Iterator[str]:
    """Campaigns of one configuration, task and seed begin alike."""
    begun = Counter((frozenset(o.settings.items()), o.task_hash, o.seed) for o in campaigns)
    twice = sorted({seed for (_, _, seed), count in begun.items() if count > 1})
    if twice:
        yield (
            f"some repetitions have the same seed ({listed(list(map(str, twice)))}): they begin "
            "alike and say less than campaigns with seeds of their own"
        )


def _alone(arms: Sequence[Arm]) -> Iterator[str]:
    """Arms that share no task with the first."""
    alone = [arm for arm in arms[1:] if not set(arm.tasks) & set(arms[0].tasks)]
    if alone:
        names = listed([arm.name for arm in alone])
        yield f"not compared, as they have no task in common with {arms[0].letter}: {names}"


def _order(arms: Sequence[Arm]) -> Iterator[str]:
    """Arms that were run one after the other."""
    if len(arms) > 1 and min(len(arm.campaigns) for arm in arms) > 1:
        spans = sorted(
            (min(o.began_at for o in arm.campaigns), max(o.began_at for o in arm.campaigns))
            for arm in arms
        )
        if all(before[1] < after[0] for before, after in pairwise(spans)):
            yield (
                "one configuration was run after the other: what changed on the machine in between "
                "counts as a difference; run them in turn"
            )
