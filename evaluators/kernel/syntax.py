"""Syntax trees of a kernel's C++, for all who read one: tree-sitter's, without HIP's own words."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import tree_sitter
import tree_sitter_cpp

_BLANKED = re.compile(
    rb"^[ \t]*#.*$|\b(?:__(?:global|device|host|constant|managed|shared)__|__forceinline__"
    rb"|__noinline__|__extension__)\b|\b(?:__launch_bounds__|__attribute__|__align__|alignas)\s*(?=\()",
    re.MULTILINE,
)


def blanked(data: bytes) -> tuple[bytearray, list[tuple[int, str]]]:
    """The text with blanks where words stood that a C++ parser does not know, all else in its
    place; and these words, with their offsets. Directives have no word."""
    words: list[tuple[int, str]] = []
    blank = bytearray(data)
    for found in _BLANKED.finditer(data):
        start, end = found.span()
        word = found[0].split()[0].split(b"(")[0].decode() if found[0].strip() else ""
        if data[end : end + 1] == b"(":
            if _inside_struct(data, start):
                continue
            end = _closing(data, end)
        words.append((start, word))
        blank[start:end] = re.sub(rb"[^\n]", b" ", data[start:end])
    return blank, words


def parsed(text: bytearray) -> Any:
    """The root. In a < b >> c the parser takes a<b> for a template: such a shift is shown to it
    as one to the left, which binds alike."""
    root = _parser().parse(bytes(text)).root_node
    while shifts := [*_misread_shifts(root)]:
        for at in shifts:
            text[at : at + 2] = b"<<"
        root = _parser().parse(bytes(text)).root_node
    return root


def _closing(data: bytes, at: int) -> int:
    depth = 0
    for i in range(at, len(data)):
        if data[i] == 40:
            depth += 1
        elif data[i] == 41:
            depth -= 1
            if depth == 0:
                return i + 1
    return len(data)


def _inside_struct(data: bytes, start: int) -> bool:
    """struct alignas(16) name: there the alignment is part of the type."""
    return data[:start].rstrip().endswith((b"struct", b"class", b"union"))


def _misread_shifts(root: Any) -> Iterator[int]:
    """Where comparisons begin whose left operand ends in the > that stands before theirs."""
    stack = [root]
    while stack:
        node = stack.pop()
        stack.extend(node.children)
        operator = node.child_by_field_name("operator")
        if node.type == "binary_expression" and operator.type == ">":
            left = node.child_by_field_name("left")
            if left.end_byte == operator.start_byte and left.text.endswith(b">"):
                yield left.end_byte - 1


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
