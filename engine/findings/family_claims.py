"""Claims on the catalogue's families: which one leads, where to start, who is ahead on a shape."""

from collections import defaultdict
from collections.abc import Iterator

from engine.findings.record import Claim, Record, sources, speed
from operators.finding import About
from operators.individual import Individual
from operators.llm.prompts.points import parsed

LEAST_OF_FAMILY = 3
"""Kernels of a family that were timed, before it is said to stay behind."""


def of_families(record: Record) -> Iterator[Claim]:
    """The fastest family beside the best of the others, where the seed's is not the only one."""
    made: dict[str, list[Individual]] = defaultdict(list)
    for kernel_id, source in sources(record).items():
        family = record.families.of(source)
        if family is not None and record.known[kernel_id].evaluation.passed:
            made[family].append(record.known[kernel_id])
    if not made:
        return
    best = {family: max(kernels, key=speed) for family, kernels in made.items()}
    first, *others = sorted(best, key=lambda family: -speed(best[family]))
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
