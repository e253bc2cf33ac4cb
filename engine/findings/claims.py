"""Claims: what a campaign's record has evidence on, each with its paired gains or its failures."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

from engine.findings.evidence import Pair
from engine.findings.family_claims import of_families
from engine.findings.record import Claim, Record, sources, speed
from evaluators.evaluation import Status
from operators.finding import About
from operators.individual import Experiment, Individual
from operators.llm.prompts.steps import base_of, one_line

WORDS = 100
"""Characters of an experiment's description in a rule."""

LEAST_PAIRS = 2
"""Of a parameter's two values: there are many of them, and one pair may be chance."""

LEAST_FAILURES = 2

_OF_NO_ONE = re.compile(r"(adopt|tune) |newcomer$|found$")
"""Techniques of the catalogue that are not one change; their parameters tell what they did."""

_NUMBERS = re.compile(r"\b[0-9a-f]{8,}\b|\b\d+(?:\.\d+)?\b")


def claims(record: Record) -> list[Claim]:
    return [
        *_techniques(record),
        *_parameters(record),
        *of_families(record),
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
    known = sources(record)
    groups: dict[tuple[str, str, frozenset[tuple[str, int]]], dict[int, str]] = defaultdict(dict)
    for kernel_id, source in known.items():
        for name in source.space:
            rest = frozenset((key, one) for key, one in source.params.items() if key != name)
            groups[source.structure, name, rest][source.params[name]] = kernel_id
    pairs: dict[tuple[str, str, int, int], list[Pair]] = defaultdict(list)
    slower: dict[tuple[str, str, int, int], list[str]] = defaultdict(list)
    for (_, name, _), values in groups.items():
        for low, high in combinations(sorted(values), 2):
            before, after = record.known[values[low]], record.known[values[high]]
            key = (record.families.of(known[after.id]) or "", name, low, high)
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


def _recipe(record: Record) -> Iterator[Claim]:
    """The techniques that led to the fastest kernel, where there are several."""
    passed = [one for one in record.known.values() if one.evaluation.passed]
    best = max(passed, key=speed, default=None)
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
