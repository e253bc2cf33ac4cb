"""The functions that a source declares, as its tokens tell: kernels, templates, prototypes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluators.kernel.tokens import Token

Kind = Literal["kernel", "device", "plain"]

_PAIRS = {"(": ")", "[": "]", "{": "}"}
_NO_NAMES = frozenset(
    """
    __launch_bounds__ __attribute__ __declspec __align__ alignas decltype noexcept requires explicit
    static_assert sizeof amdgpu_flat_work_group_size amdgpu_waves_per_eu if while for switch return
    """.split()  # noqa: SIM905 (a list of 20 lines otherwise)
)
"""Words before a parenthesis that opens no function's parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TemplateParameter:
    """word: typename, or a value's type. optional: it has a default, or stands for any number."""

    word: str
    name: str
    optional: bool
    variadic: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A function. spaces: the namespaces that it stands in. template: None where it is none.

    parameters: each one's tokens. at: its name's place among the tokens. special: it has template
    arguments of its own, as a specialization has.
    """

    name: str
    line: int
    at: int
    kind: Kind
    spaces: tuple[str, ...]
    template: tuple[TemplateParameter, ...] | None
    parameters: tuple[tuple[Token, ...], ...]
    defined: bool
    special: bool


def functions(found: Sequence[Token]) -> list[Declared]:
    """Those outside of types and other functions, in order. found: a normalised source's."""
    return [*_Reader(found).read()]


def body_of(one: Declared, found: Sequence[Token]) -> range:
    """The places of a function's tokens from its first brace to the one that closes it."""
    round_ = depth = 0
    start = one.at
    for i in range(one.at, len(found)):
        text = found[i].text if found[i].kind == "sign" else ""
        round_ += (text == "(") - (text == ")")
        if round_ == 0 and text in ("{", "}"):
            start = i if depth == 0 else start
            depth += 1 if text == "{" else -1
            if depth == 0:
                return range(start, i + 1)
        elif round_ == 0 and text == ";" and depth == 0:
            break
    return range(start, start)


class _Reader:
    def __init__(self, found: Sequence[Token]) -> None:
        self.found = found
        self.spaces: list[str | None] = []  # of each open brace; None: of no namespace

    def read(self) -> Iterator[Declared]:
        head: list[int] = []  # places of the declaration's tokens so far
        depth = 0
        for i, token in enumerate(self.found):
            if token.kind == "directive":
                continue
            sign = token.text if token.kind == "sign" else ""
            depth += (sign in ("(", "[")) - (sign in (")", "]"))
            if depth > 0 or sign not in ("{", "}", ";"):
                head.append(i)
                continue
            depth = 0
            outside = None not in self.spaces
            if sign != "}" and outside and (one := self.function(head, defined=sign == "{")):
                yield one
            if sign == "{":
                self.spaces.append(self.space(head) if outside else None)
            elif sign == "}" and self.spaces:
                self.spaces.pop()
            head = []

    def space(self, head: Sequence[int]) -> str | None:
        words = [self.found[i].text for i in head]
        if "namespace" in words:
            return "".join(words[words.index("namespace") + 1 :])
        return "" if words[:1] == ["extern"] and len(words) == 2 else None

    def function(self, head: Sequence[int], *, defined: bool) -> Declared | None:
        template, rest = self.template(head)
        opening = self.opening(rest)
        if opening is None:
            return None
        at = opening - 1
        special = self.found[rest[at]].text == ">"
        if special:
            at = self.angle_before(rest, at) - 1
        words = {self.found[i].text for i in rest[:at]}
        if at < 0 or self.found[rest[at]].kind != "word" or not words or "=" in words:
            return None
        kind: Kind = "plain"
        if "__global__" in words or "__device__" in words:
            kind = "kernel" if "__global__" in words else "device"
        named = self.found[rest[at]]
        inside = [self.found[i] for i in rest[opening:]]
        return Declared(
            name=named.text,
            line=named.line,
            at=rest[at],
            kind=kind,
            spaces=tuple(one for one in self.spaces if one),
            template=template,
            parameters=tuple(tuple(one) for one in parted(enclosed(inside))),
            defined=defined,
            special=special,
        )

    def template(
        self, head: Sequence[int]
    ) -> tuple[tuple[TemplateParameter, ...] | None, Sequence[int]]:
        """What stands between template's < and >, and the places behind them."""
        told: tuple[TemplateParameter, ...] | None = None
        while head and self.found[head[0]].text == "template":
            inside = [self.found[i] for i in head[1:]]
            taken = angles(inside)
            if taken is None:
                break
            told = tuple(map(_template_parameter, parted(inside[1 : taken - 1])))
            head = head[1 + taken :]
        return told, head

    def opening(self, places: Sequence[int]) -> int | None:
        """Which of the places holds the parenthesis that opens the parameters."""
        depth = 0
        for k, place in enumerate(places):
            token = self.found[place]
            if token.text in _PAIRS and token.kind == "sign":
                before = self.found[places[k - 1]] if k else None
                named = before is not None and (
                    (before.kind == "word" and before.text not in _NO_NAMES) or before.text == ">"
                )
                if token.text == "(" and depth == 0 and named:
                    return k
                depth += 1
            elif token.text in _PAIRS.values() and token.kind == "sign":
                depth -= 1
        return None

    def angle_before(self, places: Sequence[int], closing: int) -> int:
        """The < that the > at places[closing] closes; 0 where there is none."""
        depth = 0
        for k in range(closing, -1, -1):
            text = self.found[places[k]].text
            depth += (text == ">") - (text == "<")
            if depth == 0:
                return k
        return 0


def _template_parameter(tokens: Sequence[Token]) -> TemplateParameter:
    texts = [token.text for token in tokens]
    left = texts[: texts.index("=")] if "=" in texts else texts
    words = [token.text for token in tokens[: len(left)] if token.kind == "word"]
    named = words[-1] if len(words) > 1 else ""
    variadic = "." in left
    return TemplateParameter(
        word=" ".join(words[:-1] if named else words),
        name=named,
        optional="=" in texts or variadic,
        variadic=variadic,
    )


def angles(tokens: Sequence[Token]) -> int | None:
    """How many tokens there are from a first < to the > that closes it; None where none does."""
    depth = round_ = 0
    for i, token in enumerate(tokens):
        round_ += (token.text in "([{") - (token.text in ")]}") if token.kind == "sign" else 0
        if round_ == 0 and token.kind == "sign":
            depth += (token.text == "<") - (token.text == ">")
            if depth == 0:
                return i + 1 if i else None
    return None


def enclosed(tokens: Sequence[Token]) -> Sequence[Token]:
    """What stands between a first bracket and the one that closes it."""
    depth = 0
    for i, token in enumerate(tokens):
        if token.kind == "sign":
            depth += (token.text in "([{") - (token.text in ")]}")
        if depth == 0:
            return tokens[1:i]
    return tokens[1:]


def parted(tokens: Iterable[Token]) -> list[list[Token]]:
    """What commas part, but for those in brackets and template arguments."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        if token.kind == "sign":
            depth += (token.text in "([{<") - (token.text in ")]}>")
            if token.text == "," and depth <= 0:
                parts.append([])
                continue
        parts[-1].append(token)
    return parts if parts != [[]] else []
