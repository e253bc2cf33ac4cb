"""The commands that deal with campaigns of a Ray cluster: what each does, and its exit code."""

import sys
from argparse import Namespace
from collections.abc import Mapping

from engine.cli.usage import Command


def _submit(arguments: Namespace) -> int:
    """Check a configuration, its task, budgets, the cluster's devices and the models' endpoints,
    then run it as a job on a Ray cluster, with the current folder (a checkout) as the job's code.
    The campaign's folder and MLflow's address are made absolute, because a job runs in a temporary
    copy of the code. Its output is followed to its end, unless --detach leaves it alone."""
    from engine.cli.jobs.submit import submit

    return submit(arguments, sys.stdout)


def _jobs(arguments: Namespace) -> int:
    """List the campaigns of a Ray cluster, the latest first, those that joined it by ray.address
    too: state, best, evaluations, what is left of the budgets, job, folder on its node."""
    from engine.cli.jobs.cluster import Cluster, address_from
    from engine.cli.jobs.table import list_jobs

    list_jobs(Cluster(address_from(arguments.address)), sys.stdout, as_json=arguments.json)
    return 0


def _logs(arguments: Namespace) -> int:
    """Print what a campaign's job wrote: its progress, and its result. With --follow until it
    ends: exit code 1, where it failed or was stopped."""
    from engine.cli.jobs.cluster import Cluster, address_from
    from engine.cli.jobs.follow import show_log

    cluster = Cluster(address_from(arguments.address))
    return show_log(
        cluster,
        arguments.name,
        sys.stdout,
        follow=arguments.follow,
        address=arguments.address,
    )


def _stop(arguments: Namespace) -> int:
    """End a campaign of a Ray cluster as a first Ctrl-C would: what is being measured is finished,
    the best is measured again, the report is written. It waits for that. With --now the campaign
    ends at once, as by a second Ctrl-C. Exit code 1: it does not run, failed, or was killed."""
    from engine.cli.jobs.cluster import Cluster, address_from
    from engine.cli.jobs.stop import stop

    cluster = Cluster(address_from(arguments.address))
    return stop(cluster, arguments.name, sys.stdout, now=arguments.now, address=arguments.address)


JOB_COMMANDS: Mapping[str, Command] = {
    "submit": _submit,
    "jobs": _jobs,
    "logs": _logs,
    "stop": _stop,
}
