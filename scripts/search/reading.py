"""Problems read from tables: one file, or a folder of one task."""

from pathlib import Path

from scripts.search.foreign import foreign
from scripts.search.problem import Problem
from scripts.search.recorded import recorded
from scripts.search.table import Table, TableError


def problem_of(path: Path) -> Problem:
    """A T4 file, or a folder of those that were recorded of one task on one device.

    Raises TableError.
    """
    if not path.is_dir():
        table = Table.read(path)
        return recorded(path, [table]) if "kernel" in table.metadata else foreign(path, table)
    files = sorted((*path.glob("*.T4.json"), *path.glob("*.T4.json.gz")))
    if not files:
        raise TableError(f"{path} holds no table (*.T4.json, *.T4.json.gz)")
    tables = [Table.read(file) for file in files]
    if any("kernel" not in table.metadata for table in tables):
        raise TableError(f"{path}: only tables of scripts/record_table.py are searched together")
    return recorded(path, tables)
