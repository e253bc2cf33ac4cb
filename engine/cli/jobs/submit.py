"""Sending a campaign to a Ray cluster as a job: a new one, or one that goes on."""

import os
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from engine.actors.passed_on import key_names
from engine.cli.jobs.campaigns import Campaign, campaigns_of
from engine.cli.jobs.checks import check_devices, check_endpoints
from engine.cli.jobs.cluster import Cluster, address_from, seems_local
from engine.cli.jobs.environment import hand_over, values_of, withdraw
from engine.cli.jobs.follow import follow_to_end, typed
from engine.cli.jobs.plan import Plan, plan, plan_resumption
from engine.cli.usage import OK, UsageError, budget_change
from engine.commands import command
from engine.config import CampaignConfig
from engine.preparation import refuse_spent, stored_config
from engine.store.replay import replay
from engine.store.run_folder import STORE


def submit(arguments: Namespace, stream: IO[str]) -> int:
    """Returns the exit code: 0 when it ended, or is left running. Raises ConfigError, TaskError,
    UsageError."""
    address = address_from(arguments.address)
    elsewhere = not seems_local(address)
    made = plan(arguments.config, arguments.overrides, Path.cwd(), elsewhere=elsewhere)
    names = _names(made.config, arguments.env)
    values = values_of(names, os.environ)
    cluster = Cluster(address)
    known = campaigns_of(cluster)
    _refuse_running(known, str(made.run_dir))
    _refuse_again(known, made.run_dir, here=cluster.here)
    return _send(cluster, made, values, arguments, stream)


def resume(arguments: Namespace, stream: IO[str]) -> int:
    """The same of a campaign that was stopped or killed. Raises StoreError, too."""
    cluster = Cluster(address_from(arguments.address))
    here = cluster.here
    known = campaigns_of(cluster)
    run_dir, found = _which(known, str(arguments.run_dir), here=here)
    _refuse_running(known, run_dir)
    config = _stored(Path(run_dir), arguments.budgets) if here else None
    made = plan_resumption(run_dir, arguments.budgets, Path.cwd(), config)
    told = found.status.environment if found is not None and found.status else ()
    names = _names(config, [*arguments.env, *told])
    return _send(cluster, made, values_of(names, os.environ), arguments, stream)


def _names(config: CampaignConfig | None, further: Sequence[str]) -> list[str]:
    """Of variables that are passed."""
    return list(dict.fromkeys([*(key_names(config) if config else ()), *further]))


def _send(
    cluster: Cluster,
    made: Plan,
    values: dict[str, str],
    arguments: Namespace,
    stream: IO[str],
) -> int:
    here = cluster.here
    if made.config is not None:
        unseen = arguments.unseen_endpoints
        _check(made.config, cluster, stream, here=here, unseen_endpoints=unseen)
    passed = hand_over(cluster, values)
    try:
        job = cluster.submit(made.entrypoint(passed), folder=made.folder)
    except BaseException:
        withdraw(cluster, passed)
        raise
    print(f"sent {made.run_dir.name} to {cluster.address} as job {job}", file=stream)
    node = "" if here else " on the node where the job's driver runs"
    print(f"its folder is {made.run_dir}{node}", file=stream)
    if values:
        print(f"variables that it is passed: {', '.join(values)}", file=stream)
    if not arguments.detach:
        return follow_to_end(cluster, job, made.run_dir.name, stream, arguments.address)
    for what, words in (
        ("look on", ("logs", made.run_dir.name, "--follow")),
        ("list campaigns", ("jobs",)),
        ("end it in order", ("stop", made.run_dir.name)),
    ):
        print(f"  {what}: {typed(*words, address=arguments.address)}", file=stream)
    return OK


def _check(
    config: CampaignConfig, cluster: Cluster, stream: IO[str], *, here: bool, unseen_endpoints: bool
) -> None:
    """Raises UsageError."""
    check_devices(config, cluster.nodes(), cluster.address)
    if config.llm is None or not config.asks_models or unseen_endpoints:
        return
    if unseen := check_endpoints(config.llm, here=here):
        print(f"warning: {unseen}", file=stream)


def _which(known: Sequence[Campaign], name: str, *, here: bool) -> tuple[str, Campaign | None]:
    """Its folder on the driver's node, and what the cluster knows of it. Raises UsageError."""
    wanted = str(Path(name).resolve()) if here else name.rstrip("/")
    for one in known:
        if one.folder and one.folder in (wanted, name.rstrip("/")):
            return one.folder, one
    if here and (Path(wanted) / STORE).is_file():
        return wanted, None
    for one in known:
        if one.folder and name in (one.name, one.job and one.job.id):
            return one.folder, one
    if Path(name).is_absolute() and not here:
        return wanted, None
    raise UsageError(
        f"{name}: no campaign is here, and the cluster knows none of that name; name its folder on "
        "the driver's node, or one of 'kernel-scientist jobs'"
    )


def _refuse_running(known: Sequence[Campaign], run_dir: str) -> None:
    """Raises UsageError."""
    for one in known:
        if one.folder == run_dir and one.alive:
            job = f" as job {one.job.id}" if one.job else ""
            raise UsageError(
                f"{one.name} is {one.state}{job}, in {one.folder}: look on with "
                f"'{command('kernel-scientist', 'logs', one.name, '--follow')}', or choose another "
                "name"
            )


def _refuse_again(known: Sequence[Campaign], run_dir: Path, *, here: bool) -> None:
    """Raises UsageError: the folder holds a campaign."""
    stored = here and (run_dir / STORE).is_file()
    if stored or any(one.folder == str(run_dir) and one.status for one in known):
        again = command("kernel-scientist", "resume", str(run_dir), "--job")
        raise UsageError(
            f"{run_dir}: a campaign of this name exists; continue it with '{again}', or choose "
            "another name"
        )


def _stored(run_dir: Path, changes: Sequence[str]) -> CampaignConfig | None:
    """None: its store is not here. Raises StoreError, ConfigError where nothing is left to do."""
    if not (run_dir / STORE).is_file():
        return None
    sections: dict[str, dict[str, object]] = {}
    for section, key, value in map(budget_change, changes):
        sections.setdefault(section, {})[key] = value
    before = replay(run_dir / STORE)
    config = stored_config(before, run_dir, sections)
    refuse_spent(before, config, run_dir)
    return config
