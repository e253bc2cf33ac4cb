"""What a campaign can search, said before it starts, and why its islands ended."""

from collections.abc import Sequence

from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.islands.island import EXHAUSTED
from engine.islands.setbacks import UNUSABLE
from evaluators.tasks.ragged import DERIVED
from evaluators.tasks.task import Task
from operators.catalog.search_space import search_space
from operators.catalog.structure import Techniques

SPENT = "the evaluations are spent"
EXHAUSTED_SPACE = "the search space is exhausted"


def require_search(config: CampaignConfig, task: Task) -> None:
    """Raises ConfigError where neither the catalogue nor a model could change a kernel.

    Raises Rejected when the naive seed can't be read.
    """
    lacks = [search_space(task, one).lack for one in _techniques(config)]
    if all(lacks) and not config.asks_models:
        raise ConfigError(lacks[0])


def describe_search(config: CampaignConfig, task: Task) -> str:
    """For a person, in a few words: the catalogue's kernels, and those that models write."""
    islands = config.islands.count
    asking = sum(config.operators_of(island).kind == "llm" for island in range(islands))
    parts = []
    if asking < islands:
        spaces = [search_space(task, one) for one in _techniques(config)]
        told = [f"nothing by catalogue: {one.lack}" if one.lack else str(one) for one in spaces]
        parts.append(" and ".join(dict.fromkeys(told)))
    if asking:
        parts.append(f"what models write on {asking} of {islands} islands")
    if task.derives_held_out:
        parts[-1] += f" ({DERIVED})"
    return " and ".join(parts)


def _techniques(config: CampaignConfig) -> list[Techniques]:
    """Of the islands that ask no model, of all where there is none."""
    mixes = [config.operators_of(island) for island in range(config.islands.count)]
    own = [one for one in mixes if one.kind != "llm"] or mixes
    return list(dict.fromkeys(one.techniques for one in own))


def why_ended(endings: Sequence[str], config: CampaignConfig, task: Task, left: int | None) -> str:
    """endings: as Island.run() returned them, none of them because the campaign was stopped;
    left: evaluations, where they are bounded."""
    if left == 0 and set(endings) != {EXHAUSTED}:
        return SPENT
    if set(endings) == {EXHAUSTED}:
        space = search_space(task, _techniques(config)[0])
        if space.lack:
            return f"nothing to search: {space.lack}"
        count = space.count()
        return f"{EXHAUSTED_SPACE}: {count} of {count} kernels tried"
    patience = config.islands.patience
    barren = f"nothing new was found in {patience} cycles in a row (islands.patience)"
    lost = [ending for ending in endings if ending.startswith(UNUSABLE)]
    if not lost:
        return barren
    todo = "see turned_away in the store's table calls, or name another model in llm.models"
    if len(lost) == len(endings):
        return f"{lost[0]}; {todo}"
    places = f"on {len(lost)} of {len(endings)} islands, and on the others {barren}"
    return f"{lost[0]}, {places}; {todo}"
