"""One process life of a campaign, with what it shows of itself written down; may be killed.

python -m scripts.llm_loop.driver CONFIG.json SAMPLES.jsonl [--resume RUN]
"""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from engine.campaign import resume_campaign, run_campaign
from engine.cli.progress import PlainLines
from engine.config import parse_config
from engine.snapshot import Snapshot

EVERY_S = 1.0


class Samples:
    """Appends a snapshot a second, and every line that a person would be shown."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._last = 0.0
        self._lines = PlainLines(self._line)

    def __call__(self, snapshot: Snapshot) -> None:
        self._lines(snapshot)
        if time.monotonic() - self._last >= EVERY_S:
            self._last = time.monotonic()
            self._write({"at": time.time(), "snapshot": asdict(snapshot)})

    def _line(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)
        self._write({"at": time.time(), "line": line})

    def _write(self, what: dict[str, object]) -> None:
        with self._file.open("a") as file:
            file.write(json.dumps(what, default=str) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config", type=Path)
    parser.add_argument("samples", type=Path)
    parser.add_argument("--resume", type=Path, metavar="RUN")
    given = parser.parse_args()
    observer = Samples(given.samples)
    if given.resume is not None:
        resume_campaign(given.resume, observer=observer)
    else:
        values = json.loads(given.config.read_text())
        run_campaign(parse_config(values, where=str(given.config)), observer=observer)


if __name__ == "__main__":
    main()
