"""A campaign: start it, or resume it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.actors.cluster import fitted, on_site
from engine.carrying import brought_in
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.dispatch.workbench import Workbench
from engine.inbox import let_go_on
from engine.preparation import (
    emulation,
    refuse_changed,
    refuse_spent,
    require_findings,
    settled,
    stored_config,
    task_of,
)
from engine.searching import require_search
from engine.session import Session
from engine.session_view import Observer
from engine.store.replay import replay
from engine.store.run_folder import STORE
from engine.store.summary import Summary


def run_campaign(
    config: CampaignConfig,
    *,
    observer: Observer | None = None,
    workbench: Workbench | None = None,
) -> Summary:
    """Run a new campaign to its end, in runs_dir/<name>.

    observer gets a Snapshot at the start, a few times a second, and at the end. workbench:
    the backend's own unless given. Raises ConfigError, TaskError, BackendMissing,
    CampaignFailed: one sentence each.
    """
    with emulation(config):
        return _run(config, observer=observer, workbench=workbench)


def _run(
    config: CampaignConfig, *, observer: Observer | None, workbench: Workbench | None
) -> Summary:
    config = settled(config)
    task = task_of(config)
    require_search(config, task)  # a refusal comes before anything starts
    run_dir = config.runs_dir / config.name
    if (run_dir / STORE).exists():
        raise ConfigError(
            f"{run_dir}: a campaign of this name exists; continue it with "
            f"'kernel-scientist resume {run_dir}', or choose another name"
        )
    with on_site(config) as site:
        config = fitted(config, len(site.plan.devices))
        carried = brought_in(config)
        require_findings(config)
        session = Session(
            config, task, site, observer=observer, workbench=workbench, before=None, carried=carried
        )
        return session.run()


def resume_campaign(
    run_dir: Path,
    *,
    observer: Observer | None = None,
    budgets: Mapping[str, Any] | None = None,
    stop: Mapping[str, Any] | None = None,
    places: Mapping[str, Mapping[str, Any]] | None = None,
    workbench: Workbench | None = None,
) -> Summary:
    """Go on with a stored campaign: no finished evaluation is repeated.

    budgets, stop: keys of these sections to change; places: keys of PLACES, by section.
    Raises StoreError and what run_campaign raises.
    """
    run_dir = run_dir.resolve()
    before = replay(run_dir / STORE)
    changes = {"budgets": budgets or {}, "stop": stop or {}, **(places or {})}
    config = stored_config(before, run_dir, changes)
    refuse_spent(before, config, run_dir)
    with emulation(config):
        task = task_of(config)
        refuse_changed(before, config, task, run_dir)
        let_go_on(run_dir)  # who resumes a campaign that was paused wants it to go on
        with on_site(config) as site:
            session = Session(
                config, task, site, observer=observer, workbench=workbench, before=before
            )
            return session.run()
