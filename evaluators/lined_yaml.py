"""YAML with lines: every key and item knows its own. No aliases, tags, duplicates or bombs."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import yaml
from yaml.composer import Composer
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from evaluators.spelling import shortened

MAX_CHARACTERS = 256 * 1024
MAX_DEPTH = 20
MAX_NUMBER_CHARACTERS = 100
MAX_BITS = 64


class YamlError(ValueError):
    """One sentence, and the line (from 1, in the text given) where it is wrong."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(reason)
        self.reason = shortened(reason)
        self.line = line


class LinedDict(dict[str, Any]):
    """A mapping with the line of each key, and its own."""

    line: int = 1

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}

    def line_of(self, key: str) -> int:
        return self.lines.get(key, self.line)


class LinedList(list[Any]):
    """A sequence with the line of each item, and its own."""

    line: int = 1

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[int] = []

    def numbered(self) -> Iterator[tuple[Any, int]]:
        """Each item with its line."""
        return zip(self, self.lines, strict=True)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a top-level key's value stands in the text, as character offsets."""

    start: int
    end: int
    block: bool  # written over lines of its own, not in braces


class _Checked(Composer):
    """Refuses aliases, tags and depth while nodes are composed from a parser's events."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[attr-defined]
        line = event.start_mark.line + 1
        if isinstance(event, yaml.AliasEvent):
            raise YamlError("YAML aliases are not allowed", line)
        if event.tag is not None:
            raise YamlError("YAML tags are not allowed: write the plain value", line)
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise YamlError("nested too deeply", line)
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


if yaml.__with_libyaml__:  # ten times faster than the parser in Python
    from yaml._yaml import CParser

    class _Loader(_Checked, CParser, SafeConstructor, Resolver):
        def __init__(self, text: str) -> None:
            CParser.__init__(self, text)
            _Checked.__init__(self)
            SafeConstructor.__init__(self)
            Resolver.__init__(self)

else:

    class _Loader(_Checked, yaml.SafeLoader):  # type: ignore[no-redef]
        pass


def _compose(text: str, most: int = MAX_CHARACTERS) -> tuple[_Loader, yaml.Node | None]:
    if len(text) > most:
        raise YamlError(f"longer than {most} characters", 1)
    try:
        loader = _Loader(text)
        return loader, loader.get_single_node()
    except YamlError:
        raise
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(f"not YAML: {error.problem}", mark.line + 1 if mark else 1) from None
    except yaml.YAMLError as error:
        raise YamlError(f"not YAML: {str(error).splitlines()[0]}", 1) from None
    except UnicodeError:
        raise YamlError("not YAML: the text is not UTF-8", 1) from None
    except (ValueError, OverflowError):  # of the parser in Python
        raise YamlError("not YAML: an escape or a directive holds no such number", 1) from None


def load(text: str, most: int = MAX_CHARACTERS) -> Any:
    """The document as LinedDict, LinedList, str, int, float, bool or None. most: characters that
    it may have. Raises YamlError."""
    loader, node = _compose(text, most)
    return None if node is None else _build(loader, node)


def load_words(text: str) -> Any:
    """The same with every value as it is spelt: 0012 stays "0012"; what is empty is None."""
    _, node = _compose(text)
    return None if node is None else _build(None, node)


@lru_cache(maxsize=64)  # a family's file is asked for at every draw of its parameters
def spans(text: str) -> Mapping[str, Span]:
    """Spans of the top-level mapping's values."""
    _, node = _compose(text)
    if not isinstance(node, yaml.MappingNode):
        return {}
    return {
        str(key.value): Span(value.start_mark.index, value.end_mark.index, not value.flow_style)
        for key, value in node.value
    }


