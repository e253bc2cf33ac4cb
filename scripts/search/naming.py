"""Names of tables that are searched side by side: as short as they are told apart."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from scripts.search.row import TableError
from scripts.search.table import stem


def names_of(tables: Sequence[Path]) -> Mapping[Path, str]:
    """The file's or folder's name; before it as many of its folders as tell it from the others.

    Raises TableError where one is named twice.
    """
    files = Counter(table.resolve() for table in tables)
    for table in tables:
        if files[table.resolve()] > 1:
            raise TableError(f"{table} is named twice: once is enough")
    parts = _parts(tables)
    return {table: "/".join(own[-_depth(own, parts.values()) :]) for table, own in parts.items()}


def _parts(tables: Sequence[Path]) -> dict[Path, tuple[str, ...]]:
    """Folders and name; a.json and a.T4.json.gz of one folder keep their endings."""
    whole = {table: table.resolve() for table in tables}
    short = Counter(path.with_name(stem(path)) for path in whole.values())
    return {
        table: (
            *path.parent.parts,
            stem(path) if short[path.with_name(stem(path))] == 1 else path.name,
        )
        for table, path in whole.items()
    }


def _depth(own: tuple[str, ...], all_of_them: Collection[tuple[str, ...]]) -> int:
    """How many of its last parts no other has."""
    for depth in range(1, len(own)):
        if sum(other[-depth:] == own[-depth:] for other in all_of_them) == 1:
            return depth
    return len(own)
