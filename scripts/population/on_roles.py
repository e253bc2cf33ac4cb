"""Roles on stored situations as what a study's trials run on: which model, at what temperature."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engine.config_errors import ConfigError
from operators.llm.question import Role
from scripts.population.plan import Plan
from scripts.population.settings import Values, campaign_of
from scripts.roles.bench import asked_config, bench, models_of, tasks_of
from scripts.roles.situations import BENCHED, Situation, read

Figures = Mapping[str, Mapping[str, float]]

FOLLOW = 1
"""Experiments of a design that are written and judged."""


def _ratio(name: str, sign: int) -> Callable[[Figures], float | None]:
    return lambda figures: sign * math.log(figures[name]["mean"]) if name in figures else None


SCORE: Mapping[Role, Callable[[Figures], float | None]] = {
    "selector": _ratio("regret", -1),
    "designer": _ratio("gain a question", 1),
    "writer": _ratio("gain a question", 1),
    "repair": lambda figures: figures["passes"]["mean"] if "passes" in figures else 0.0,
}
"""ln of how many times as fast, or the share that passes; None: nothing is known of it."""


@cache
def _situations(files: tuple[Path, ...]) -> tuple[Situation, ...]:
    return tuple(read(list(files)))


def roles_of(files: tuple[Path, ...]) -> tuple[Role, ...]:
    """Those that there are situations of. Raises SituationError."""
    there = {one.role for one in _situations(files)}
    return tuple(role for role in BENCHED if role in there)


@dataclass(frozen=True, slots=True, kw_only=True)
class OnRole:
    """seed: the number of the repeat, as a model's replies differ."""

    role: Role
    files: tuple[Path, ...]
    seed: int

    @property
    def name(self) -> str:
        return f"{self.role}/{self.seed}"

    def score(self, plan: Plan, values: Values, parent: str = "") -> float:
        """See SCORE; 0.0, as good as nothing, where replies say nothing.

        Raises ConfigError, SituationError, and what bench() raises.
        """
        return self.scored(self.asked(plan, values))

    def asked(self, plan: Plan, values: Values) -> Mapping[str, Any]:
        """What bench_roles says of the role."""
        config = asked_config(campaign_of(plan, values, evaluations=plan.evaluations))
        asking = {self.role, "writer"} if self.role == "designer" else {self.role}
        models = models_of(config, [role for role in BENCHED if role in asking])
        own = [one for one in _situations(self.files) if one.role == self.role]
        found = bench(own, config, models, tasks_of(own), follow=FOLLOW)
        if self.role not in found:
            raise ConfigError(f"no situation of the role {self.role} is in {self.files[0]}")
        return found[self.role]

    def scored(self, told: Mapping[str, Any]) -> float:
        return SCORE[self.role](told["figures"]) or 0.0
