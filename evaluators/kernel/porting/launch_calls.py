"""Launches that stand in a source as host code, as the front matter would say them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evaluators.kernel.porting.c_expressions import as_expression
from evaluators.kernel.porting.functions import Declared, enclosed, functions, parted
from evaluators.kernel.tokens import Token

MOST_STEPS = 8
"""Of variables that stand for others."""

_SIZES = {"char": 1, "bool": 1, "short": 2, "__half": 2, "half": 2, "int": 4, "unsigned": 4}
_SIZES |= {"float": 4, "double": 8, "long": 8, "float2": 8, "float4": 16, "int4": 16}
_SCALARS = {
    "double": "float64",
    "float": "float32",
    "__half": "float16",
    "half": "float16",
    "__hip_bfloat16": "bfloat16",
    "__nv_bfloat16": "bfloat16",
    "bool": "bool",
    **{f"{name}_t": name for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32")},
    "int64_t": "int64",
    "uint64_t": "uint64",
    "size_t": "uint64",
    "uint": "uint32",
}
_INTEGERS = {"char": "int8", "short": "int16", "long": "int64", "int": "int32", "unsigned": "int32"}
_TYPES = frozenset({"int", "unsigned", "auto", "size_t", "uint32_t", "int64_t", "long", "uint"})
_TYPES |= {"dim3", "int32_t", "uint64_t", "uint3"}
_POINTER = re.compile(
    r"(?:thrust::raw_pointer_cast\()?([A-Za-z_]\w*)\.(?:data_ptr<[^>]*>|data|get)\(\)\)?"
)
"""Where a framework's or the standard library's array has its elements."""
_PLAIN = re.compile(r"[A-Za-z_]\w*|\d+")

Tokens = Sequence[Token]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchCall:
    """One launch as it is written. dims: grid, block, LDS bytes and stream, as far as given."""

    kernel: str
    line: int
    at: int  # among the source's tokens
    dims: tuple[Tokens, ...]
    args: tuple[Tokens, ...]

    @property
    def name(self) -> str:
        return self.kernel.partition("<")[0].rpartition("::")[2]


def launch_calls(found: Tokens) -> list[LaunchCall]:
    """Those by <<<...>>> and by hipLaunchKernelGGL, in order."""
    return [*_calls(found)]


def _calls(found: Tokens) -> Iterator[LaunchCall]:
    for i, token in enumerate(found):
        if token.text == "hipLaunchKernelGGL" and _texts(found, i + 1, 1) == "(":
            parts = parted(enclosed(found[i + 1 :]))
            if len(parts) >= 5:
                kernel = spelled([one for one in parts[0] if one.text != "HIP_KERNEL_NAME"])
                dims, args = parts[1:5], parts[5:]
                yield _call(kernel.strip("()"), token, i, dims, args)
        elif _texts(found, i, 3) == "<<<" and i and _texts(found, i - 1, 1) != "operator":
            start = _name_start(found, i)
            end = next((k for k in range(i, len(found)) if _texts(found, k, 3) == ">>>"), None)
            if end is None or start == i:
                continue
            args = parted(enclosed(found[end + 3 :])) if _texts(found, end + 3, 1) == "(" else []
            dims = parted(found[i + 3 : end])
            yield _call(spelled(found[start:i]), found[start], i, dims, args)


def _call(
    kernel: str, token: Token, at: int, dims: Sequence[Tokens], args: Sequence[Tokens]
) -> LaunchCall:
    return LaunchCall(kernel=kernel, line=token.line, at=at, dims=tuple(dims), args=tuple(args))


def _texts(found: Tokens, start: int, count: int) -> str:
    return "".join(token.text for token in found[start : start + count])


def _name_start(found: Tokens, end: int) -> int:
    """Where the name begins that ends before end, with its template arguments and namespaces."""
    at = end
    if found[at - 1].text == ">":
        depth = 0
        while at > 0:
            at -= 1
            depth += (found[at].text == ">") - (found[at].text == "<")
            if depth == 0:
                break
    while at > 0 and (found[at - 1].kind == "word" or found[at - 1].text == ":"):
        if found[at - 1].kind == "word" and found[at].kind == "word":
            break
        at -= 1
    return at


def spelled(tokens: Tokens) -> str:
    """Tokens as a person writes them, about."""
    text = ""
    for before, token in zip((None, *tokens), tokens, strict=False):
        wordy = before is not None and before.kind != "sign" and token.kind != "sign"
        text += " " if wordy or (before is not None and before.text == ",") else ""
        alone = token.text in "+-" and (before is None or before.text in "(,=<*/+-")  # a sign
        spaced = token.text in "+-/%?" and not alone
        text += f" {token.text} " if spaced else token.text
    return re.sub(r"\s+", " ", text).strip()


def as_front_matter(call: LaunchCall, found: Tokens) -> str:
    """The launch in the front matter's words, as far as it can be read; one flow mapping."""
    return _Reading(call, found).told()


