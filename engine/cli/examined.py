"""What doctor found, as it is printed."""

import json
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Literal

from engine.cli.backend_needs import Lack, lack_lines

State = Literal["ok", "absent", "broken"]
"""absent: needed only for what the finding names; broken: no campaign can run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing looked at. todo: one sentence; empty when there is nothing to do."""

    what: str
    state: State
    found: str
    todo: str = ""


def print_findings(
    findings: Sequence[Finding],
    stream: IO[str],
    *,
    as_json: bool,
    lacks: Sequence[Lack] = (),
    config: Path | None = None,
) -> int:
    """The exit code: 1 when something is broken. config: the one that was looked at."""
    broken = [one for one in findings if one.state == "broken"]
    if as_json:
        values = {"ready": not broken, "findings": [asdict(one) for one in findings]}
        print(json.dumps({**values, "lacks": [*map(asdict, lacks)]}, indent=2), file=stream)
    else:
        for line in _lines(findings, lacks, config):
            print(line, file=stream)
    return 1 if broken else 0


def _lines(
    findings: Iterable[Finding], lacks: Iterable[Lack], config: Path | None
) -> Iterator[str]:
    marks: Mapping[State, str] = {"ok": "ok  ", "absent": "--  ", "broken": "FAIL"}
    broken = []
    for one in findings:
        yield f"{marks[one.state]}  {one.what:16}  {one.found}"
        if one.todo:
            yield f"{'':24}{one.todo}"
        if one.state == "broken":
            broken.append(one.what)
    yield from lack_lines(lacks)
    yield ""
    if broken:
        what = f"{config} can't run" if config else "No campaign can run"
        yield f"{what} before this is mended: {', '.join(broken)}."
    else:
        run = shlex.quote(str(config)) if config else "configs/quickstart.yaml"
        yield f"Campaigns can run here: kernel-scientist run {run}"
