"""The templates: Jinja beside this file, filled strictly, and their hash."""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

FOLDER = Path(__file__).parent

_folders: ContextVar[tuple[Path, ...]] = ContextVar("folders", default=(FOLDER,))


@contextmanager
def replaced_by(folder: Path) -> Iterator[None]:
    """Templates of a folder stand in for those of the same names, for what is rendered meanwhile.

    Each process reads a template once.
    """
    token = _folders.set((folder, FOLDER))
    try:
        yield
    finally:
        _folders.reset(token)


def render(name: str, **values: Any) -> str:
    """The template of that name filled, with no two empty lines in a row."""
    return _tidy(_environment(_folders.get()).get_template(f"{name}.md.j2").render(**values))


def templates_hash() -> str:
    """16 hex digits of all templates together: they include each other."""
    return _hash(_folders.get())


@cache
def _hash(folders: tuple[Path, ...]) -> str:
    """The first folder that has a template counts."""
    files = {path.name: path for folder in reversed(folders) for path in folder.glob("*.j2")}
    digest = hashlib.sha256()
    for _, path in sorted(files.items()):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _environment(folders: tuple[Path, ...]) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def _tidy(text: str) -> str:
    """No two empty lines in a row. (Edits are found whatever the blanks are.)"""
    lines: list[str] = []
    for line in text.splitlines():
        if line.strip() or (lines and lines[-1]):
            lines.append(line.rstrip())
    return "\n".join(lines).strip()
