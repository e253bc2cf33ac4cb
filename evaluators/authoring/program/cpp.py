"""A whole program's text as a syntax tree, kernels and host code alike; offsets are the file's."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import tree_sitter
import tree_sitter_cpp

Node = tree_sitter.Node

_COMMENT_OR_LITERAL = re.compile(
    rb"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'", re.DOTALL
)
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\\\n]|\\\r?\n|\\.)*", re.MULTILINE)
_MARKER = re.compile(
    rb"\b(?:__(?:global|device|host|constant|managed|shared)__|__forceinline__|__noinline__"
    rb"|__restrict__|__restrict|__extension__|static|extern)\b"
)
_BOUNDS = re.compile(rb"\b(?:__launch_bounds__|__attribute__|__align__|alignas)\s*(?=\()")
_OPENING, _CLOSING = b"([{", b")]}"


@dataclass(frozen=True, slots=True)
class Directive:
    """A preprocessor's line, its continuations joined: text[start:end] is "#define N 4"."""

    start: int
    end: int
    word: str
    rest: str


@dataclass(frozen=True, slots=True)
class Chevrons:
    """What stands between <<< and >>>: data[start:end] with both of them."""

    start: int
    end: int


class Program:
    """The text, and its tree as a C++ parser reads it without what it does not know.

    data: the file's bytes, from which everything that is kept is cut. code: the same without
    comments and what literals hold. plain: code without markers, directives and chevrons too.
    """

    def __init__(self, text: str) -> None:
        self.data = text.encode()
        self.code = _COMMENT_OR_LITERAL.sub(_emptied, self.data)
        plain = bytearray(self.code)
        self.directives = tuple(_directives(self.code))
        for one in self.directives:
            _blank(plain, one.start, one.end)
        self.chevrons = tuple(_chevrons(bytes(plain)))
        for found in self.chevrons:
            _blank(plain, found.start, found.end)
        for marker in _MARKER.finditer(bytes(plain)):
            _blank(plain, *marker.span())
        for bounds in _BOUNDS.finditer(bytes(plain)):
            _blank(plain, bounds.start(), closing(self.code, bounds.end()))
        self.plain = bytes(plain)
        self.root = _parser().parse(self.plain).root_node

    def text(self, node: Node) -> str:
        return self.data[node.start_byte : node.end_byte].decode()

    def marked(self, start: int, end: int, word: str) -> bool:
        """Whether a marker such as __global__ stands in code[start:end]."""
        return re.search(rb"\b" + word.encode() + rb"\b", self.code[start:end]) is not None

    def line(self, at: int) -> int:
        return self.data.count(b"\n", 0, at) + 1


@cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))


def parsed_expression(text: str) -> Node | None:
    """The tree of one expression; None where it is none."""
    root = _parser().parse(f"auto v = ({text});".encode()).root_node
    found = next((n for n in walk(root) if n.type == "parenthesized_expression"), None)
    if found is None or root.has_error:
        return None
    return found.named_children[0] if found.named_children else None


def node_text(node: Node) -> str:
    return (node.text or b"").decode()


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the text."""
    stack = [node]
    while stack:
        one = stack.pop()
        yield one
        stack.extend(reversed(one.children))


def closing(code: bytes, at: int) -> int:
    """One past the bracket that closes the one at code[at]; the end where none does."""
    depth = 0
    for i in range(at, len(code)):
        if code[i : i + 1] in (b"(", b"[", b"{"):
            depth += 1
        elif code[i : i + 1] in (b")", b"]", b"}"):
            depth -= 1
            if depth == 0:
                return i + 1
    return len(code)


def split_arguments(code: bytes, start: int, end: int) -> list[tuple[int, int]]:
    """The places of what commas part in code[start:end], brackets and <...> of templates heeded."""
    parts: list[tuple[int, int]] = []
    depth = angles = 0
    begin = start
    for i in range(start, end):
        sign = code[i : i + 1]
        if sign in (b"(", b"[", b"{"):
            depth += 1
        elif sign in (b")", b"]", b"}"):
            depth -= 1
        elif sign == b"<" and _opens_template(code, i, end):
            angles += 1
        elif sign == b">" and angles:
            angles -= 1
        elif sign == b"," and not depth and not angles:
            parts.append((begin, i))
            begin = i + 1
    if code[begin:end].strip():
        parts.append((begin, end))
    return parts


def _opens_template(code: bytes, at: int, end: int) -> bool:
    """Whether code[at] is the < of a template's arguments: a name before it, and names, numbers
    and commas only up to its >, behind which a call, a bracket or the end stands."""
    if not re.search(rb"\w\s*$", code[max(0, at - 40) : at]):
        return False
    found = re.match(rb"<[\w\s,:*<>]*>(?=\s*(?:[({),]|$|>))", code[at:end])
    return found is not None


def _emptied(found: re.Match[bytes]) -> bytes:
    """Blanks for a comment; a literal keeps its quotes."""
    text = found[0]
    if text[:1] == b"/":
        return re.sub(rb"[^\n]", b" ", text)
    return text[:1] + b"x" * (len(text) - 2) + text[-1:] if len(text) > 1 else text


def _blank(data: bytearray, start: int, end: int) -> None:
    data[start:end] = re.sub(rb"[^\n]", b" ", bytes(data[start:end]))


def _directives(code: bytes) -> Iterator[Directive]:
    for found in _DIRECTIVE.finditer(code):
        joined = re.sub(rb"\\\r?\n", b" ", found[0]).decode().strip()
        word, _, rest = joined[1:].strip().partition(" ")
        word, glued = re.match(r"(\w*)(.*)", word).groups()  # type: ignore[union-attr]
        yield Directive(found.start(), found.end(), word, f"{glued} {rest}".strip())


def _chevrons(code: bytes) -> Iterator[Chevrons]:
    at = 0
    while (start := code.find(b"<<<", at)) >= 0:
        end = _end_of_chevrons(code, start + 3)
        if end < 0:
            return
        yield Chevrons(start, end)
        at = end


def _end_of_chevrons(code: bytes, at: int) -> int:
    """One past the >>> that closes, outside of brackets; -1 where there is none."""
    depth = 0
    for i in range(at, len(code)):
        sign = code[i : i + 1]
        depth += (sign in (b"(", b"[", b"{")) - (sign in (b")", b"]", b"}"))
        if not depth and code.startswith(b">>>", i):
            return i + 3
    return -1
