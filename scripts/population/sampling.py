"""Optuna's samplers and pruners by their names in a plan, and what they need."""

import warnings
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.config_errors import ConfigError
from scripts.population.plan import Plan

if TYPE_CHECKING:
    from optuna.pruners import BasePruner
    from optuna.samplers import BaseSampler

NEEDS = {
    "sampler gp": {"torch": "torch", "scipy": "scipy"},
    "sampler cmaes": {"cmaes": "cmaes"},
    "pruner wilcoxon": {"scipy": "scipy"},
}
DRAWING = {"matplotlib": "matplotlib", "sklearn": "scikit-learn"}
"""Of importances and their pictures. Modules -> what pip calls them."""


def require_libraries(plan: Plan) -> None:
    """Before the first trial. Raises ConfigError."""
    try:
        import optuna  # noqa: F401
    except ImportError as error:
        if error.name != "optuna":
            raise
        raise ConfigError("Optuna is missing: pip install optuna") from None
    for what, instead in ((f"sampler {plan.sampler}", "tpe"), (f"pruner {plan.pruner}", "none")):
        for missing in _missing(NEEDS.get(what, {})):
            raise ConfigError(f"{what} needs {missing}: pip install {missing}, or choose {instead}")
    for missing in _missing(DRAWING):
        raise ConfigError(f"the importances of keys need {missing}: pip install {missing}")


def _missing(needed: dict[str, str]) -> Iterator[str]:
    return (name for module, name in needed.items() if find_spec(module) is None)


def sampler_of(plan: Plan, offset: int) -> "BaseSampler":
    from optuna import samplers

    seed = plan.seed + offset
    match plan.sampler:
        case "random":
            return samplers.RandomSampler(seed=seed)
        case "gp":
            return samplers.GPSampler(seed=seed, n_startup_trials=plan.startup)
        case "cmaes":
            return samplers.CmaEsSampler(seed=seed, n_startup_trials=plan.startup)
        case _:
            return samplers.TPESampler(seed=seed, n_startup_trials=plan.startup, multivariate=True)


def pruner_of(plan: Plan) -> "BasePruner":
    from optuna import pruners
    from optuna.exceptions import ExperimentalWarning

    match plan.pruner:
        case "wilcoxon":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExperimentalWarning)
                return pruners.WilcoxonPruner(p_threshold=0.1)
        case "median":
            return pruners.MedianPruner(n_startup_trials=plan.startup)
        case _:
            return pruners.NopPruner()
