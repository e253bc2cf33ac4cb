"""Recorded replies of a task, read from its folder: experiments, and kernels written to them."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from operators.llm.fences import fences

REPLIES = Path(__file__).with_name("replies")
_PART = re.compile(r"^%%% (experiment|reply|again) ?(.*)\n", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One experiment as a designer said it, and the replies of a writer to it.

    first: the reply that comes first; flaw: what is wrong with it, empty where it is sound.
    sound: the kernel file that is right in the end; report: what is said of it.
    """

    technique: str
    family: str
    said: Mapping[str, Any]
    first: str
    flaw: str
    sound: str
    report: str

    @property
    def code(self) -> str:
        """The sound kernel without its front matter, which parameters change."""
        return self.sound.partition("---*/")[2]


def tasks() -> list[str]:
    """Those with recorded replies."""
    return sorted(folder.name for folder in REPLIES.iterdir() if folder.is_dir())


@cache
def recordings(task: str) -> tuple[Recording, ...]:
    """All of a task's, in the order of its files."""
    found: list[Recording] = []
    for file in sorted((REPLIES / task).glob("*.md")):
        found += _read(file.read_text(), file.stem)
    return tuple(found)


def _read(text: str, family: str) -> Iterator[Recording]:
    parts = _PART.split(text)[1:]
    steps = [tuple(parts[i : i + 3]) for i in range(0, len(parts), 3)]
    for place, (kind, technique, body) in enumerate(steps):
        if kind != "experiment":
            continue
        _, flaw, first = steps[place + 1]
        again = steps[place + 2 : place + 3]
        last = again[0][2] if again and again[0][0] == "again" else first
        yield Recording(
            technique=technique,
            family=family,
            said=yaml.safe_load(body),
            first=first.strip() + "\n",
            flaw=flaw,
            sound=fences(last)[0].body,
            report=last.partition("## Report\n")[2].strip(),
        )
