"""Problems read from tables: one file, or a folder of one task."""

import os
from pathlib import Path

from scripts.search.foreign import foreign
from scripts.search.outputs import reason_of
from scripts.search.problem import Problem
from scripts.search.recorded import recorded
from scripts.search.table import Table, TableError


def problem_of(path: Path) -> Problem:
    """A T4 file, or a folder of those that were recorded of one task on one device.

    Raises TableError.
    """
    if not os.path.isdir(path):
        table = Table.read(path)
        return recorded(path, [table]) if _is_recorded(table) else foreign(path, table)
    try:
        names = sorted(os.listdir(path))
    except OSError as error:
        raise TableError(f"{path} can't be read: {reason_of(error)}") from None
    files = [path / name for name in names if name.endswith((".T4.json", ".T4.json.gz"))]
    if not files:
        raise TableError(f"{path} holds no table (*.T4.json, *.T4.json.gz)")
    tables = [Table.read(file) for file in files]
    if not all(map(_is_recorded, tables)):
        raise TableError(f"{path}: only tables of scripts/record_table.py are searched together")
    return recorded(path, tables)


def _is_recorded(table: Table) -> bool:
    """By scripts/record_table.py; others' may name a kernel or a task too."""
    return "naive_us" in table.metadata or "/*---" in str(table.metadata.get("kernel"))
