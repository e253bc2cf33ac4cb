"""The options of the commands that deal with a cluster's jobs."""

import re
from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from engine.cli.look.options import Add


def add_job_commands(add: Add) -> None:
    submit = add("submit", "run a campaign as a job on a Ray cluster")
    submit.add_argument(
        "config", type=Path, metavar="CONFIG", help="a YAML file below the current folder"
    )
    submit.add_argument(
        "overrides",
        nargs="*",
        default=[],
        metavar="KEY=VALUE",
        help="change a key of the file: task=softmax, budgets.evaluations=200, tracking=none",
    )
    add_sending(submit)

    jobs = add("jobs", "list the campaigns of a Ray cluster")
    _add_address(jobs)
    jobs.add_argument("--json", action="store_true", help="print JSON")

    logs = add("logs", "print the output of a campaign that runs as a job")
    _add_name(logs)
    _add_address(logs)
    logs.add_argument("--follow", action="store_true", help="until it ends")

    stop = add("stop", "end a campaign of a Ray cluster in order, with result and report")
    _add_name(stop)
    _add_address(stop)
    stop.add_argument("--now", action="store_true", help="at once; 'resume --job' goes on")


def add_sending(command: ArgumentParser) -> None:
    """What is said of a job that is sent."""
    _add_address(command)
    command.add_argument(
        "--detach", action="store_true", help="leave the job running, and say how to look on"
    )
    command.add_argument(
        "--env",
        type=_variable,
        action="append",
        default=[],
        metavar="NAME",
        help="pass this environment variable to the job, too; may be given several times. Keys of "
        "models (api_key_env) are passed anyway. Values stand in no log",
    )
    command.add_argument(
        "--unseen-endpoints",
        action="store_true",
        help="send it without asking models' endpoints from here",
    )


def _add_address(command: ArgumentParser) -> None:
    command.add_argument(
        "--address",
        metavar="URL",
        help="the cluster's dashboard (default: RAY_API_SERVER_ADDRESS, else "
        "http://127.0.0.1:8265); with token authentication also set RAY_AUTH_MODE=token and "
        "RAY_AUTH_TOKEN",
    )


def _add_name(command: ArgumentParser) -> None:
    command.add_argument(
        "name", metavar="NAME", help="a campaign's name, or its job's, as 'jobs' shows them"
    )


def _variable(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", text):
        raise ArgumentTypeError(
            "give the name of a variable alone, never its value: it is read from the environment"
        )
    return text
