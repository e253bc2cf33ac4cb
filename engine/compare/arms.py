"""Arms: repeated campaigns of one configuration, told apart by what differs between them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from string import ascii_uppercase

from engine.compare.campaign import Campaign, CompareError
from engine.compare.settings import arm_name, differing


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """letter: A, B, ...; name: the settings in which the arms differ. One campaign or more, of one
    task or several."""

    letter: str
    name: str
    campaigns: tuple[Campaign, ...]

    @property
    def tasks(self) -> list[str]:
        """Hashes of tasks' contents."""
        return list(dict.fromkeys(one.task_hash for one in self.campaigns))

    def of_task(self, task_hash: str) -> tuple[Campaign, ...]:
        return tuple(one for one in self.campaigns if one.task_hash == task_hash)


def group(campaigns: Sequence[Campaign], reference: str = "") -> list[Arm]:
    """In the order of their first campaigns, or with that of the campaign named reference first.

    Raises CompareError.
    """
    found: dict[frozenset[tuple[str, str]], list[Campaign]] = {}
    for one in campaigns:
        found.setdefault(frozenset(one.settings.items()), []).append(one)
    groups = list(found.values())
    if reference:
        groups = _first(groups, reference)
    keys = differing([members[0].settings for members in groups])
    return [
        Arm(
            letter=_letter(number),
            name=arm_name(members[0].settings, keys) or "one configuration",
            campaigns=tuple(members),
        )
        for number, members in enumerate(groups)
    ]


def distinct(campaigns: Sequence[Campaign]) -> tuple[list[Campaign], list[str]]:
    """Of copies of one campaign that which got the farthest; and a sentence on the others."""
    copies: dict[str, list[Campaign]] = {}
    for one in campaigns:
        copies.setdefault(one.identity, []).append(one)
    kept, left_out = [], []
    for members in copies.values():
        farthest = max(members, key=lambda one: (one.trajectory.end.seq, one.spent("evaluations")))
        kept.append(farthest)
        if others := [one.name for one in members if one is not farthest]:
            left_out.append(
                f"left out, as copies of {farthest.name} that got no farther: {listed(others)}"
            )
    return kept, left_out


def comparable(campaigns: Sequence[Campaign]) -> tuple[list[Campaign], list[str]]:
    """Those that measured something, on the device that most of them ran on; and a sentence on
    each that is left out. Raises CompareError."""
    left_out = []
    measured = [one for one in campaigns if one.best is not None]
    for one in campaigns:
        if one.best is None:
            left_out.append(f"{one.name} is left out: it has not measured its naive seed yet")
    if not measured:
        raise CompareError("none of these campaigns has measured anything yet; compare them later")
    device, _ = Counter(one.device_class for one in measured).most_common(1)[0]
    elsewhere = [one for one in measured if one.device_class != device]
    for other in dict.fromkeys(one.device_class for one in elsewhere):
        names = listed([one.name for one in elsewhere if one.device_class == other])
        left_out.append(f"left out, as they ran on another device ({other}, not {device}): {names}")
    return [one for one in measured if one.device_class == device], left_out


def apart(arm: Arm) -> list[Arm]:
    """Each of its campaigns by itself."""
    return [
        replace(arm, letter=_letter(number), name=one.name, campaigns=(one,))
        for number, one in enumerate(arm.campaigns)
    ]


def in_common(arms: Sequence[Arm]) -> dict[str, str]:
    """The settings that all share, of those that are not as by default."""
    first, *others = [arm.campaigns[0].settings for arm in arms]
    return {k: v for k, v in first.items() if all(other.get(k) == v for other in others)}


def listed(names: Sequence[str], most: int = 6) -> str:
    """ "a, b and 3 more"."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def _first(groups: list[list[Campaign]], reference: str) -> list[list[Campaign]]:
    for members in groups:
        if any(one.name == reference for one in members):
            return [members, *(others for others in groups if others is not members)]
    known = listed([one.name for members in groups for one in members])
    raise CompareError(f"--reference {reference}: no such campaign is among these: {known}")


def _letter(number: int) -> str:
    """A .. Z, A2 .. Z2, ..."""
    round_, place = divmod(number, len(ascii_uppercase))
    return ascii_uppercase[place] + (str(round_ + 1) if round_ else "")
