"""The command line: what each command does, its exit code, and its errors."""

import io
import json
import os
import signal
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.cli.kernel_commands import KERNEL_COMMANDS
from engine.cli.look.commands import LOOK_COMMANDS
from engine.cli.parser import WRONG_USAGE, build_parser
from engine.cli.steer.commands import STEER_COMMANDS
from engine.cli.usage import FAILED, INTERRUPTED, OK, Command, UsageError, budget_change

# Each command imports what it needs when it runs: --help, evaluate and doctor start at once.
if TYPE_CHECKING:
    from engine.cli.progress import Observer
    from engine.snapshot import Snapshot
    from engine.store.summary import Summary

UNREAD = 141
"""An exit code: as a shell says of SIGPIPE, nobody reads on."""

AS_JSON = "--json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code. Wrong usage exits with 2 and one sentence on stderr; with --json
    there is JSON on stdout all the same: {"error": sentence}."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _take_any_text()
    try:
        try:
            return _run_command(words)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # as in `... | head`: who reads has seen enough
        _let_go()
        return UNREAD
    except OSError as error:
        if error.filename is None:
            _let_go()
        return _complain(_of_files(error), words, WRONG_USAGE)


def _take_any_text() -> None:
    """Where stdout is closed, it goes nowhere; what its encoding lacks is written by its code."""
    if sys.stdout is None:
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _let_go() -> None:
    from engine.cli.console import let_go

    let_go(sys.stdout)


def _of_files(error: OSError) -> str:
    """What no command foresaw: a folder that may not be entered, a disk that is full."""
    where = error.filename or "the output"
    return f"{where} can't be used ({error.strerror or error}); mend that, or name another"


def _run_command(words: Sequence[str]) -> int:
    parsed = _parsed(words)
    run: Command = parsed.run
    try:
        return run(parsed)
    except KeyboardInterrupt:
        return _complain("interrupted", words, INTERRUPTED)
    except _wrong_usage() as error:
        return _complain(str(error), words, WRONG_USAGE)
    except _failures() as error:
        return _complain(str(error), words, FAILED)


def _parsed(words: Sequence[str]) -> Namespace:
    complaint = io.StringIO()
    try:
        with redirect_stderr(complaint):
            return build_parser(COMMANDS).parse_args(words)
    except SystemExit as end:
        print(complaint.getvalue(), end="", file=sys.stderr)
        if end.code == WRONG_USAGE and AS_JSON in words:
            print(json.dumps({"error": complaint.getvalue().strip()}))
        raise


def _complain(sentence: str, words: Sequence[str], code: int) -> int:
    print(f"kernel-scientist: {sentence}", file=sys.stderr)
    if AS_JSON in words:
        print(json.dumps({"error": sentence}))
    return code


def _wrong_usage() -> tuple[type[Exception], ...]:
    from engine.cli.evaluate import NoSuchKernel
    from engine.cli.submit import SubmitError
    from engine.config_errors import ConfigError
    from engine.findings.file import FindingsError
    from engine.store.store import StoreError
    from evaluators.certify.certificate import CertificateError
    from evaluators.device_info import BackendMissing
    from evaluators.tasks.task import TaskError

    return (
        UsageError,
        ConfigError,
        FindingsError,
        StoreError,
        TaskError,
        BackendMissing,
        CertificateError,
        NoSuchKernel,
        SubmitError,
    )


def _failures() -> tuple[type[Exception], ...]:
    from engine.ending import CampaignFailed
    from evaluators.device_info import DeviceFault

    return (CampaignFailed, DeviceFault)


def _require_ray() -> None:
    """Before it is imported. Raises BackendMissing where another package keeps it from that."""
    from evaluators.device_info import BackendMissing
    from evaluators.hip.telemetry import AMDSMI_TODO, broken_amdsmi

    if why := broken_amdsmi():
        raise BackendMissing(f"Ray can't be imported, as amdsmi can't ({why}): {AMDSMI_TODO}")


def _run(arguments: Namespace) -> int:
    """Run a campaign to the end of its budget. Ctrl-C ends it in order and keeps what it found;
    a second Ctrl-C ends it at once, and 'resume' goes on."""
    _require_ray()
    from engine.cli.submit import is_temporary_copy
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
    runs and was paused goes on where it runs."""
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


def _submit(arguments: Namespace) -> int:
    """Check a configuration here, then run it as a job on a Ray cluster, with the current folder
    (a checkout) as the job's code. The campaign's folder and MLflow's address are made absolute,
    because a job runs in a temporary copy of the code."""
    from engine.cli.submit import submit

    return submit(
        arguments.config,
        arguments.overrides,
        address=arguments.address,
        wait=not arguments.no_wait,
    )


def _doctor(arguments: Namespace) -> int:
    """Look at this machine and say what is here, what is missing, and what to do about it.
    Exit code 1 when no campaign can run at all; with --device when a device failed a trial."""
    if arguments.device:
        return _try_device(arguments)
    if arguments.backend or arguments.section or arguments.out:
        raise UsageError("--backend, --section and --out go with doctor --device")
    from engine.cli.backend_needs import find_lacks
    from engine.cli.doctor import examine, find_backend, find_forecast, find_models
    from engine.cli.examined import print_findings

    findings = examine()
    if arguments.config is not None:
        from engine.config_file import load_config

        config = load_config(arguments.config)
        findings += [find_backend(config), find_models(config), find_forecast(config)]
    return print_findings(
        findings,
        sys.stdout,
        as_json=arguments.json,
        lacks=find_lacks(),
        config=arguments.config,
    )


def _try_device(arguments: Namespace) -> int:
    from evaluators.acceptance.report import accept_device

    if arguments.json or arguments.config is not None:
        raise UsageError("doctor --device writes a report of its own: leave out --json and CONFIG")
    out = arguments.out or Path("device-report.md")
    try:
        return accept_device(arguments.backend, out, sys.stdout, only=arguments.section)
    except OSError as error:
        raise UsageError(f"{out} can't be written ({error.strerror}): name another") from None


COMMANDS: Mapping[str, Command] = {
    "run": _run,
    "resume": _resume,
    **KERNEL_COMMANDS,
    "submit": _submit,
    **LOOK_COMMANDS,
    **STEER_COMMANDS,
    "doctor": _doctor,
}


if __name__ == "__main__":
    sys.exit(main())
