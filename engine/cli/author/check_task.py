"""What is wrong with a task, by how much it matters; for a person or a script."""

import json
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict
from typing import IO, Any

from evaluators.authoring.examining.costs import GIB, Need
from evaluators.authoring.examining.examine import Examined, examine
from evaluators.authoring.examining.finding import SEVERITIES, Severity

_TITLES: dict[Severity, str] = {
    "wrong": "must be mended",
    "weak": "weak: a wrong kernel may win, or a right one be refused",
    "note": "to know",
}


def check_task(arguments: Namespace, stream: IO[str]) -> bool:
    """Print the findings; whether nothing must be mended. Raises TaskError, BackendMissing."""

    def watching(what: str) -> None:
        if not arguments.json and sys.stderr.isatty():
            print(f"\r\x1b[K{what} ...", end="", file=sys.stderr, flush=True)

    found = examine(arguments.task, arguments.backend, most=arguments.mutants, watching=watching)
    if not arguments.json and sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    if arguments.json:
        print(json.dumps(_values(found), indent=2, ensure_ascii=False), file=stream)
    else:
        for line in _lines(found):
            print(line, file=stream)
    return found.fine


def _values(found: Examined) -> dict[str, Any]:
    return {
        "task": found.task,
        "backend": found.backend,
        "fine": found.fine,
        "findings": [asdict(one) for one in found.findings],
        "broken_seeds": [
            {
                "kind": one.mutant.kind,
                "line": one.mutant.line,
                "change": one.mutant.change,
                "fate": one.fate,
                "reason": one.reason,
            }
            for one in found.trials
        ],
        "needs": [asdict(one) for one in found.needs],
    }


def _lines(found: Examined) -> Iterator[str]:
    for severity in SEVERITIES:
        own = [one for one in found.findings if one.severity == severity]
        if own:
            yield f"{_TITLES[severity]}:"
        for one in own:
            yield f"  {one.part}: {one.found}"
            if one.advice:
                yield f"      {one.advice}"
    yield from _needs(found.needs)
    counts = {s: sum(one.severity == s for one in found.findings) for s in SEVERITIES}
    if not found.fine:
        what = "1 thing" if counts["wrong"] == 1 else f"{counts['wrong']} things"
        yield f"{found.task}: {what} must be mended"
    elif counts["weak"]:
        what = "1 weak place" if counts["weak"] == 1 else f"{counts['weak']} weak places"
        yield f"{found.task}: fine to run, with {what}"
    else:
        yield f"{found.task}: fine"


def _needs(needs: list[Need]) -> Iterator[str]:
    if not needs:
        return
    yield "what a benchmark needs:"
    width = max(len(one.label) for one in needs)
    for one in needs:
        about = "~" if one.estimated else " "
        yield (
            f"  {one.label:{width}}  {one.where:5} arguments {_size(one.device_bytes)}, "
            f"reference {about}{one.reference_s:.2g} s and {about.strip()}{_size(one.host_bytes)} "
            "on the host"
        )


def _size(nbytes: float) -> str:
    if nbytes >= GIB:
        return f"{nbytes / GIB:.1f} GiB"
    return f"{nbytes / (1 << 20):.3g} MiB"
