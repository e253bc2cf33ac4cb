"""Carrying: what a campaign begins with beside its naive seed: other seeds, another's kernels."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.history.campaigns import name_of, store_of
from engine.islands.population import Population
from engine.store.kinds.steering import Injected
from engine.store.replay import Replay, replay
from engine.store.store import StoreError
from evaluators.kernel.seeds import naive_of, seeds_for
from evaluators.kernel.source import kernel_id, parse_kernel
from evaluators.tasks.task_file import load_task
from operators.individual import Individual

MOST = 8
"""Kernels that are carried: each costs an evaluation."""

SLOW = 2.0
"""Times slower than the fastest: such a kernel comes after all others, whatever its structure."""

SHORT = 12
"""Characters of an id that a person reads."""


def brought_in(config: CampaignConfig) -> list[Injected]:
    """What a new campaign begins with beside its naive seed: the task's other seeds, and what is
    carried from another campaign; numbered together, and dealt to the islands in turn.

    Raises ConfigError, see carried_from().
    """
    found = [*other_seeds(config), *carried_from(config)]
    islands = config.islands.count
    return [
        replace(one, number=number, island=(number - 1) % islands)
        for number, one in enumerate(found, 1)
    ]


def other_seeds(config: CampaignConfig) -> list[Injected]:
    """One for each seed of the task that is for the backend, but for the baseline and what is it
    anew."""
    task = load_task(config.task)
    (_, naive), *others = seeds_for(task, config.backend).items()
    known = {kernel_id(naive)}
    found: list[Injected] = []
    for name, text in others:
        if (identity := kernel_id(text)) not in known:
            known.add(identity)
            found.append(
                Injected(
                    number=len(found) + 1,
                    island=0,
                    what="kernel",
                    name=f"seed {name}.hip of the task",
                    text=text,
                )
            )
    return found


def carried_from(config: CampaignConfig) -> list[Injected]:
    """One for each kernel, dealt to the islands in turn; none without start_from.

    Raises ConfigError: it is no campaign, one for another task, or found nothing.
    """
    if config.start_from is None:
        return []
    source = config.start_from
    try:
        whole = replay(store_of(source))
    except StoreError as error:
        raise ConfigError(f"start_from: {error}") from None
    theirs, ours = Path(str(whole.campaign.config["task"])).name, Path(config.task).name
    if theirs != ours:
        raise ConfigError(
            f"start_from: {source} is a campaign for the task {theirs}, and this one is for "
            f"{ours}; name a campaign for the same task"
        )
    seed = kernel_id(naive_of(load_task(config.task), config.backend))
    best = [one for one in elites(whole, MOST + 1) if one.id != seed][:MOST]
    if not best:
        raise ConfigError(
            f"start_from: no kernel of {source} passed but its naive seed, so there is nothing to "
            "carry; leave start_from out"
        )
    return [
        Injected(
            number=number,
            island=(number - 1) % config.islands.count,
            what="kernel",
            name=f"kernel {one.id[:SHORT]} of {name_of(source)}",
            text=one.candidate.source,
        )
        for number, one in enumerate(best, 1)
    ]


def elites(whole: Replay, most: int) -> list[Individual]:
    """A campaign's best, then what a population of all its kernels holds, as it would send it to
    another; of each structure the first before any second, unless it is SLOW."""
    best_id = whole.scores.best.kernel_id if whole.scores.best else ""
    population = Population(5 * most)
    for one in _passed(whole):
        population.add(one)
    ranked = population.elites(len(population))
    if best_id and not any(one.id == best_id for one in ranked):
        ranked.append(whole.individual(best_id))  # by contests; the search saw it as a twin
    ranked.sort(key=lambda one: one.id != best_id)
    least = max(map(_speed, ranked), default=1.0) / SLOW
    structures: set[str] = set()
    places: list[tuple[bool, bool, int]] = []
    for place, one in enumerate(ranked):
        structure = parse_kernel(one.candidate.source).structure
        places.append((_speed(one) < least, structure in structures, place))
        structures.add(structure)
    return [ranked[place] for *_, place in sorted(places)[:most]]


def _speed(one: Individual) -> float:
    return one.evaluation.over_seed or 1.0


def _passed(whole: Replay) -> Iterator[Individual]:
    """In the order of their drafts, with their latest verdicts."""
    for identity, drafted in whole.first_drafts.items():
        evaluation = whole.scores.evaluations.get(identity)
        if evaluation is not None and evaluation.passed:
            yield drafted.individual(evaluation)
