"""The commands that run a campaign, watch it to its end, and print what it found."""

import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cli.usage import INTERRUPTED, OK, Command, UsageError

if TYPE_CHECKING:
    from engine.cli.progress import Observer
    from engine.cli.steer.resume import Resumption
    from engine.config import CampaignConfig
    from engine.snapshot import Snapshot
    from engine.store.summary import Summary


def _run(arguments: Namespace) -> int:
    """Run a campaign to the end of its budget. Ctrl-C ends it in order and keeps what it found;
    a second Ctrl-C ends it at once, and 'resume' goes on."""
    _require_ray()
    from engine.cli.jobs.plan import is_temporary_copy
    from engine.config_file import load_config

    config = load_config(arguments.config, arguments.overrides)
    if arguments.or_resume and (resumed := _begun(config)) is not None:
        return _go_on(resumed)
    if not config.runs_dir.is_absolute() and is_temporary_copy(Path.cwd()):
        print(
            "kernel-scientist: this job's folder is a temporary copy, and results below it go with "
            "it: set runs_dir to a folder of a local disk, or use 'kernel-scientist submit'",
            file=sys.stderr,
        )

    def campaign(observer: "Observer") -> "Summary":
        from engine.campaign import run_campaign  # imports Ray, which takes seconds

        return run_campaign(config, observer=observer)

    return _watched(campaign)


def _resume(arguments: Namespace) -> int:
    """Go on with a campaign: no finished evaluation is repeated, and the best is kept. One that
    runs and was paused goes on where it runs. With --from, on another node than before. With
    --job it goes on as a job on a Ray cluster; the options of jobs go with --job alone."""
    if arguments.job:
        return _resume_as_job(arguments)
    if arguments.detach or arguments.env or arguments.address or arguments.unseen_endpoints:
        raise UsageError(
            "--address, --detach, --env and --unseen-endpoints go with --job, which resumes a "
            "campaign as a job on a Ray cluster"
        )
    from engine.cli.steer.pause import go_on
    from engine.cli.steer.resume import resumption

    told = resumption(arguments)
    if go_on(told.run_dir, sys.stdout, budgets=told.words):
        return OK
    return _go_on(told)


def _resume_as_job(arguments: Namespace) -> int:
    from engine.cli.jobs.submit import resume

    if arguments.copy is not None:
        raise UsageError(
            "--from makes a folder on this node, and a job runs on another: leave --job out, or "
            "start a job by 'ray job submit' whose command is python scripts/run_campaign.py "
            "--resume --from COPY"
        )
    if arguments.run_dir is None:
        raise UsageError("resume --job: name the campaign, as 'kernel-scientist jobs' shows it")
    return resume(arguments, sys.stdout)


def _begun(config: "CampaignConfig") -> "Resumption | None":
    """None where no campaign of that name is found. Raises ConfigError, StoreError."""
    from engine.cli.steer.resume import Resumption
    from engine.restoring import begun

    made = begun(config)
    if made is None:
        return None
    if made.says:
        print(f"kernel-scientist: {made.says}", file=sys.stderr)
    return Resumption(run_dir=made.run_dir, changes={**made.places})


def _go_on(told: "Resumption") -> int:
    _require_ray()

    def campaign(observer: "Observer") -> "Summary":
        from engine.campaign import resume_campaign

        changes = dict(told.changes)
        budgets, stop = changes.pop("budgets", {}), changes.pop("stop", {})
        return resume_campaign(
            told.run_dir, observer=observer, budgets=budgets, stop=stop, places=changes
        )

    return _watched(campaign, told.run_dir)


def _watched(campaign: "Callable[[Observer], Summary]", run_dir: Path | None = None) -> int:
    """Show its progress on stderr, and its result on stdout. run_dir: where it is known before."""
    from engine.cli.progress import progress
    from engine.ending import CampaignFailed

    last: Snapshot | None = None

    def observe(snapshot: "Snapshot") -> None:
        nonlocal last, run_dir
        last, run_dir = snapshot, Path(snapshot.run_dir)
        show(snapshot)

    try:
        with progress(sys.stderr) as show:
            summary = campaign(observe)
        _print_result(summary, last)
    except CampaignFailed as failed:
        _say_how_to_go_on(run_dir, failed)
        raise
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # so that a third one can't cut this short
        print(f"kernel-scientist: {_interrupted(run_dir)}", file=sys.stderr)
        return INTERRUPTED
    return OK


def _print_result(summary: "Summary", last: "Snapshot | None") -> None:
    from engine.cli.result import result_lines
    from engine.config import parse_config
    from engine.store.replay import replay
    from engine.store.run_folder import STORE

    store = Path(summary.run_dir) / STORE
    whole = replay(store)
    config = parse_config(dict(whole.campaign.config), where=str(store))
    trouble, page = (last.tracking_trouble, last.tracking_page) if last else ("", "")
    copy_trouble = last.copy_trouble if last else ""
    for line in result_lines(summary, whole, config.tracking_uri, trouble, page, copy_trouble):
        print(line)


def _say_how_to_go_on(run_dir: Path | None, failed: Exception) -> None:
    """Once what broke is mended; nothing where that is said, or where no search began."""
    from engine.commands import resume_command
    from engine.store.replay import replay
    from engine.store.run_folder import STORE

    if run_dir is None or not (run_dir / STORE).is_file() or " resume" in str(failed):
        return
    sessions = replay(run_dir / STORE).sessions
    if any(one.search_began_at for one in sessions):
        print(f"once this is mended: {resume_command(run_dir)}", file=sys.stderr)


def _interrupted(run_dir: Path | None) -> str:
    from engine.store.run_folder import STORE

    if run_dir is None or not (run_dir / STORE).is_file():
        return "interrupted before the campaign began"
    from engine.commands import resume_command
    from engine.stopping.targets import reached_by
    from engine.store.budget import spent
    from engine.store.replay import replay

    whole = replay(run_dir / STORE)
    over = spent(whole, whole.budgets) or reached_by(whole)
    return f"interrupted; go on with {resume_command(run_dir, over)}"


def _require_ray() -> None:
    """Before it is imported. Raises BackendMissing where another package keeps it from that."""
    from evaluators.device_info import BackendMissing
    from evaluators.hip.telemetry import AMDSMI_TODO, broken_amdsmi

    if why := broken_amdsmi():
        raise BackendMissing(f"Ray can't be imported, as amdsmi can't ({why}): {AMDSMI_TODO}")


CAMPAIGN_COMMANDS: Mapping[str, Command] = {"run": _run, "resume": _resume}
