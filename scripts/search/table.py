"""Tables: measured points of kernels' spaces, in the T4 format of the auto-tuning community.

T4 is described by the FAIR Benchmark Hub for Auto-Tuning (DOI 10.5281/zenodo.15364124).
"""

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from evaluators.evaluation import Status

SCHEMA = "1.0.0"
TIME = "time"
"""The measurement that others' tables have: the mean, in milliseconds. Tables that were recorded
here have one for each shape besides, named by its label."""

INVALIDITY: Mapping[Status, str] = {
    Status.PASSED: "correct",
    Status.STOPPED_EARLY: "timeout",
    Status.INVALID: "constraints",
    Status.UNSUPPORTED: "compile",
    Status.COMPILE_ERROR: "compile",
    Status.LAUNCH_ERROR: "runtime",
    Status.WRONG: "correctness",
    Status.FORBIDDEN: "runtime",
    Status.CRASHED: "runtime",
    Status.TIMEOUT: "timeout",
}
STATUS: Mapping[str, Status] = {
    "correct": Status.PASSED,
    "compile": Status.COMPILE_ERROR,
    "runtime": Status.LAUNCH_ERROR,
    "correctness": Status.WRONG,
    "timeout": Status.TIMEOUT,
}
"""Of a point; one that broke a restriction ("constraints") is no point of the space."""

Value = int | float | str | bool


class TableError(Exception):
    """A table can't be used. One sentence: which file, what is wrong, what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One configuration. times_ms: by measurement's name; empty where it did not pass. reason: why
    it did not, where that was recorded."""

    configuration: Mapping[str, Value]
    status: Status
    times_ms: Mapping[str, float] = field(default_factory=dict)
    compile_ms: float | None = None
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "configuration": dict(self.configuration),
            "invalidity": INVALIDITY[self.status],
            "measurements": [
                {"name": name, "value": value, "unit": "ms"}
                for name, value in self.times_ms.items()
            ],
            "times": {} if self.compile_ms is None else {"compilation": self.compile_ms},
            **({"reason": self.reason} if self.reason else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """metadata: what the file says besides; of a table that was recorded here the keys of
    scripts/record_table.py."""

    name: str
    rows: Sequence[Row]
    metadata: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises TableError."""
        try:
            raw = path.read_bytes()
            tree = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
        except FileNotFoundError:
            raise TableError(f"{path} is missing: name a T4 file (*.json or *.json.gz)") from None
        except (OSError, ValueError, EOFError) as error:
            raise TableError(f"{path} is not JSON: {error}; name a T4 file") from None
        if not isinstance(tree, dict) or not isinstance(tree.get("results"), list):
            raise TableError(f"{path} has no list 'results': it is no T4 file")
        rows = [one for one in (_row(path, number, raw) for number, raw in _numbered(tree)) if one]
        if not any(row.times_ms for row in rows):
            raise TableError(f"{path} has no point with a time")
        names = {tuple(sorted(row.configuration)) for row in rows}
        if len(names) > 1:
            raise TableError(f"{path}: its points differ in the names of their parameters")
        metadata = tree.get("metadata")
        return cls(
            name=path.name.removesuffix(".gz").removesuffix(".json").removesuffix(".T4"),
            rows=rows,
            metadata=metadata if isinstance(metadata, dict) else {},
        )

    def write(self, path: Path) -> None:
        """In one step; compressed where the name ends in .gz."""
        tree = {
            "schema_version": SCHEMA,
            "metadata": {"timeunit": "milliseconds", **self.metadata},
            "results": [row.as_json() for row in self.rows],
        }
        partial = path.with_name(path.name + ".partial")
        text = json.dumps(tree, separators=(",", ":"))
        if path.suffix == ".gz":
            partial.write_bytes(gzip.compress(text.encode(), mtime=0))
        else:
            partial.write_text(text)
        os.replace(partial, path)


def _numbered(tree: Mapping[str, Any]) -> Iterator[tuple[int, Any]]:
    return enumerate(tree["results"], start=1)


def _row(path: Path, number: int, raw: Any) -> Row | None:
    """None: it broke a restriction."""
    try:
        configuration = dict(raw["configuration"])
        invalidity = str(raw.get("invalidity", "correct"))
        measured = {str(one["name"]): one["value"] for one in raw.get("measurements") or ()}
    except (KeyError, TypeError, ValueError, AttributeError):
        raise TableError(
            f"{path}: result {number} lacks 'configuration', or 'measurements' with name and value"
        ) from None
    if invalidity == "constraints":
        return None
    times = {
        name: float(value)
        for name, value in measured.items()
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1e30
    }
    passed = invalidity == "correct" and TIME in times
    compile_ms = (raw.get("times") or {}).get("compilation")
    return Row(
        configuration=configuration,
        status=Status.PASSED if passed else _failure(invalidity),
        times_ms=times if passed else {},
        compile_ms=float(compile_ms) if isinstance(compile_ms, int | float) else None,
        reason=str(raw.get("reason", "")),
    )


def _failure(invalidity: str) -> Status:
    status = STATUS.get(invalidity, Status.CRASHED)
    return Status.CRASHED if status is Status.PASSED else status
