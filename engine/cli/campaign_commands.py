"""The commands that run a campaign, watch it to its end, and print what it found."""

import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.usage import INTERRUPTED, OK, Command, UsageError, budget_change

if TYPE_CHECKING:
    from engine.cli.progress import Observer
    from engine.snapshot import Snapshot
    from engine.store.summary import Summary


def _run(arguments: Namespace) -> int:
    """Run a campaign to the end of its budget. Ctrl-C ends it in order and keeps what it found;
    a second Ctrl-C ends it at once, and 'resume' goes on."""
    _require_ray()
    from engine.cli.jobs.plan import is_temporary_copy
    from engine.config_file import load_config

    config = load_config(arguments.config, arguments.overrides)
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
    runs and was paused goes on where it runs. With --job it goes on as a job on a Ray cluster;
    the other options go with --job alone."""
    if arguments.job:
        from engine.cli.jobs.submit import resume

        return resume(arguments, sys.stdout)
    if arguments.detach or arguments.env or arguments.address or arguments.unseen_endpoints:
        raise UsageError(
            "--address, --detach, --env and --unseen-endpoints go with --job, which resumes a "
            "campaign as a job on a Ray cluster"
        )
    from engine.cli.steer.pause import go_on

    if go_on(arguments.run_dir, sys.stdout, budgets=arguments.budgets):
        return OK
    _require_ray()
    changes: dict[str, dict[str, Any]] = {"budgets": {}, "stop": {}}
    for section, key, value in map(budget_change, arguments.budgets):
        changes[section][key] = value

    def campaign(observer: "Observer") -> "Summary":
        from engine.campaign import resume_campaign

        return resume_campaign(
            arguments.run_dir, observer=observer, budgets=changes["budgets"], stop=changes["stop"]
        )

    return _watched(campaign, arguments.run_dir)


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
    for line in result_lines(summary, whole, config.tracking_uri, trouble, page):
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
