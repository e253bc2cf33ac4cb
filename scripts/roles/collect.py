"""Situations of a recorded campaign: which there are, and what was measured after them."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from operators.individual import Individual
from operators.llm.question import Role
from operators.llm.repair import NOT_BROKEN
from scripts.roles.log import Log, Moment
from scripts.roles.situations import Asked, Later, Outcome, Recorded, SituationError, identity

UNTOLD = "newcomer"
"""The catalogue's experiment that draws a kernel of a family; its rubric does not say which."""

LEAST_KNOWN = 2
"""Members of a tournament of whose later children something was measured: else there is nothing
to choose well."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Found:
    """A situation that may be kept. given: what the role needs besides what its island knew."""

    moment: Moment
    given: Mapping[str, Any]
    slot: int = 0


@dataclass(slots=True)
class _Pool:
    """Individuals by what they are: a kernel that was measured again is there twice."""

    members: list[Individual] = field(default_factory=list)
    _places: dict[tuple[str, int, int, int, int], int] = field(default_factory=dict)

    def place(self, one: Individual) -> int:
        # An evaluation by its identity: each lives as long as the log that is read.
        key = one.id, one.island, one.cycle, one.slot, id(one.evaluation)
        if key not in self._places:
            self._places[key] = len(self.members)
            # What prompts never show is left out.
            shown = replace(one.evaluation, telemetry={}, seconds={})
            self.members.append(replace(one, evaluation=shown))
        return self._places[key]

    def places(self, several: Sequence[Individual]) -> tuple[int, ...]:
        return tuple(map(self.place, several))

    def kept(self, value: Any) -> Any:
        """An individual's place, or several individuals'; anything else as it is."""
        if isinstance(value, Individual):
            return self.place(value)
        return self.places(value) if isinstance(value, tuple) else value


def collect(run_dir: Path, roles: Sequence[Role], *, each: int, note: str = "") -> Recorded:
    """Up to `each` situations of every role, spread over the campaign.

    note: where its kernels are from, where its configuration does not tell. Raises StoreError,
    ConfigError, SituationError.
    """
    log, pool = Log(run_dir), _Pool()
    finders: Mapping[Role, Callable[[Log], Iterator[Found]]] = {
        "selector": _selectors,
        "designer": _designers,
        "writer": _writers,
        "repair": _repairs,
    }
    found = {role: list(finders[role](log)) for role in roles}
    made = [
        _asked(role, log, one, pool)
        for role, of_role in found.items()
        for one in spread(of_role, each)
    ]
    if not made:
        raise SituationError(
            f"{run_dir}: this campaign has no situation for {' or '.join(roles)}; let one run "
            "longer, or name other --roles"
        )
    return Recorded(
        task=Path(log.config.task).name,
        task_hash=log.whole.campaign.task_hash,
        device=replace(log.device, pci_address=""),
        made=_made(log, {role: len(of_role) for role, of_role in found.items()}, note),
        individuals=tuple(pool.members),
        situations=tuple(made),
    )


def spread(values: Sequence[_T], count: int) -> list[_T]:
    """Up to count of them, at equal distances from the first to the last."""
    if len(values) <= count:
        return list(values)
    step = (len(values) - 1) / max(1, count - 1)
    return [values[round(place * step)] for place in range(count)]


def _made(log: Log, there: Mapping[str, int], note: str) -> dict[str, Any]:
    config, session = log.config, log.whole.sessions[0].started
    made = {
        "recorded": datetime.fromtimestamp(session.began_at, UTC).date().isoformat(),
        "campaign": config.name or "",
        "operators": list(dict.fromkeys(mix.kind for mix in config.operators)),
        "models": sorted({one.model for one in config.llm.models.values()} if config.llm else ()),
        "evaluations": log.whole.scores.by_status.total(),
        "verdicts": dict(sorted(log.whole.scores.by_status.items())),
        "seed": config.seed,
        "harness": session.harness,
        "situations_there": dict(there),
    }
    return {**made, "note": note} if note else made


def _asked(role: Role, log: Log, found: Found, pool: _Pool) -> Asked:
    moment, began = found.moment, log.whole.sessions[0].started.began_at
    place = moment.island, moment.cycle, found.slot
    return Asked(
        id=identity(log.whole.campaign.task_hash, began, role, *place),
        role=role,
        island=moment.island,
        cycle=moment.cycle,
        known=pool.places(tuple(moment.known.values())),
        tuned=pool.places(tuple(moment.tuned.values())),
        profiles=dict(moment.profiles),
        **{name: pool.kept(value) for name, value in found.given.items()},
    )


def _selectors(log: Log) -> Iterator[Found]:
    for moment in log.moments.values():
        later = _later(log, moment)
        if len(later) >= LEAST_KNOWN:
            yield Found(moment, {"tournament": moment.tournament, "later": later})


def _later(log: Log, moment: Moment) -> dict[str, Later]:
    """Of the tournament's members, as far as they have children that were timed."""
    fastest = moment.tournament[0].evaluation
    told: dict[str, Later] = {}
    children = log.children(moment)
    for base in moment.tournament:
        verdicts = children.get(base.id, [])
        over_base = [g[0] for v in verdicts if (g := log.gain(v, base.evaluation))]
        over_fastest = [g[0] for v in verdicts if (g := log.gain(v, fastest))]
        if over_base and over_fastest:
            told[base.id] = Later(
                children=len(verdicts),
                over_base=math.log(max(over_base)),
                over_fastest=math.log(max(over_fastest)),
            )
    return told


def _designers(log: Log) -> Iterator[Found]:
    for place, selection in log.selections.items():
        moment = log.moments.get(place)
        if moment is None:
            continue
        base = moment.known.get(selection.base_id)
        reference = moment.known.get(selection.reference_id)
        if base is not None and reference is not None:
            why = selection.rationale if selection.decided_by == "model" else ""
            yield Found(moment, {"base": base, "reference": reference, "rationale": why})


def _writers(log: Log) -> Iterator[Found]:
    for drafted, moment, verdict in log.drafts():
        experiment = drafted.experiment
        if drafted.origin != "experiment" or experiment is None or experiment.technique == UNTOLD:
            continue
        base = moment.known.get(drafted.parents[0])
        reference = moment.known.get(drafted.parents[-1])
        if base is None or reference is None or not base.evaluation.passed:
            continue
        given = {
            "base": base,
            "reference": reference,
            # What a catalogue's writer needs besides is no part of a prompt.
            "experiment": replace(experiment, params={}),
            "outcome": Outcome(status=verdict.status, gain=log.gain(verdict, base.evaluation)),
        }
        yield Found(moment, given, drafted.slot)


def _repairs(log: Log) -> Iterator[Found]:
    drafts = log.whole.first_drafts.values()
    cures = {one.repairs: one.kernel_id for one in drafts if one.origin == "repair"}
    for drafted, moment, verdict in log.drafts():
        if verdict.status in NOT_BROKEN:
            continue
        failed = drafted.individual(verdict)
        if failed.experiment is not None:
            failed = replace(failed, experiment=replace(failed.experiment, params={}))
        base = moment.known.get(failed.parents[0]) if failed.parents else None
        base = base if base is not None and base.evaluation.passed else None
        after = log.whole.scores.evaluations.get(cures.get(failed.id, ""))
        outcome = None
        if after is not None:
            over = log.gain(after, base.evaluation) if base is not None else None
            outcome = Outcome(status=after.status, gain=over)
        yield Found(moment, {"failed": failed, "base": base, "outcome": outcome}, drafted.slot)