def _build(loader: _Loader | None, node: yaml.Node) -> Any:
    """loader: constructs numbers and the like; without one they stay words."""
    line = node.start_mark.line + 1
    if isinstance(node, yaml.MappingNode):
        mapping = LinedDict()
        mapping.line = line
        for key_node, value_node in node.value:
            key = _build(loader, key_node)
            key_line = key_node.start_mark.line + 1
            if not isinstance(key, str):
                raise YamlError(f"key {key!r} is not text", key_line)
            if key in mapping:
                raise YamlError(f"key {key!r} stands twice", key_line)
            mapping[key] = _build(loader, value_node)
            mapping.lines[key] = key_line
        return mapping
    if isinstance(node, yaml.SequenceNode):
        sequence = LinedList()
        sequence.line = line
        for item in node.value:
            sequence.append(_build(loader, item))
            sequence.lines.append(item.start_mark.line + 1)
        return sequence
    return _scalar(loader, node, line)


def _scalar(loader: _Loader | None, node: yaml.Node, line: int) -> str | int | float | bool | None:
    """What a plain or quoted scalar stands for. Raises YamlError for dates and long numbers."""
    kind = node.tag.rpartition(":")[2]
    if loader is None:
        return None if kind == "null" else str(node.value)
    if kind == "str":
        return str(node.value)
    if kind not in ("null", "bool", "int", "float"):
        raise YamlError(f"{node.value!r} must be text or a number: quote what is text", line)
    if len(node.value) > MAX_NUMBER_CHARACTERS:  # before it is read, which may take a square of it
        raise YamlError(f"a number of more than {MAX_NUMBER_CHARACTERS} characters", line)
    try:
        value: int | float | bool | None = cast(Any, loader).construct_object(node)
    except ValueError:  # such as 0x_
        raise YamlError(f"{node.value!r} is not a value", line) from None
    if isinstance(value, int) and value.bit_length() > MAX_BITS:
        raise YamlError(f"a number beyond {MAX_BITS} bits", line)
    return value


def plain(value: Any) -> Any:
    """The same without lines, as dict and list, which other libraries know how to write."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, list) else value


class Reader(ABC):
    """Checks a loaded tree part by part; every complaint names a line."""

    @abstractmethod
    def fail(self, reason: str, line: int) -> Exception:
        """What is raised. line: in the text that was loaded."""

    def known_keys(
        self,
        tree: LinedDict,
        known: Collection[str],
        *,
        where: str = "",
        required: Collection[str] = (),
    ) -> None:
        """No key but the known ones, and all that are required. where: "in ...", for complaints."""
        for key, line in tree.lines.items():
            if key not in known:
                place = f" {where}" if where else ""
                raise self.fail(f"unknown key {key!r}{place} (known: {', '.join(known)})", line)
        for key in required:
            if key not in tree:
                raise self.fail(f"the key {key!r} is missing", tree.line)

    def mapping(self, tree: LinedDict, key: str) -> LinedDict:
        """The mapping under the key; an empty one where the key is missing."""
        value = tree.get(key)
        if value is None:
            value = LinedDict()
            value.line = tree.line_of(key)
        if not isinstance(value, LinedDict):
            raise self.fail(f"{key!r} must be a mapping", tree.lines[key])
        return value

    def sequence(
        self, tree: LinedDict, key: str, *, least: int = 0, most: int | None = None
    ) -> LinedList:
        """The list under the key, of least (0 or 1) to most items."""
        value = tree.get(key)
        if value is None and not least:
            return LinedList()
        if not isinstance(value, LinedList) or len(value) < least:
            some = " with at least one entry" if least else ""
            raise self.fail(f"{key!r} must be a list{some}", tree.line_of(key))
        if most is not None and len(value) > most:
            raise self.fail(f"{key!r} has {len(value)} entries (limit {most})", tree.lines[key])
        return value

    def one_of(self, value: Any, known: Collection[str], what: str, line: int) -> str:
        """The value, when it is one of the words."""
        if not isinstance(value, str) or value not in known:
            raise self.fail(f"{what} {value!r} is not one of {', '.join(known)}", line)
        return value
