"""Which keys of a configuration play a part in a trial's score, by what trials run on."""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from scripts.population.plan import Kind, Plan

SIMULATED = ("credit", "islands", "migration", "operators")
"""Sections that scripts/search/simulation.py reads."""

PLAY: Mapping[Kind, tuple[str, ...]] = {
    # Not islands.per_device: a table is one device. Of operators none of a model's.
    "tables": (
        *(
            f"islands.{name}"
            for name in (
                *("count", "cycles_in_flight", "initial", "capacity", "tournament", "restart"),
                *("memory", "patience"),
            )
        ),
        *("migration.topology", "migration.every", "migration.elites"),
        *("operators.kind", "operators.base", "operators.experiment", "operators.crossover"),
        *("operators.mutation", "operators.tuning", "operators.experiments_per_cycle"),
    ),
    # What scripts/roles asks with; every tournament is asked of.
    "situations": (
        *("llm.models.*", "llm.roles.*", "llm.prompt_tokens.*", "llm.novelty", "llm.base_url"),
        *("llm.api_key_env", "llm.timeout_s", "llm.retries", "budgets.tuning", "operators.base"),
        *("operators.models.*", "operators.avenues", "operators.designs"),
    ),
    "tasks": (
        *("backend", "budgets.*", "devices.*", "islands.*", "migration.*", "operators.*"),
        *("llm.*", "profiles.*"),
    ),
}
PLAY_NONE = (
    *("budgets.evaluations", "llm.keep_prompts", "llm.outage_s"),
    *("llm.models.*.dollars_per_million_prompt", "llm.models.*.dollars_per_million_completion"),
)
"""Exceptions: `budgets.evaluations` is the plan's own, the others change no reply."""

OF_RANDOM = (
    *("islands.count", "islands.cycles_in_flight", "islands.patience"),
    *("operators.kind", "operators.experiments_per_cycle"),
)
"""What is left of them on tables, where islands draw at random."""


def require_a_part(plan: Plan, config: CampaignConfig) -> None:
    """Of every key that is searched. config: the default's. Raises ConfigError."""
    kind = plan.seen.kind
    for key in plan.search:
        if not _matches(key, PLAY[kind]) or _matches(key, PLAY_NONE):
            raise ConfigError(f"search.{key} plays no part on {kind}: leave it out")
        if kind == "tables" and (reason := _idle(plan, config, key)):
            raise ConfigError(f"search.{key} plays no part on tables with {reason}: leave it out")
    if kind == "tables" and "llm" in _kinds(plan, config):
        raise ConfigError("operators.kind: llm plays no part on tables: name catalog or random")


def simulated(settings: Mapping[str, Any]) -> dict[str, Any]:
    """What plays a part on tables."""
    return {key: settings[key] for key in SIMULATED if key in settings}


def _matches(key: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(key, pattern) for pattern in patterns)


def _kinds(plan: Plan, config: CampaignConfig) -> set[Any]:
    """Of islands, that trials may have."""
    searched = plan.search.get("operators.kind")
    if isinstance(searched, tuple):
        return set(searched)
    return {mix.kind for mix in config.operators}


def _idle(plan: Plan, config: CampaignConfig, key: str) -> str:
    """What all trials have that leaves the key without effect; empty where nothing does."""
    of_several = key.startswith("migration.") or key == "islands.memory"
    if of_several and config.islands.count == 1 and "islands.count" not in plan.search:
        return "islands.count: 1"
    of_elites = key in ("migration.every", "migration.topology")
    if of_elites and config.migration.elites == 0 and "migration.elites" not in plan.search:
        return "migration.elites: 0"
    if key not in OF_RANDOM and _kinds(plan, config) == {"random"}:
        return "operators.kind: random"
    return ""
