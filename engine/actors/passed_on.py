"""Variables of the driver's environment that a process on a cluster needs and would not have: a
worker's environment is that of its node's Ray."""

from collections.abc import Mapping, Sequence

from engine.config import CampaignConfig

PASSED = "KERNEL_SCIENTIST_PASSED"
"""In a job's environment: the names of the variables that its submitter passed, by commas."""

TRACKING = ("MLFLOW_", "DATABRICKS_")


def key_names(config: CampaignConfig) -> list[str]:
    """The variables that keys of models which are asked are read from."""
    if config.llm is None or not config.asks_models:
        return []
    named = [model.api_key_env or config.llm.api_key_env for model in config.llm.models.values()]
    return sorted({name for name in named if name is not None})


def names_passed(config: CampaignConfig, environment: Mapping[str, str]) -> Sequence[str]:
    """Those variables and the submitter's."""
    return sorted({*key_names(config), *_submitters(environment)})


def for_gateway(config: CampaignConfig, environment: Mapping[str, str]) -> dict[str, str]:
    """Keys, and all that the submitter passed."""
    return _chosen(names_passed(config, environment), environment)


def for_tracker(config: CampaignConfig, environment: Mapping[str, str]) -> dict[str, str]:
    """MLflow's own, and what the submitter passed; no key of a model."""
    own = [name for name in environment if name.startswith(TRACKING)]
    passed = set(_submitters(environment)) - set(key_names(config))
    return _chosen([*own, *passed], environment)


def _submitters(environment: Mapping[str, str]) -> list[str]:
    return [name for name in environment.get(PASSED, "").split(",") if name]


def _chosen(names: Sequence[str], environment: Mapping[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in names if name in environment}
