"""The command line: every command, its exit code, and what goes wrong in one sentence."""

import io
import json
import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from pathlib import Path

from engine.cli.author.commands import AUTHOR_COMMANDS
from engine.cli.campaign_commands import CAMPAIGN_COMMANDS
from engine.cli.jobs.commands import JOB_COMMANDS
from engine.cli.kernel_commands import KERNEL_COMMANDS
from engine.cli.look.commands import LOOK_COMMANDS
from engine.cli.parser import WRONG_USAGE, build_parser
from engine.cli.steer.commands import STEER_COMMANDS
from engine.cli.usage import FAILED, INTERRUPTED, Command, UsageError
from engine.ending import kept_interrupts

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
        with kept_interrupts():
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
            return _arguments(build_parser(COMMANDS), words)
    except SystemExit as end:
        print(complaint.getvalue(), end="", file=sys.stderr)
        if end.code == WRONG_USAGE and AS_JSON in words:
            print(json.dumps({"error": complaint.getvalue().strip()}))
        raise


def _arguments(parser: ArgumentParser, words: Sequence[str]) -> Namespace:
    """As parse_args(), with KEY=VALUE also after options, where argparse takes no more of them."""
    arguments, rest = parser.parse_known_args(words)
    takes = next((name for name in ("overrides", "budgets") if hasattr(arguments, name)), None)
    if rest and (takes is None or not all(re.match(r"[a-z][\w.]*=", word) for word in rest)):
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    if takes is not None:
        getattr(arguments, takes).extend(rest)
    return arguments


def _complain(sentence: str, words: Sequence[str], code: int) -> int:
    print(f"kernel-scientist: {sentence}", file=sys.stderr)
    if AS_JSON in words:
        print(json.dumps({"error": sentence}))
    return code


def _wrong_usage() -> tuple[type[Exception], ...]:
    from engine.cli.evaluate import NoSuchKernel
    from engine.config_errors import ConfigError
    from engine.findings.reader import FindingsError
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
    )


def _failures() -> tuple[type[Exception], ...]:
    from engine.ending import CampaignFailed
    from evaluators.device_info import DeviceFault

    return (CampaignFailed, DeviceFault)


def _doctor(arguments: Namespace) -> int:
    """Look at this machine and say what is here, what is missing, and what to do about it.
    Exit code 1 when no campaign can run at all; with --device when a device failed a trial."""
    if arguments.device:
        return _try_device(arguments)
    if arguments.backend or arguments.section or arguments.out or arguments.emulate:
        raise UsageError("--backend, --section, --out and --emulate go with doctor --device")
    from engine.cli.backend_needs import find_lacks
    from engine.cli.doctor import examine
    from engine.cli.examined import print_findings

    findings = examine()
    if arguments.config is not None:
        from engine.cli.config_needs import (
            find_backend,
            find_forecast,
            find_memory,
            find_models,
            find_nodes,
        )
        from engine.config_file import load_config

        config = load_config(arguments.config)
        findings += [find_backend(config), *find_nodes(config), find_memory(config)]
        findings += [find_models(config), find_forecast(config)]
    return print_findings(
        findings,
        sys.stdout,
        as_json=arguments.json,
        lacks=find_lacks(),
        config=arguments.config,
    )


def _try_device(arguments: Namespace) -> int:
    from evaluators.acceptance.report import accept_device
    from evaluators.device_info import emulating

    if arguments.json or arguments.config is not None:
        raise UsageError("doctor --device writes a report of its own: leave out --json and CONFIG")
    out = arguments.out or Path("device-report.md")
    name = arguments.backend or ("hip" if arguments.emulate else None)
    try:
        with emulating(arguments.emulate, name or "", asked_by="doctor --emulate"):
            return accept_device(name, out, sys.stdout, only=arguments.section)
    except OSError as error:
        raise UsageError(f"{out} can't be written ({error.strerror}): name another") from None


# Each command imports what it needs when it runs: --help, evaluate and doctor start at once.
COMMANDS: Mapping[str, Command] = {
    **CAMPAIGN_COMMANDS,
    **KERNEL_COMMANDS,
    **AUTHOR_COMMANDS,
    **JOB_COMMANDS,
    **LOOK_COMMANDS,
    **STEER_COMMANDS,
    "doctor": _doctor,
}


if __name__ == "__main__":
    sys.exit(main())
