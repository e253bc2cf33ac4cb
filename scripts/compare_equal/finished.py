"""A campaign of a comparison, run to its end, once."""

import sys
from pathlib import Path

from engine.campaign import resume_campaign, run_campaign
from engine.config import CampaignConfig
from engine.store.replay import replay
from engine.store.run_folder import STORE
from evaluators.tasks.task_file import load_task


def finished(config: CampaignConfig) -> Path:
    """Its store: run now, gone on with where it was interrupted, or there already. Exits with a
    sentence where another campaign has its folder."""
    run_dir = config.runs_dir / config.name
    store = run_dir / STORE
    if not store.exists():
        run_campaign(config)
        return store
    before = replay(store)
    task_hash = load_task(config.task).hash
    if (before.campaign.config, before.campaign.task_hash) != (
        config.model_dump(mode="json"),
        task_hash,
    ):
        sys.exit(f"{run_dir} holds another comparison's campaign; choose another --runs-dir")
    if not before.sessions or before.sessions[-1].finished is None:
        resume_campaign(run_dir)
    return store
