"""Writes docs/configuration.md: every key of a configuration, from the models that read it.

python -m scripts.docs.config_reference
"""

import inspect
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from engine.config import CampaignConfig
from operators.llm.question import Role

PAGE = Path(__file__).resolve().parents[2] / "docs" / "configuration.md"

HEAD = """# Configuration

This page is generated from `engine/config.py`, `engine/config_sections.py`, \
`engine/config_learning.py`, `engine/stopping/config.py` and `engine/llm/config.py` by \
`python -m scripts.docs.config_reference`. A change belongs there.

A configuration is a YAML file. It lists only what differs from the defaults; `task` alone must be \
there. A command overrides single keys by their dotted names, as in \
`kernel-scientist run configs/quickstart.yaml task=softmax operators.0.crossover=0`. An unknown \
key is an error that names the nearest known one. [`configs/`](../configs) holds examples.

A campaign keeps the configuration it began with. `resume` can change keys of the sections \
`budgets` and `stop`, and no others.
"""

ROLES = f"Roles are {', '.join(f'`{role}`' for role in get_args(Role))}."

WORDS: Mapping[Any, str] = {
    bool: "`true` or `false`",
    int: "whole number",
    float: "number",
    str: "text",
    Path: "path",
    Role: "role",
    Any: "anything",
}


def page() -> str:
    """The whole of docs/configuration.md."""
    sections = {
        name: found
        for name, info in CampaignConfig.model_fields.items()
        if (found := section_in(info.annotation)) is not None
    }
    plain = [name for name in CampaignConfig.model_fields if name not in sections]
    parts = [HEAD, "## The campaign\n", _table("", CampaignConfig, plain)]
    for name, section in sections.items():
        parts += _section(name, section)
    return "\n".join(parts)


def section_in(annotation: Any) -> type[BaseModel] | None:
    """The model that an annotation holds, as in Llm | None, tuple[OperatorMix, ...]."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(section_in, get_args(annotation))), None)


def _section(name: str, section: type[BaseModel]) -> Iterator[str]:
    listed = get_origin(CampaignConfig.model_fields[name].annotation) is tuple
    yield f"## `{name}`\n"
    about = inspect.cleandoc(section.__doc__ or "").replace("\n", " ")
    yield f"{about} {ROLES}\n" if _names_roles(section) else f"{about}\n"
    inner = {key: found for key, info in section.model_fields.items() if (found := _of(info))}
    prefix = f"{name}.0." if listed else f"{name}."
    yield _table(prefix, section, list(section.model_fields))
    for key, found in inner.items():
        yield f"### `{prefix}{key}.NAME`\n"
        yield inspect.cleandoc(found.__doc__ or "").replace("\n", " ") + "\n"
        yield _table(f"{prefix}{key}.NAME.", found, list(found.model_fields))


def _of(info: FieldInfo) -> type[BaseModel] | None:
    return section_in(info.annotation)


def _names_roles(section: type[BaseModel]) -> bool:
    return any(Role in get_args(info.annotation) for info in section.model_fields.values())


def _table(prefix: str, section: type[BaseModel], keys: list[str]) -> str:
    rows = ["| key | value | default | meaning |", "| --- | --- | --- | --- |"]
    for key in keys:
        info = section.model_fields[key]
        cells = (f"`{prefix}{key}`", _value(info), _default(info), _meaning(info))
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def _meaning(info: FieldInfo) -> str:
    return " ".join((info.description or "").split())


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.default
    text = str(value) if isinstance(value, Path) else json.dumps(value)
    return "empty" if value == "" else f"`{text.strip(chr(34))}`"


def _value(info: FieldInfo) -> str:
    value = " ".join(filter(None, (_kind(info.annotation), _bounds(info.metadata))))
    return f"{value}, or null" if NoneType in get_args(info.annotation) else value


def _kind(annotation: Any) -> str:
    """A type in words."""
    if annotation in WORDS:
        return WORDS[annotation]
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return " ".join(filter(None, (_kind(inside[0]), _bounds(inside[1:]))))
    if origin is Literal:
        *others, last = (f"`{word}`" for word in inside)
        return f"{', '.join(others)} or {last}"
    if origin in (UnionType, Union):
        return " or ".join(_kind(one) for one in inside if one is not NoneType)
    if origin is tuple:
        return "list of " + re.sub("number|text|path", r"\g<0>s", _kind(inside[0]), count=1)
    if section_in(annotation) is not None:
        return "mapping of names, see below"
    key, value = inside
    return "mapping" if value is Any else f"mapping of {_kind(key)} to {_kind(value)}"


def _bounds(metadata: Any) -> str:
    said = []
    for one in metadata:
        match one:
            case FieldInfo():
                said.append(_bounds(one.metadata))
            case Ge():
                said.append(f"from {one.ge}")
            case Gt():
                said.append(f"above {one.gt}")
            case Le():
                said.append(f"to {one.le}")
            case _:
                pass  # patterns and lengths: an error tells of them
    return ", ".join(said)


def main() -> int:
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
