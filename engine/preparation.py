"""What is settled and checked before a campaign starts anything that takes its time."""

import os
import platform
import secrets
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from engine.commands import resume_command, shown
from engine.config import CampaignConfig, parse_config
from engine.config_errors import ConfigError
from engine.dispatch.task_here import TaskFiles
from engine.dispatch.workbench import BackendWorkbench
from engine.ending import CampaignFailed
from engine.findings.imports import bring
from engine.findings.reader import FindingsError
from engine.findings.sources import findings_of
from engine.stopping.targets import reached
from engine.store.budget import figure, spent
from engine.store.kept_task import bring_task
from engine.store.kinds.findings import Distilled
from engine.store.kinds.sessions import PLACES, CampaignStarted, SessionStarted
from engine.store.replay import Replay
from engine.store.run_folder import STORE
from engine.store.summary import write_results
from engine.store.task_files import files_of
from engine.store.toolchain import device_class_of, toolchain_here
from evaluators.device_info import DeviceInfo, emulating
from evaluators.kernel.fit import check_seeds
from evaluators.kernel.seeds import on_backend
from evaluators.kernel.source import kernel_id
from evaluators.tasks.reference import check_reference
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.finding import Condition

GIT_S = 5.0


def emulation(config: CampaignConfig) -> AbstractContextManager[None]:
    """Meanwhile this process and those it starts have the devices that the configuration names."""
    return emulating(config.devices.emulated, config.backend, asked_by="devices: emulated")


def task_of(config: CampaignConfig) -> Task:
    """Raises TaskError, also when its reference or a seed can't be used."""
    task = on_backend(load_task(config.task), config.backend)
    check_reference(task, config.backend)
    check_seeds(task, config.backend)
    return task


def stored_config(
    before: Replay, run_dir: Path, changes: Mapping[str, Mapping[str, Any]]
) -> CampaignConfig:
    """The configuration that a campaign goes on with. Its task is where its files are now.

    changes: keys of budgets, of stop and of PLACES, by section. Raises ConfigError, TaskError.
    """
    values = dict(before.campaign.config)
    values |= {"name": run_dir.name, "runs_dir": str(run_dir.parent)}
    values["task"] = bring_task(before, run_dir)
    for section, last in {"budgets": before.budgets, "stop": before.stop, **before.places}.items():
        if (merged := {**last, **changes.get(section, {})}) or section != "llm":
            values[section] = merged
    changed = " ".join(
        f"{section}.{key}={'null' if value is None else value}"
        for section, keys in changes.items()
        for key, value in keys.items()
    )
    try:
        config = parse_config(values, where=repr(changed) if changed else str(run_dir / STORE))
    except ConfigError as error:
        if changed:
            raise
        raise ConfigError(
            f"{error}; another version of Kernel Scientist wrote it, so go on with that one "
            f"({before.campaign.versions.get('git') or 'see the event campaign_started'})"
        ) from None
    return _with_folder(config) if changes.get("snapshots") else config


def refuse_spent(before: Replay, config: CampaignConfig, run_dir: Path) -> None:
    """Raises ConfigError when the budgets or the section stop leave nothing to do, with the
    command that does it.

    What was found and never measured at the end is left to do.
    """
    over = spent(before, config.budgets.model_dump(mode="json"))
    met = reached(before, config.stop)
    if (over is None and met is None) or (config.final.seconds and before.lacks_final):
        return
    if before.ended == "killed":  # after its last evaluation, and before it told the result
        write_results(before, run_dir)
    if over is not None:
        raise ConfigError(
            f"{run_dir}: the budget of {figure(over.limit)} {over.name} is spent, so there is "
            f"nothing left to do; go on with a larger one: {resume_command(run_dir, over)}"
        )
    if met is not None:
        raise ConfigError(
            f"{run_dir}: {met.reason}, so there is nothing left to do; go on beyond it: "
            f"{resume_command(run_dir, met)}"
        )


def refuse_changed(before: Replay, config: CampaignConfig, task: Task, run_dir: Path) -> None:
    """Raises ConfigError where the task is another one than the campaign started with, by what it
    asks or by the naive seed that all are measured beside."""
    drafted = before.first_drafts.get(before.campaign.baseline_id)
    other_seed = drafted and kernel_id(drafted.candidate.source) != kernel_id(task.naive)
    if task.hash != before.campaign.task_hash or other_seed:
        kept = (
            ", or move that folder away to go on with the task as it was, which the store has kept"
            if before.task
            else ""
        )
        raise ConfigError(
            f"{run_dir}: the task {config.task} has changed since this campaign started; start a "
            f"new campaign, which start_from={shown(run_dir)} lets begin with its kernels{kept}"
        )


