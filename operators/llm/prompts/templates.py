"""The templates: Jinja beside this file, filled strictly, and their hash."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

FOLDER = Path(__file__).parent


def render(name: str, **values: Any) -> str:
    """The template of that name filled, with no two empty lines in a row."""
    return _tidy(_environment().get_template(f"{name}.md.j2").render(**values))


@cache
def templates_hash() -> str:
    """16 hex digits of all templates together: they include each other."""
    digest = hashlib.sha256()
    for path in sorted(FOLDER.glob("*.j2")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


@cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDER),
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
