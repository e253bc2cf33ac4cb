"""Situations: what a role is asked in a recorded campaign, what was measured later, their file."""

import gzip
import hashlib
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from engine.store.event_body import body_of
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Status
from operators.individual import Experiment, Individual
from operators.llm.question import Role

BENCHED: tuple[Role, ...] = ("selector", "designer", "writer", "repair")
FORMAT = 1
DIGITS = 6
"""Significant ones of the numbers in a file."""

Ratio = tuple[float, float, float]
"""Estimate, low, high of how many times as fast a kernel is as another."""


class SituationError(Exception):
    """A file or a campaign that can't be used: one sentence on what, where, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Later:
    """What a campaign measured of a kernel's children after the situation.

    over_base: of its best child over it; over_fastest: the same over the tournament's fastest, in
    ln, so that Bases compare.
    """

    children: int
    over_base: float
    over_fastest: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of the campaign's own candidate. gain: over the Base; None: it has no time."""

    status: Status
    gain: Ratio | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One situation as it is stored. Individuals are places in the campaign's list.

    known: what operators may look up, oldest first; tuned: mutations of idle device time;
    profiles: by kernel id. Of the others a role has what it needs: a selector the tournament, best
    first, and what was measured `later`, by kernel id; a designer and a writer Base and Reference;
    a writer the experiment; a repair the kernel that failed, and its Base where there is one.
    outcome: of the campaign's own writer or repair.
    """

    id: str
    role: Role
    island: int
    cycle: int
    known: tuple[int, ...]
    tuned: tuple[int, ...] = ()
    profiles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tournament: tuple[int, ...] = ()
    base: int | None = None
    reference: int | None = None
    failed: int | None = None
    experiment: Experiment | None = None
    rationale: str = ""
    later: Mapping[str, Later] = field(default_factory=dict)
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What a file keeps of one campaign. made: where from, for people to read."""

    task: str
    task_hash: str
    device: DeviceInfo
    made: Mapping[str, Any]
    individuals: tuple[Individual, ...]
    situations: tuple[Asked, ...]


@dataclass(frozen=True)
class Situation:
    """One question that can be asked again, with all that its prompt needs."""

    asked: Asked
    campaign: Recorded

    @property
    def id(self) -> str:
        return self.asked.id

    @property
    def role(self) -> Role:
        return self.asked.role

    @cached_property
    def known(self) -> dict[str, Individual]:
        return self._by_id(self.asked.known)

    @cached_property
    def tuned(self) -> dict[str, Individual]:
        return self._by_id(self.asked.tuned)

    @property
    def tournament(self) -> list[Individual]:
        return [self.campaign.individuals[place] for place in self.asked.tournament]

    @property
    def base(self) -> Individual | None:
        return self._at(self.asked.base)

    @property
    def reference(self) -> Individual | None:
        return self._at(self.asked.reference)

    @property
    def failed(self) -> Individual | None:
        return self._at(self.asked.failed)

    def _at(self, place: int | None) -> Individual | None:
        return None if place is None else self.campaign.individuals[place]

    def _by_id(self, places: Sequence[int]) -> dict[str, Individual]:
        found = (self.campaign.individuals[place] for place in places)
        return {one.id: one for one in found}


def identity(task_hash: str, *parts: object) -> str:
    """12 hex digits of what a situation asks: the same in every file that it is collected into."""
    text = json.dumps([task_hash, *parts], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def write(path: Path, campaigns: Sequence[Recorded]) -> None:
    """Compressed JSON, the same bytes for the same campaigns. Raises SituationError."""
    trees = [_rounded(json.loads(body_of(one))) for one in campaigns]
    text = json.dumps({"format": FORMAT, "campaigns": trees}, separators=(",", ":"))
    try:
        path.write_bytes(gzip.compress(text.encode(), mtime=0))
    except OSError as error:
        raise SituationError(f"{path} can't be written: {error.strerror}") from None


def read(paths: Sequence[Path]) -> list[Situation]:
    """Of all files, each situation once. Raises SituationError."""
    found: dict[str, Situation] = {}
    for path in paths:
        for campaign in _read(path):
            for asked in campaign.situations:
                found.setdefault(asked.id, Situation(asked, campaign))
    return list(found.values())


def _read(path: Path) -> tuple[Recorded, ...]:
    again = "; collect it anew (python -m scripts.bench_roles collect)"
    try:
        tree = json.loads(gzip.decompress(path.read_bytes()))
        if tree["format"] != FORMAT:
            raise SituationError(f"{path} is of format {tree['format']}, not {FORMAT}{again}")
        campaigns = _adapter().validate_python(tree["campaigns"])
        for campaign in campaigns:
            _check_places(campaign)
    except OSError as error:
        reason = error.strerror or "it is not compressed with gzip"
        raise SituationError(f"{path} can't be read: {reason}{again}") from None
    except (EOFError, zlib.error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise SituationError(f"{path} is no file of situations: {_why(error)}{again}") from None
    return campaigns


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg'].lower()}"
    return f"{type(error).__name__} ({error})"


def _check_places(campaign: Recorded) -> None:
    """Raises ValueError."""
    places = range(len(campaign.individuals))
    for one in campaign.situations:
        single = [p for p in (one.base, one.reference, one.failed) if p is not None]
        for place in (*one.known, *one.tuned, *one.tournament, *single):
            if place not in places:
                raise ValueError(f"situation {one.id} names individual {place} of {len(places)}")
        needed = {
            "selector": bool(one.tournament),
            "designer": None not in (one.base, one.reference),
            "writer": None not in (one.base, one.reference, one.experiment),
            "repair": one.failed is not None,
        }
        if not needed.get(one.role, False):
            raise ValueError(f"situation {one.id} lacks what a {one.role} needs")


@cache
def _adapter() -> TypeAdapter[tuple[Recorded, ...]]:
    return TypeAdapter(tuple[Recorded, ...])


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, list):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    return value
