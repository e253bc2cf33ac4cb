"""Objects in a model's text: JSON, YAML, or lines that are nearly YAML; fenced or not."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evaluators.lined_yaml import YamlError, load_words
from operators.llm.fences import fences

DEEPEST = 4
"""Levels that are looked into for the keys that were asked for."""


@dataclass(frozen=True)
class Shape:
    """The keys of an object, and of the items of its one list: spelling -> name.

    items: the name of that list; empty where there is none.
    """

    keys: Mapping[str, str]
    items: str = ""
    item_keys: Mapping[str, str] | None = None

    @cached_property
    def names(self) -> Mapping[str, str]:
        return {**self.keys, **(self.item_keys or {})}

    @cached_property
    def key_line(self) -> re.Pattern[str]:
        """A line that begins with a key, whatever decorates it: `- **Base ID**: ...`."""
        spellings = sorted(self.names, key=len, reverse=True)
        any_key = "|".join(spelling.replace("_", "[ _-]?") for spelling in spellings)
        return re.compile(
            r"(?P<lead>[ \t]*(?:(?:[-*+•]|#{1,6}|\d{1,3}[.)])[ \t]+){0,2})"
            rf"[*_`\"']{{0,3}}(?P<key>{any_key})[*_`\"']{{0,3}}[ \t]{{0,3}}[:=][*_]{{0,3}}"
            r"[ \t]*(?P<value>.*)",
            re.IGNORECASE,
        )


def spelt(key: str) -> str:
    """ "**Basis-Code**" is basis_code."""
    return "_".join(re.findall(r"[a-z0-9]+", key.lower()))


def texts(text: str, shape: Shape) -> Iterator[str]:
    """Texts that may be the object, the likeliest first."""
    if _led_by_brace(text):
        yield text
    fenced = [fence.body for fence in fences(text)]
    yield from reversed(fenced)
    brace = _BRACE.search(text)
    key = _first_key(text, shape)
    if key >= 0 and not (brace and brace.start() < key):
        yield text[key:]
    if brace and not fenced:
        last = max(text.rfind("}"), text.rfind("]")) + 1
        yield text[brace.start() : last if last > brace.start() else len(text)]


_BRACE = re.compile(r"\[\s*\{|\{")


def _led_by_brace(text: str) -> bool:
    return text.lstrip().startswith(("{", "["))


def _first_key(text: str, shape: Shape) -> int:
    """Where the first line with a key begins; -1: nowhere."""
    place = 0
    for line in text.split("\n"):
        if shape.key_line.fullmatch(line):
            return place
        place += len(line) + 1
    return -1


def may_go_on(text: str) -> bool:
    """Whether nothing tells that the text is whole: YAML, other than JSON, has no end."""
    return not _led_by_brace(text)


def tree(text: str, shape: Shape) -> Any:
    """What the text holds, by the names of the keys: {} for an object that has none of them.
    None: there is no object.

    Raises ValueError with one sentence.
    """
    if _led_by_brace(text):
        found = _json(text.lstrip())
        empty: dict[str, Any] | None = {} if isinstance(found, dict) else None
        return within(found, shape) or empty
    try:
        found = within(load_words(text), shape)
        broken = None
    except YamlError as error:
        found, broken = None, error
    if found is None:
        found = _by_lines(text, shape)
    if found is None and broken is not None:
        raise ValueError(f"not valid YAML: {broken.reason} (line {broken.line})")
    return found


def _json(text: str) -> Any:
    """JSON, also with line breaks in its strings and prose after it; else what YAML makes of it:
    commas at the end, names without quotes."""
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except RecursionError:
        raise ValueError("not valid JSON: nested too deeply") from None
    except ValueError as error:
        try:
            return load_words(text)
        except YamlError:
            raise ValueError(f"not valid JSON: {error}") from None


# --- by keys ------------------------------------------------------------------------------------


def within(found: Any, shape: Shape, depth: int = 0) -> dict[str, Any] | None:
    """The first mapping in a tree with one of the keys, its keys by name; also a bare list of
    items. None: there is none."""
    if depth > DEEPEST:
        return None
    if isinstance(found, dict):
        named = _named(found, shape.keys)
        if named.keys() & set(shape.keys.values()):
            if shape.items in named:
                given = named[shape.items]
                named[shape.items] = _items(given, shape) or given
            return named
    if shape.items and (listed := _items(found, shape)):
        return {shape.items: listed}
    inner = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    for value in inner:
        if (deeper := within(value, shape, depth + 1)) is not None:
            return deeper
    return None


def _items(found: Any, shape: Shape) -> list[Any]:
    """A list of items, a mapping of them by numbers, or one alone; each by the names of its keys.

    Empty where nothing in it is an item; what is no item among others stays as it is.
    """
    keys = shape.item_keys or {}
    if isinstance(found, dict):
        alone = _named(found, keys)
        if len(alone.keys() & set(keys.values())) > 1:
            return [alone]
        found = list(found.values())
    if not isinstance(found, list):
        return []
    read = [_item(one, keys) for one in found]
    return [new or old for new, old in zip(read, found, strict=True)] if any(read) else []


def _item(found: Any, keys: Mapping[str, str]) -> dict[str, Any] | None:
    if not isinstance(found, dict):
        return None
    if len(found) == 1 and isinstance(inner := next(iter(found.values())), dict):
        found = inner  # such as "experiment_1: {...}"
    named = _named(found, keys)
    return named if named.keys() & set(keys.values()) else None


def _named(found: dict[Any, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    named: dict[str, Any] = {}
    for key, value in found.items():
        name = spelt(str(key)[:100])
        named.setdefault(keys.get(name, name), value)
    return named


# --- by lines -----------------------------------------------------------------------------------

_ENDS = re.compile(
    r"[ \t]*(?:`{3,}.*|~{3,}.*|-{3,}[ \t]*|#{1,6}[ \t].*"
    r"|[-*+ \t]{0,6}\**(?:experiment|option)[ _#]{0,2}\d{1,3}\**[ \t]*:?\**[ \t]*)",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"[|>][-+\d]{0,2}[ \t]*")
_LISTED = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]")


def _by_lines(text: str, shape: Shape) -> dict[str, Any] | None:
    """Keys and what follows each, up to the next: for what breaks YAML, a colon in a sentence or
    a star before it. A key that comes again begins the next item."""
    whole: dict[str, Any] = {}
    listed: list[dict[str, str]] = []
    for key, value in _fields(text, shape):
        if shape.item_keys and key in shape.item_keys:
            name = shape.item_keys[key]
            if not listed or name in listed[-1]:
                listed.append({})
            listed[-1][name] = value
        elif shape.keys[key] != shape.items:
            whole.setdefault(shape.keys[key], value)
    if listed:
        whole[shape.items] = listed
    return whole or None


def _fields(text: str, shape: Shape) -> Iterator[tuple[str, str]]:
    """Each key, as it is in the shape, and its text."""
    known = {name.replace("_", ""): name for name in shape.names}
    key, column = "", 0
    lines: list[str] = []
    filled = False  # there is something of the value
    closed = True  # nothing more belongs to the key
    for line in text.split("\n"):
        found = shape.key_line.fullmatch(line)
        if found is not None:
            if key:
                yield key, _value(lines)
            key, column = known[re.sub("[ _-]", "", found["key"].lower())], len(found["lead"])
            lines, filled, closed = [found["value"]], bool(found["value"].strip()), False
        elif _ENDS.fullmatch(line) or (filled and not lines[-1].strip() and _left(line, column)):
            closed = True
        elif not closed:
            lines.append(line)
            filled = filled or bool(line.strip())
    if key:
        yield key, _value(lines)


def _left(line: str, column: int) -> bool:
    """Whether a line that comes after an empty one is prose that belongs to no key."""
    blanks = len(line) - len(line.lstrip(" \t"))
    return bool(line.strip()) and blanks <= column and not _LISTED.match(line)


def _value(lines: Sequence[str]) -> str:
    first, *rest = lines
    kept = [] if _BLOCK.fullmatch(first) else [first.strip()]
    value = "\n".join([*kept, *(line.strip() for line in rest)]).strip()
    if value[:1] in ("'", '"') and (bare := value.rstrip(",")).endswith(value[0]):
        value = bare[1:-1] if len(bare) > 1 else value
    return value
