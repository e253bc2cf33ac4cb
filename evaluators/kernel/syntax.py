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

_POINTERS = ("abstract_pointer_declarator", "abstract_reference_declarator")


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
    """The root. What the parser would misread is shown to it in other words of the same meaning."""
    root = _parser().parse(bytes(text)).root_node
    while misread := [*_misread(root)]:
        for at, shown in misread:
            text[at : at + len(shown)] = shown
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


def _misread(root: Any) -> Iterator[tuple[int, bytes]]:
    """Offsets, and what to show there."""
    for node in _nodes(root):
        if node.type == "binary_expression":
            yield from _shift(node)
        elif node.type == "cast_expression":
            yield from _logical_and(node)
        elif node.type == "call_expression":
            yield from _comparisons(node, root)


def _shift(node: Any) -> Iterator[tuple[int, bytes]]:
    """In a < b >> c the parser takes a<b> for a template, which it compares with c. A shift to the
    left binds alike."""
    left, operator = node.child_by_field_name("left"), node.child_by_field_name("operator")
    if operator.type == ">" and left.end_byte == operator.start_byte and left.text.endswith(b">"):
        yield left.end_byte - 1, b"<<"


def _logical_and(cast: Any) -> Iterator[tuple[int, bytes]]:
    """In a < (b) && c the parser takes b for a type, to which it casts the address of &c. Without
    the parentheses it can't; in (b * (d)) && c they are those of d, a parameter in its eyes."""
    if not cast.child_by_field_name("value").text.startswith(b"&&"):
        return
    enclosing = cast
    declarator = cast.child_by_field_name("type").child_by_field_name("declarator")
    while declarator is not None and declarator.type in _POINTERS:
        declarator = next(iter(declarator.named_children), None)
        enclosing = declarator and declarator.child_by_field_name("parameters")
    for one in enclosing.children if enclosing else ():
        if one.type in ("(", ")"):
            yield one.start_byte, b" "


def _comparisons(call: Any, root: Any) -> Iterator[tuple[int, bytes]]:
    """In a < b && c > (d) the parser takes a<b && c> for a function. Less binds as greater does."""
    function = call.child_by_field_name("function")
    if function.type == "field_expression":
        function = function.child_by_field_name("field")
    if function.type not in ("template_function", "template_method"):
        return
    arguments = function.child_by_field_name("arguments")
    if len(arguments.named_children) != 1 or not _is_condition(arguments.named_children[0]):
        return
    if not _declares_template(root, function.child_by_field_name("name").text):
        yield arguments.end_byte - 1, b"<"


def _is_condition(node: Any) -> bool:
    operator = node.child_by_field_name("operator")
    logical = operator is not None and operator.type in ("&&", "||")
    return logical or node.type == "conditional_expression"


def _declares_template(root: Any, name: bytes) -> bool:
    """Whether a template of this text has the name."""
    return any(
        re.search(rb"\b" + name + rb"\s*\(", one.text)
        for one in _nodes(root)
        if one.type == "template_declaration"
    )


def _nodes(root: Any) -> Iterator[Any]:
    stack = [root]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(node.children)


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))
