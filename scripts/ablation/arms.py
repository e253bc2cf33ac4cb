"""The arms of an ablation, as changes of one configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from evaluators.lined_yaml import YamlError, load
from scripts.scripted_model.server import MODEL

NO_MODEL = "no model was given"
"""Why an arm that asks one was not run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """about: what it is, for a person. mix: of all islands; changes: of further sections."""

    about: str
    mix: Mapping[str, Any]
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def asks_models(self) -> bool:
        return bool(self.mix["kind"] == "llm")


SEED_ALONE = {"base": "seed", "crossover": 0, "mutation": 0}
# One experiment of each design: those of one design would know of each other.
INDEPENDENT = {**SEED_ALONE, "designs": 1, "experiments_per_cycle": 1}
NO_MIGRATION = {"migration": {"elites": 0}}
OWN_MEMORY = {"islands": {"memory": "own"}}

ARMS: Mapping[str, Arm] = {
    "catalog": Arm(about="evolution by the catalogue", mix={"kind": "catalog"}),
    "no-credit": Arm(
        about="the catalogue by its configured weights",
        mix={"kind": "catalog"},
        changes={"credit": {"floor": 1}},
    ),
    "calibrated": Arm(
        about="the catalogue, experiments chosen by how predictions came out",
        mix={"kind": "catalog", "choose": "calibrated"},
    ),
    "random": Arm(about="random families and parameters", mix={"kind": "random"}),
    "best-of-n": Arm(
        about="the catalogue's experiments on the naive seed alone",
        mix={"kind": "catalog", **SEED_ALONE},
    ),
    "no-tuning": Arm(about="the catalogue without tuning", mix={"kind": "catalog", "tuning": 0}),
    "no-migration": Arm(
        about="the catalogue without migration", mix={"kind": "catalog"}, changes=NO_MIGRATION
    ),
    "no-crossover": Arm(
        about="the catalogue without crossover", mix={"kind": "catalog", "crossover": 0}
    ),
    "llm": Arm(about="evolution by models", mix={"kind": "llm"}),
    "llm-best-of-n": Arm(
        about="models' kernels, each from the naive seed alone",
        mix={"kind": "llm", **INDEPENDENT},
    ),
    "llm-no-migration": Arm(
        about="models without migration", mix={"kind": "llm"}, changes=NO_MIGRATION
    ),
    "llm-no-crossover": Arm(about="models without crossover", mix={"kind": "llm", "crossover": 0}),
    "llm-no-credit": Arm(
        about="models dealt, by configured weights",
        mix={"kind": "llm"},
        changes={"credit": {"floor": 1}},
    ),
    "llm-no-shared-memory": Arm(
        about="models without shared memory", mix={"kind": "llm"}, changes=OWN_MEMORY
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What every campaign is given, whatever its arm."""

    backend: str
    evaluations: int
    final_s: float


def configuration(
    arm: Arm, *, task: str, seed: int, budget: Budget, llm: Mapping[str, Any] | None, run_dir: Path
) -> CampaignConfig:
    """Of one campaign. Raises ConfigError."""
    values: dict[str, Any] = {
        "task": task,
        "backend": budget.backend,
        "name": run_dir.name,
        "runs_dir": str(run_dir.parent),
        "seed": seed,
        # Mutations in idle time would be kernels beyond the budget, in arms with models alone.
        "budgets": {"evaluations": budget.evaluations, "tuning": 0},
        "operators": [dict(arm.mix)],
        "final": {"seconds": budget.final_s},
        "tracking": "none",
        **arm.changes,
    }
    if arm.asks_models:
        values["llm"] = llm
    return parse_config(values, where=run_dir.name)


def read_llm(path: Path) -> Mapping[str, Any]:
    """The section llm of a configuration. Raises ConfigError, also for a scripted model: what it
    answers is no result of a language model."""
    try:
        values = load(path.read_text())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"--llm {path}: the file can't be read: {reason}") from error
    except YamlError as error:
        raise ConfigError(f"--llm {path}, line {error.line}: {error.reason}") from error
    section = values.get("llm") if isinstance(values, dict) else None
    if not isinstance(section, dict):
        raise ConfigError(f"--llm {path}: give it a section llm, as configs/h200.yaml has one")
    models = section.get("models")
    named = models.values() if isinstance(models, dict) else ()
    if any(isinstance(one, dict) and one.get("model") == MODEL for one in named):
        raise ConfigError(
            f"--llm {path}: the model {MODEL!r} is this repository's scripted endpoint, and its "
            "answers are no result of a language model; name a real one"
        )
    return section