class _Reading:
    """Reads one call with what stands ahead of it."""

    def __init__(self, call: LaunchCall, found: Tokens) -> None:
        self.call, self.found = call, found
        passed = {one.text for arg in call.args for one in arg if one.kind == "word"}
        self.values = {
            name: value for name, value in _values(found[: call.at]).items() if name not in passed
        }
        named = [one for one in functions(found) if one.name == call.name and one.kind == "kernel"]
        self.declared: Declared | None = named[0] if named else None

    def told(self) -> str:
        grid, block, lds = ([*self.call.dims, (), (), ()])[:3]
        parts = [
            f"kernel: {_quoted(self.call.kernel)}",
            f"grid: {self.dim3(grid)}",
            f"block: {self.dim3(block)}",
        ]
        if lds and (nbytes := self.expression(lds)) != "0":
            parts.append(f"lds_bytes: {_quoted(nbytes)}")
        args = ", ".join(self.arg(i, arg) for i, arg in enumerate(self.call.args))
        return f"{{{', '.join(parts)}, args: [{args}]}}"

    def dim3(self, tokens: Tokens) -> str:
        """A list of one to three expressions."""
        listed = ", ".join(_quoted(self.expression(one)) for one in self.axes(tokens))
        return f"[{listed}]"

    def axes(self, tokens: Tokens) -> list[Tokens]:
        for _ in range(MOST_STEPS):
            if len(tokens) == 1 and tokens[0].text in self.values:
                tokens = self.values[tokens[0].text]
        if tokens and tokens[0].text in ("dim3", "uint3"):
            return [*parted(enclosed(tokens[1:]))]
        braced = bool(tokens) and tokens[0].text == "{"
        return [*parted(enclosed(tokens))] if braced else [tokens]

    def expression(self, tokens: Tokens) -> str:
        """As integers are computed in front matter; as written where that can't be said."""
        written = spelled(tokens)
        whole = self.spread(tokens, MOST_STEPS)
        text = spelled([one for one in whole if one.text not in ("std", "f")])
        text = re.sub(r"\bsizeof\((?:unsigned )?(\w+)\)", _size, text)
        text = re.sub(r"\(\s*(?:unsigned )?(?:int|unsigned|float|double|size_t)\s*\)", "", text)
        text = re.sub(r"static_cast<[\w ]+>", "", text).replace("::", "")
        return as_expression(text) or written

    def spread(self, tokens: Tokens, steps: int) -> list[Token]:
        """With variables' values in their place, block.x too."""
        made: list[Token] = []
        rest = [*tokens]
        while rest:
            token = rest.pop(0)
            value = self.values.get(token.text) if token.kind == "word" and steps else None
            axis = "xyz".find(_texts(rest, 1, 1)) if _texts(rest, 0, 1) == "." else -1
            if value is not None and axis >= 0:
                axes = self.axes([token])
                rest = rest[2:]
                value = axes[axis] if axis < len(axes) else [Token("number", "1", token.line)]
            if value is None:
                made.append(token)
                continue
            inner = self.spread(value, steps - 1)
            opening, closing = (Token("sign", bracket, token.line) for bracket in "()")
            made += inner if len(inner) == 1 else [opening, *inner, closing]
        return made

    def arg(self, i: int, tokens: Tokens) -> str:
        written = re.sub(r"^\([\w :]+\**\)\s*", "", spelled(tokens))  # without a cast
        written = _POINTER.sub(r"\1", written)
        if re.fullmatch(r"[A-Za-z_]\w*", written):
            return written
        if number := re.fullmatch(r"(-?\d+\.\d*|-?\d*\.\d+|-?\d+\.?\d*e-?\d+)f?", written):
            return f"{{value: {number[1]}, type: float32}}"
        return f"{{value: {_quoted(self.expression(tokens))}, type: {self.type_of(i)}}}"

    def type_of(self, i: int) -> str:
        taken = self.declared.parameters if self.declared else ()
        words = [one.text for one in taken[i]] if i < len(taken) else []
        if plain := next((_SCALARS[word] for word in words if word in _SCALARS), ""):
            return plain
        sign = "u" if "unsigned" in words else ""
        return sign + next((kind for word, kind in _INTEGERS.items() if word in words), "int32")


def _size(found: re.Match[str]) -> str:
    return str(_SIZES.get(found[1], found[0]))


def _quoted(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


def _values(found: Tokens) -> Mapping[str, Tokens]:
    """What variables and macros were last given, as far as one statement tells."""
    values: dict[str, Tokens] = {}
    for i, token in enumerate(found):
        if token.kind == "directive":
            if macro := re.fullmatch(r"define\s+(\w+)\s+(\d+)[uUlL]*", token.text):
                values[macro[1]] = [Token("number", macro[2], token.line)]
            continue
        named = token.kind == "word" and i and found[i - 1].text in _TYPES
        if not named or i + 1 >= len(found) or found[i + 1].text not in ("=", "(", "{"):
            continue
        direct = found[i + 1].text != "="
        end = next((k for k in range(i, len(found)) if found[k].text == ";"), len(found))
        value = found[i + (1 if direct else 2) : end]
        if found[i - 1].text == "dim3" and direct:
            value = [found[i - 1], *value]
        elif direct and found[i + 1].text == "(":
            continue  # a function, rather
        if value and len(parted(value)) == 1:
            values[token.text] = value
    return values
