"""What Ray wants to tell a driver's terminal, in a file instead."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray


def to_file(path: Path) -> None:
    """From now on Ray's paragraphs, such as "(raylet) A worker died", are appended to path.

    ray.init() has no option for them: log_to_driver is about the output of workers, and these
    are printed by ray._private.worker.listen_error_messages (Ray 2.60).
    """

    def write(data: Mapping[str, Any], ignore_prefix: bool) -> None:
        with path.open("a", encoding="utf-8") as stream:
            stream.writelines(f"{line}\n" for line in data["lines"])

    ray._private.worker.print_to_stdstream = write
