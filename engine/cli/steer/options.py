"""The options of the commands that steer a campaign."""

from pathlib import Path

from engine.cli.look.options import Add, add_run_dir


def add_steer_commands(add: Add) -> None:
    add_run_dir(add("pause", "let a campaign that runs rest, until 'resume' lets it go on"))
    inject = add("inject", "give a campaign a kernel or an idea of your own")
    add_run_dir(inject)
    inject.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="a kernel file, or an idea in words (.md), which a model writes a kernel for",
    )
    inject.add_argument("--island", type=int, metavar="N", help="which takes it (each in turn)")
    inject.add_argument(
        "--wait", action="store_true", help="wait until it is measured, and print its verdict"
    )