def settled(config: CampaignConfig) -> CampaignConfig:
    """With a name, and with paths that hold from any folder."""
    config = _with_folder(config)
    changes: dict[str, Any] = {"runs_dir": config.runs_dir.resolve()}
    if config.start_from is not None:
        changes["start_from"] = config.start_from.resolve()
    found = [source for source in (*config.findings.sources, config.start_from) if source]
    if found:
        sources = tuple(dict.fromkeys(source.resolve() for source in found))
        changes["findings"] = config.findings.model_copy(update={"sources": sources})
    task = Path(config.task)
    if (task / "task.yaml").is_file():
        changes["task"] = str(task.resolve())
    if not config.name:
        changes["name"] = f"{task.resolve().name}-{datetime.now():%Y%m%d-%H%M%S}"
    return config.model_copy(update=changes)


def _with_folder(config: CampaignConfig) -> CampaignConfig:
    """With the folder of copies as a path that holds from any other."""
    if config.snapshots.folder is None:
        return config
    folder = config.snapshots.folder.resolve()
    if not os.path.isdir(folder):
        raise ConfigError(f"snapshots.folder: {folder} is no folder; make it first")
    snapshots = config.snapshots.model_copy(update={"folder": folder})
    return config.model_copy(update={"snapshots": snapshots})


def workbench_of(config: CampaignConfig, *, travels: bool) -> BackendWorkbench:
    """travels: to other nodes, with the files of a task of one's own. Raises TaskError."""
    own = travels and (Path(config.task) / "task.yaml").is_file()
    return BackendWorkbench(
        task=config.task,
        backend=config.backend,
        secret=secrets.randbits(64),
        shapes=config.search_shapes,
        files=TaskFiles(files_of(Path(config.task))) if own else None,
    )


def brought_along(config: CampaignConfig, task: Task, info: DeviceInfo) -> Distilled | None:
    """What a new campaign knows from others; None where nothing is brought along.

    Raises ConfigError: a file that can't be read.
    """
    if not config.findings.sources:
        return None
    here = Condition(
        task=task.name,
        task_hash=task.hash,
        backend=config.backend,
        device_class=info.device_class,
    )
    try:
        brought = bring(config.findings.sources, here)
    except FindingsError as error:
        raise ConfigError(f"findings.sources: {error}") from None
    return Distilled(number=0, evaluations=0, findings=brought.findings, refused=brought.refused)


def require_findings(config: CampaignConfig) -> None:
    """Before anything starts. Raises ConfigError: what is to be brought along can't be read."""
    try:
        for source in config.findings.sources:
            findings_of(source)
    except FindingsError as error:
        raise ConfigError(f"findings.sources: {error}") from None


def campaign_started(config: CampaignConfig, task: Task) -> CampaignStarted:
    """The first event of a new campaign."""
    return CampaignStarted(
        config=config.model_dump(mode="json"),
        task_hash=task.hash,
        baseline_id=kernel_id(task.naive),
        versions=_versions(),
    )


def places_of(config: CampaignConfig, *, given: bool = False) -> dict[str, dict[str, Any]]:
    """Where the campaign and its models are, by section. given: only what somebody wrote."""
    values = config.model_dump(mode="json", exclude_unset=given)
    found = {name: values.get(name) or {} for name in PLACES}
    return {
        name: {key: section[key] for key in PLACES[name] if key in section}
        for name, section in found.items()
        if section
    }


def require_one_class(infos: Sequence[DeviceInfo], before: Replay | None) -> None:
    """Raises CampaignFailed where devices differ, from each other or from earlier sessions'."""
    classes = {one.device_class for one in infos}
    if before:
        classes |= {device_class_of(session.started) for session in before.sessions}
    if len(classes) > 1:
        raise CampaignFailed(
            f"times of different devices can't be compared: {' and '.join(sorted(classes))}; "
            "choose devices of one kind by devices.ids, or start a new campaign"
        )


def session_started(
    config: CampaignConfig,
    infos: Sequence[DeviceInfo],
    before: Replay | None,
    *,
    number: int,
    began_at: float,
    devices: int,
) -> SessionStarted:
    """The first event of a session. began_at: seconds since 1970. Raises CampaignFailed."""
    require_one_class(infos, before)
    info = infos[0]
    toolchain = toolchain_here(info)
    return SessionStarted(
        number=number,
        began_at=began_at,
        budgets=config.budgets.model_dump(mode="json"),
        stop=config.stop.model_dump(mode="json"),
        places=places_of(config),
        device=info.name,
        device_class=info.device_class,
        devices=devices,
        harness=toolchain.harness,
        compiler=toolchain.compiler,
        start_counts=False,
        info=info,
    )


def _versions() -> dict[str, str]:
    packages = ("kernel-scientist", "ray", "numpy")
    return {
        "python": platform.python_version(),
        **{name: _version(name) for name in packages},
        **_commit(Path(__file__).resolve().parents[1]),
    }


def _commit(checkout: Path) -> dict[str, str]:
    """The commit of the code that runs, with "-dirty" where files differ from it; nothing where it
    is no checkout, or git is not there or does not answer soon."""
    if not (checkout / ".git").exists():
        return {}
    ask = ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        # No tag's name in place of the number.
        told = subprocess.run(
            [*ask, "--exclude=*"], capture_output=True, text=True, timeout=GIT_S, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    return {"git": told.stdout.strip()}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "run from its files"
