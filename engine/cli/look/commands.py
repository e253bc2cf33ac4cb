"""The commands whose subject is a campaign that is there already."""

import sys
from argparse import Namespace
from collections.abc import Mapping

from engine.cli.usage import FAILED, INTERRUPTED, OK, Command, UsageError


def _track(arguments: Namespace) -> int:
    """Tell MLflow everything about a campaign that it does not know yet, from the campaign's
    store: after its server was down, or for another server."""
    from engine.cli.look.track import catch_up
    from engine.cli.result import tracking_lines

    told = catch_up(arguments.run_dir, arguments.uri)
    if told.trouble:
        print(f"kernel-scientist: {told.trouble}", file=sys.stderr)
        return FAILED
    print("\n".join(tracking_lines(told.uri, told.page)))
    return OK


def _prompts(arguments: Namespace) -> int:
    """Print the messages that a model is sent in one of its roles, without sending them. Of a
    campaign: the last that were sent, or with --next those that are sent next, made by the code
    that sends them. Without one: with the naive seed and stand-ins, and the backend's device, which
    the messages describe."""
    from engine.cli.look.prompts import campaign_prompt, seed_prompt

    if arguments.run_dir is None:
        if arguments.task is None:
            raise UsageError("name a campaign with --run-dir, or a task with --task")
        if arguments.next or (arguments.island, arguments.cycle) != (None, None):
            raise UsageError("--island, --cycle and --next go with --run-dir")
        print(seed_prompt(arguments.task, arguments.role, arguments.backend))
        return OK
    if arguments.task is not None:
        raise UsageError("--run-dir has a task of its own: leave out --task")
    print(
        campaign_prompt(
            arguments.run_dir,
            arguments.role,
            island=arguments.island,
            cycle=arguments.cycle,
            next_one=arguments.next,
        )
    )
    return OK


def _report(arguments: Namespace) -> int:
    """Write a campaign's report, a page that needs nothing else: what was found, whether to
    believe it and why, how it came about, what it cost. The campaign may run, have ended, or have
    been killed."""
    from engine.cli.look.report import report_campaign
    from engine.commands import shown

    print(f"wrote {shown(report_campaign(arguments.run_dir, arguments.out))}")
    return OK


def _compare(arguments: Namespace) -> int:
    """Say which of several configurations is better, and whether that is shown: campaigns that
    differ only in their seeds, names, places and budgets are repetitions of one configuration. They
    are compared at equal evaluations, device seconds and dollars, each with a 95% interval over
    campaigns; with --remeasure their best kernels are timed again, side by side."""
    from engine.cli.look.compare import compare_campaigns

    return compare_campaigns(arguments, sys.stdout)


def _findings(arguments: Namespace) -> int:
    """Merge what several campaigns found: rules with their numbers, evidence on the same rule
    combined, and what contradicts. RUN is a campaign's folder or a file of findings; a campaign
    that has no such file is distilled from its store."""
    from engine.cli.look.findings import merge_campaigns

    merge_campaigns(arguments.runs, sys.stdout, out=arguments.out, as_json=arguments.json)
    return OK


def _runs(arguments: Namespace) -> int:
    """List the campaigns in a folder, the newest first: name, task, backend, whether it runs,
    ended or was killed, its best, how many evaluations, its age. Also while they run."""
    from engine.cli.look.runs import list_runs

    list_runs(arguments.folder, sys.stdout, as_json=arguments.json)
    return OK


def _watch(arguments: Namespace) -> int:
    """Look on while a campaign runs, from another terminal: what is left of its budgets, its best
    and the last improvements, verdicts, devices, models. It reads the store and needs no Ray;
    Ctrl-C ends it and not the campaign. Exit code 1: the campaign was killed, or failed."""
    from engine.cli.look.watch import watch

    try:
        return watch(arguments.run_dir, sys.stdout, once=arguments.once)
    except KeyboardInterrupt:
        print("kernel-scientist: no longer watching; the campaign goes on", file=sys.stderr)
        return INTERRUPTED


def _profile(arguments: Namespace) -> int:
    """Look at one kernel of a campaign (its best, unless another is named), or at a kernel file,
    with ncu on cuda, rocprofv3 on hip, on cpu with the compiler: what bounds it, and what to try.
    What was said, the tool's own tables among it, is kept in RUN/profiles/ and shown to MLflow.
    Exit code 1: there is no profile, and why."""
    from engine.cli.look.profile import profile_subject
    from engine.cli.look.subject import subject_of

    subject = subject_of(arguments.target, arguments.kernel, arguments.task, arguments.backend)
    found = profile_subject(
        subject,
        sys.stdout,
        shape=arguments.shape,
        out=arguments.out,
        as_json=arguments.json,
    )
    return OK if found else FAILED


LOOK_COMMANDS: Mapping[str, Command] = {
    "report": _report,
    "runs": _runs,
    "watch": _watch,
    "profile": _profile,
    "track": _track,
    "prompts": _prompts,
    "compare": _compare,
    "findings": _findings,
}
