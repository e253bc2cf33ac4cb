"""Campaigns read from their folders."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.compare.campaign import Campaign, CompareError
from engine.compare.settings import search_settings
from engine.config import parse_config
from engine.history.campaigns import name_of, state_of, store_of, stores_in
from engine.history.config_hash import config_hash
from engine.history.history import History, read_history
from engine.store.kept_task import find_task
from engine.store.run_folder import STORE
from engine.store.toolchain import device_class_of, toolchain_of
from engine.tracking.parameters import flatten


def find_stores(runs: Sequence[Path]) -> list[Path]:
    """Of campaigns, and of all campaigns in folders of runs. Raises StoreError, CompareError."""
    found: dict[Path, Path] = {}
    for run in runs:
        stores = [] if run.is_file() or (run / STORE).is_file() else list(stores_in(run))
        for store in stores or [store_of(run)]:
            found.setdefault(store.resolve(), store)
    return list(found.values())


def read_folders(runs: Sequence[Path]) -> list[Campaign]:
    """Raises StoreError, ConfigError, CompareError."""
    return list(named_apart(map(_read, find_stores(runs))))


def named_apart(campaigns: Iterator[Campaign]) -> Iterator[Campaign]:
    """Of campaigns with one name, later ones are numbered."""
    seen: dict[str, int] = {}
    for campaign in campaigns:
        count = seen[campaign.name] = seen.get(campaign.name, 0) + 1
        yield replace(campaign, name=f"{campaign.name} ({count})") if count > 1 else campaign


def _read(store: Path) -> Campaign:
    history = read_history(store)
    if not history.replay.timed:
        raise CompareError(
            f"{store.parent}: nothing was timed in this campaign, its device was emulated; compare "
            "campaigns of real devices"
        )
    name = name_of(store.parent) if store.name == STORE else store.stem
    sessions = history.replay.sessions
    started = sessions[-1].started if sessions else None
    config = _parsed(history, store)
    return Campaign(
        name=name,
        identity=f"{config['name']}/{config['seed']}/{history.began_at}",
        task=find_task(history.replay, store.parent),
        task_hash=history.replay.campaign.task_hash,
        backend=str(config["backend"]),
        device=started.device if started else "",
        device_class=device_class_of(started) if started else "",
        toolchain=str(toolchain_of(started)) if started else "",
        seed=int(config["seed"]),
        settings=search_settings(dict(flatten(config))),
        config_hash=config_hash(config, history.replay.campaign.task_hash),
        began_at=history.began_at,
        state=state_of(history.replay, store),
        ended=history.replay.ended,
        trajectory=history.trajectory,
        source=lambda: _best_source(history),
        steered=any(one.entry for one in history.replay.injected),
    )


def _parsed(history: History, store: Path) -> Mapping[str, Any]:
    """With the defaults of keys that are newer than it. Raises ConfigError."""
    config = parse_config(dict(history.replay.campaign.config), where=str(store))
    return config.model_dump(mode="json")


def _best_source(history: History) -> str:
    best = history.replay.scores.best
    if best is None:
        raise CompareError("it has no best kernel")
    return history.replay.first_drafts[best.kernel_id].candidate.source
