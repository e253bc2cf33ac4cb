"""Tables: measured points of kernels' spaces, in the T4 format of the auto-tuning community.

T4 is described by the FAIR Benchmark Hub for Auto-Tuning (DOI 10.5281/zenodo.15364124).
"""

import gzip
import json
import os
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from evaluators.spelling import shortened
from scripts.search.outputs import reason_of
from scripts.search.row import TIME, Row, TableError, Value, row_of

__all__ = ["TIME", "Row", "Table", "TableError", "Value", "stem"]

SCHEMA = "1.0.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """metadata: what the file says besides; of a table that was recorded here the keys of
    scripts/record_table.py."""

    name: str
    rows: Sequence[Row]
    metadata: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path, *, begun: bool = False) -> Self:
        """Rows of the same parameters that differ in a value, one with a time at least where the
        recording is not merely begun. Raises TableError."""
        tree = _tree(path)
        if not isinstance(tree, dict) or not isinstance(tree.get("results"), list):
            raise TableError(f"{path} has no list 'results': it is no T4 file")
        metadata = tree.get("metadata") or {}
        if not isinstance(metadata, dict):
            raise TableError(f"{path}: its 'metadata' is no mapping")
        numbered = enumerate(tree["results"], start=1)
        rows = [row for number, raw in numbered if (row := row_of(str(path), number, raw))]
        if not begun and not any(row.times_ms for row in rows):
            raise TableError(f"{path} has no point with a time")
        _require_points(path, rows)
        return cls(name=stem(path), rows=rows, metadata=metadata)

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


def stem(path: Path) -> str:
    """Its name without what all tables' names end in."""
    return path.name.removesuffix(".gz").removesuffix(".json").removesuffix(".T4")


def _tree(path: Path) -> Any:
    """What the file holds, as JSON. Raises TableError."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise TableError(f"{path} is missing: name a T4 file (*.json or *.json.gz)") from None
    except OSError as error:
        raise TableError(f"{path} can't be read: {reason_of(error)}") from None
    try:
        return json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except gzip.BadGzipFile:
        raise TableError(f"{path} is named *.gz and is not gzip, or is damaged") from None
    except (EOFError, zlib.error):
        raise TableError(f"{path} is damaged: it can't be decompressed; copy it again") from None
    except UnicodeDecodeError:
        raise TableError(f"{path} is not UTF-8 text; name a T4 file (*.json, *.json.gz)") from None
    except RecursionError:
        raise TableError(f"{path} is nested too deeply: it is no T4 file") from None
    except ValueError as error:
        raise TableError(f"{path} is not JSON: {error}; name a T4 file") from None


def _require_points(path: Path, rows: Sequence[Row]) -> None:
    """Raises TableError."""
    names = rows[0].configuration.keys() if rows else ()
    first: dict[tuple[Value, ...], int] = {}
    for row in rows:
        if row.configuration.keys() != names:
            raise TableError(
                f"{path}: its points differ in the names of their parameters: results "
                f"{rows[0].number} and {row.number}"
            )
        point = tuple(row.configuration[name] for name in names)
        if point in first:
            raise TableError(
                f"{path}: results {first[point]} and {row.number} are of one configuration, "
                f"{shortened(str(dict(row.configuration)), 100)}: keep one"
            )
        first[point] = row.number
    for name in names:
        if len({isinstance(row.configuration[name], bool) for row in rows}) > 1:
            raise TableError(f"{path}: {name!r} is true or false in some results, not in others")
