"""Commands as a person types them, told where a campaign starts, stops or ends."""

import os
import shlex
import shutil
import sys
from pathlib import Path

from engine.stopping.targets import Reached
from engine.store.budget import Spent


def resume_command(run_dir: Path, over: Spent | Reached | None = None) -> str:
    """The command that goes on, and does something: over is the budget or target to raise."""
    more = [over.override] if over is not None else []
    return command("kernel-scientist", "resume", shown(run_dir), *more)


def command(name: str, *arguments: str) -> str:
    """A command line that works as it stands, also where .venv/bin is not on PATH."""
    if shutil.which(name) is None:
        name = shown(Path(sys.executable).parent / name)
    return shlex.join([name, *arguments])


def shown(path: Path) -> str:
    """Relative where that is shorter to type, and still right."""
    relative = os.path.relpath(path)
    return relative if not relative.startswith("..") else str(path)
