"""Claims: what a campaign's record has evidence on, each with its paired gains or its failures."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from engine.findings.evidence import Pair
from evaluators.evaluation import Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.gain import gain, gains_over_seed
from evaluators.measuring.intervals import Spread
from operators.catalog.families import Families
from operators.finding import About, Condition
from operators.individual import Experiment, Individual
from operators.llm.prompts.points import parsed
from operators.llm.prompts.steps import base_of, gain_over_base, one_line

WORDS = 100
"""Characters of an experiment's description in a rule."""

LEAST_PAIRS = 2
"""Of a parameter's two values: there are many of them, and one pair may be chance."""

LEAST_FAILURES = 2
LEAST_OF_FAMILY = 3
"""Kernels of a family that were timed, before it is said to stay behind."""

_OF_NO_ONE = re.compile(r"(adopt|tune) |newcomer$|found$")
"""Techniques of the catalogue that are not one change; their parameters tell what they did."""

_NUMBERS = re.compile(r"\b[0-9a-f]{8,}\b|\b\d+(?:\.\d+)?\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What a campaign measured. drafts: one for every way that led to a kernel, oldest first;
    known: kernels by id; families: of the catalogue, for this task; seed_id: the naive seed's."""

    condition: Condition
    drafts: Sequence[Individual]
    known: Mapping[str, Individual]
    families: Families
    spread: Spread
    seed_id: str
    evaluations: int

    def pair(self, after: Individual, before: Individual, label: str | None = None) -> Pair | None:
        """None: they can't be compared."""
        ratio = gain(after.evaluation, before.evaluation, self.spread, label=label)
        return Pair.of(after.id, before.id, ratio) if ratio else None

    def pair_over_base(self, one: Individual) -> Pair | None:
        ratio = gain_over_base(one, self.known, self.spread)
        base = base_of(one, self.known)
        return Pair.of(one.id, base.id, ratio) if ratio and base else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """win, trap: how the rule is worded where it gains, and where it does not. slower: kernels
    that were too slow to be timed to the end. least: pairs that a rule needs. of_failures: a
    rule that says how kernels fail: failed, and passed in spite of it."""

    about: About
    win: str
    trap: str
    pairs: tuple[Pair, ...] = ()
    slower: tuple[str, ...] = ()
    least: int = 1
    of_failures: bool = False
    failed: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()


def claims(record: Record) -> list[Claim]:
    return [
        *_techniques(record),
        *_parameters(record),
        *_families(record),
        *_recipe(record),
        *_failures(record),
    ]


def _techniques(record: Record) -> Iterator[Claim]:
    """Each beside the Base that it was made on, by name."""
    by_name: dict[str, list[Individual]] = defaultdict(list)
    for one in record.drafts:
        name = one.experiment.technique if one.experiment else ""
        if name and not _OF_NO_ONE.match(name) and one.origin in ("experiment", "repair"):
            by_name[name].append(one)
    for name, made in by_name.items():
        pairs = _once(filter(None, map(record.pair_over_base, made)))
        slower = [one.id for one in made if one.evaluation.status is Status.STOPPED_EARLY]
        if not pairs and not slower:
            continue
        experiment = made[-1].experiment
        said = one_line(_words(experiment), WORDS) if experiment else ""
        what = f"{name} on a kernel without it" + (f" ({said})" if said else "")
        yield Claim(
            about=About(technique=name),
            win=what,
            trap=f"{what} makes it slower",
            pairs=pairs,
            slower=tuple(dict.fromkeys(slower)),
        )


def _words(experiment: Experiment) -> str:
    """The catalogue's describe one point; what its avenue says holds for all."""
    return experiment.avenue if experiment.params else experiment.description


def _once(pairs: Iterable[Pair]) -> tuple[Pair, ...]:
    """One of each kernel and Base: two islands may make the same."""
    return tuple({(one.kernel_id, one.base_id): one for one in pairs}.values())


def _parameters(record: Record) -> Iterator[Claim]:
    """Kernels of one structure that differ in one parameter alone, whoever made them."""
    sources = _sources(record)
    groups: dict[tuple[str, str, frozenset[tuple[str, int]]], dict[int, str]] = defaultdict(dict)
    for kernel_id, source in sources.items():
        for name in source.space:
            rest = frozenset((key, one) for key, one in source.params.items() if key != name)
            groups[source.structure, name, rest][source.params[name]] = kernel_id
    pairs: dict[tuple[str, str, int, int], list[Pair]] = defaultdict(list)
    slower: dict[tuple[str, str, int, int], list[str]] = defaultdict(list)
    for (_, name, _), values in groups.items():
        for low, high in combinations(sorted(values), 2):
            before, after = record.known[values[low]], record.known[values[high]]
            key = (record.families.of(sources[after.id]) or "", name, low, high)
            pair = record.pair(after, before)
            if pair is not None:
                pairs[key].append(pair)
            elif before.evaluation.passed and after.evaluation.status is Status.STOPPED_EARLY:
                slower[key].append(after.id)
    for key in dict.fromkeys((*pairs, *slower)):
        family, name, low, high = key
        where = f" in family {family}" if family else ""
        yield Claim(
            about=About(family=family, parameter=name, change=(low, high)),
            win=f"{name} {low} -> {high}{where}",
            trap=f"{name} {low} -> {high}{where}: keep {low}",
            pairs=tuple(pairs[key]),
            slower=tuple(slower[key]),
            least=LEAST_PAIRS,
        )


def _sources(record: Record) -> dict[str, KernelSource]:
    """Of all that can be read and were timed, or stopped; those with variants are no points."""
    timed = Status.PASSED, Status.STOPPED_EARLY
    read = {
        one.id: parsed(one.candidate.source)
        for one in record.known.values()
        if one.evaluation.status in timed
    }
    return {key: one for key, one in read.items() if one is not None and not one.variants}


def _families(record: Record) -> Iterator[Claim]:
    """The fastest family beside the best of the others, where the seed's is not the only one."""
    made: dict[str, list[Individual]] = defaultdict(list)
    for kernel_id, source in _sources(record).items():
        family = record.families.of(source)
        if family is not None and record.known[kernel_id].evaluation.passed:
            made[family].append(record.known[kernel_id])
    if not made:
        return
    best = {family: max(kernels, key=_speed) for family, kernels in made.items()}
    first, *others = sorted(best, key=lambda family: -_speed(best[family]))
    seed = record.known.get(record.seed_id)
    yield from _point(record, first, best[first], seed)
    if others:
        yield from _leader(record, first, best[first], best[others[0]])
    for family in others:
        pair = record.pair(best[family], best[first])
        if pair is None:
            continue
        if len(made[family]) >= LEAST_OF_FAMILY:
            yield Claim(
                about=About(family=family),
                win=f"family {family} is faster than {first}",
                trap=f"family {family} stays behind {first}, by the best of {len(made[family])}",
                pairs=(pair,),
            )
        yield from _on_shapes(record, family, best[family], first, best[first])


def _point(
    record: Record, family: str, best: Individual, seed: Individual | None
) -> Iterator[Claim]:
    pair = record.pair(best, seed) if seed is not None else None
    source = parsed(best.candidate.source)
    if pair is None or source is None or not source.params:
        return
    params = {name: source.params[name] for name in source.params}
    values = ", ".join(f"{name} = {value}" for name, value in params.items())
    yield Claim(
        about=About(family=family, params=params),
        win=f"start from family {family} with {values}, beside the naive seed",
        trap=f"family {family} with {values} is slower than the naive seed",
        pairs=(pair,),
    )


def _leader(
    record: Record, family: str, best: Individual, next_best: Individual
) -> Iterator[Claim]:
    pair = record.pair(best, next_best)
    if pair is not None:
        yield Claim(
            about=About(family=family),
            win=f"family {family} is the fastest, beside the best of the others",
            trap=f"family {family} is behind the best of the others",
            pairs=(pair,),
        )


def _on_shapes(
    record: Record, family: str, best: Individual, first: str, leader: Individual
) -> Iterator[Claim]:
    """Where a family is ahead on some shapes only: those, and its best there."""
    ahead = []
    for label in best.evaluation.times_us:
        pair = record.pair(best, leader, label)
        if pair is not None and pair.ln_ratio > 0:
            ahead.append((label, pair))
    if ahead:
        label, pair = max(ahead, key=lambda one: one[1].ln_ratio)
        yield Claim(
            about=About(family=family, shape=label),
            win=f"family {family} is faster than {first} on {label}",
            trap=f"family {family} is slower than {first} on {label}",
            pairs=(pair,),
            shapes=(label,),
        )


def _speed(one: Individual) -> float:
    gains = gains_over_seed(one.evaluation)
    return fmean(gains.values()) if gains else 0.0


def _recipe(record: Record) -> Iterator[Claim]:
    """The techniques that led to the fastest kernel, where there are several."""
    passed = [one for one in record.known.values() if one.evaluation.passed]
    best = max(passed, key=_speed, default=None)
    seed = record.known.get(record.seed_id)
    names: list[str] = []
    met: set[str] = set()
    step = best
    while step is not None and step.id not in met:
        met.add(step.id)
        names.append(_technique(step))
        step = base_of(step, record.known)
    recipe = tuple(dict.fromkeys(name for name in reversed(names) if name))
    pair = record.pair(best, seed) if best is not None and seed is not None else None
    if pair is None or len(recipe) < 2:
        return
    steps = ", then ".join(recipe)
    yield Claim(
        about=About(recipe=recipe),
        win=f"the fastest kernel was made by {steps}, beside the naive seed",
        trap=f"{steps} made kernels slower",
        pairs=(pair,),
    )


def _failures(record: Record) -> Iterator[Claim]:
    """Alike in technique, status and reason, its numbers apart; or in the last two alone."""
    failed: dict[tuple[str, str, str], list[Individual]] = defaultdict(list)
    passed: dict[str, list[str]] = defaultdict(list)
    for one in record.known.values():
        technique = _technique(one)
        if one.evaluation.passed:
            passed[technique].append(one.id)
        elif one.evaluation.status is not Status.STOPPED_EARLY:
            key = technique, str(one.evaluation.status), normal(one.evaluation.reason)
            failed[key].append(one)
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    for technique, status, reason in failed:
        alike[status, reason].append(technique)
    for (status, reason), techniques in alike.items():
        together = [one for t in techniques for one in failed[t, status, reason]]
        if len(together) < LEAST_FAILURES:
            continue
        only = techniques[0] if len(techniques) == 1 else ""
        said = one_line(together[-1].evaluation.reason.splitlines()[0])
        where = f"{only}: " if only else ""
        yield Claim(
            about=About(technique=only, status=status, reason=reason),
            win="",
            trap=f"{where}{said} is {status}",
            of_failures=True,
            failed=tuple(one.id for one in together),
            passed=tuple(passed[only]) if only else (),
        )


def _technique(one: Individual) -> str:
    name = one.experiment.technique if one.experiment and one.origin != "mutation" else ""
    return "" if _OF_NO_ONE.match(name) else name


def normal(reason: str) -> str:
    """Its first line, without the numbers and ids that make the same fault look another."""
    return one_line(_NUMBERS.sub("N", reason.strip().splitlines()[0]) if reason.strip() else "")
