"""A campaign's tags in MLflow: by what it is found, grouped and told apart."""

from collections.abc import Mapping
from pathlib import Path

from engine.config import CampaignConfig
from engine.history.brought import counted
from engine.history.config_hash import config_hash
from engine.store.kinds.sessions import CampaignStarted
from engine.store.replay import Replay
from engine.store.summary import meaning_of
from engine.tracking.parameters import budgets, endings, task_name
from evaluators.measuring.headline import headline

BROUGHT_TAG = "brought_in"
CHANGED = "-dirty"
"""At the end of a commit: there were changes beside it."""


def campaign_tags(campaign: CampaignStarted, config: CampaignConfig) -> dict[str, str]:
    """Those that hold from the campaign's start on."""
    versions = {name: value for name, value in campaign.versions.items() if name != "git"}
    return {
        "state": "running",  # first: in this order the table has them
        "task": task_name(config),
        "backend": config.backend,
        "seed": str(config.seed),
        "config_hash": config_hash(campaign.config, campaign.task_hash),
        "kernel_scientist.task_hash": campaign.task_hash,
        "kernel_scientist.baseline": campaign.baseline_id,
        "mlflow.source.name": "kernel-scientist",
        "mlflow.source.type": "LOCAL",
        **_commit(campaign.versions.get("git", "")),
        **_models(config),
        **{f"version.{name}": value for name, value in versions.items()},
    }


def session_tags(replay: Replay) -> dict[str, str]:
    """Those that a session may change: devices, budgets, what the figures mean."""
    if not replay.sessions:
        return {}
    last, best = replay.sessions[-1], replay.scores.best
    return {
        "best_speedup_means": meaning_of(best) if best else "",
        **_fastest(replay),
        "device": last.started.device,
        "device_class": last.started.device_class,
        "compiler": last.started.compiler,
        "harness": last.started.harness,
        "sessions": str(len(replay.sessions)),
        **_brought(replay),
        **budgets(replay.budgets),
        **endings(replay.stop),
    }


def _fastest(replay: Replay) -> Mapping[str, str]:
    """Which baseline is the fastest, where others than the naive seed were measured at the end."""
    best, final = replay.scores.best, replay.scores.titles.final
    if best is None or final is None or not best.final:
        return {}
    found = headline((final.speedup, *final.ci95), final.baselines)
    return {} if found is None else {"fastest_baseline": found.name}


def _brought(replay: Replay) -> Mapping[str, str]:
    """By what a campaign is told apart that a person had a hand in."""
    told = counted(replay)
    return {BROUGHT_TAG: told} if told else {}


def _commit(commit: str) -> Mapping[str, str]:
    if not commit:
        return {}
    number = commit.removesuffix(CHANGED)
    changed = " with changes" if commit.endswith(CHANGED) else ""
    return {"mlflow.source.git.commit": number, "git": f"{number[:12]}{changed}"}


def _models(config: CampaignConfig) -> Mapping[str, str]:
    if config.llm is None or not config.asks_models:
        return {}
    names = dict.fromkeys(Path(model.model).name for model in config.llm.models.values())
    return {"models": ", ".join(names)}
