"""What doctor found, as it is printed."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
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
    findings: Sequence[Finding], stream: IO[str], *, as_json: bool, lacks: Sequence[Lack] = ()
) -> int:
    """The exit code: 1 when something is broken."""
    broken = [one for one in findings if one.state == "broken"]
    if as_json:
        values = {"ready": not broken, "findings": [asdict(one) for one in findings]}
        print(json.dumps({**values, "lacks": [*map(asdict, lacks)]}, indent=2), file=stream)
    else:
        for line in _lines(findings, lacks):
            print(line, file=stream)
    return 1 if broken else 0


def _lines(findings: Iterable[Finding], lacks: Iterable[Lack]) -> Iterator[str]:
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
        yield f"No campaign can run before this is mended: {', '.join(broken)}."
    else:
        yield "Campaigns can run here: kernel-scientist run configs/quickstart.yaml"
