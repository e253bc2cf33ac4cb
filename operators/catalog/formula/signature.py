"""A generated kernel's arguments: pointers and sizes, as the front matter and C call them."""

import re
from dataclasses import dataclass

from evaluators.tasks.arguments import Argument
from evaluators.tasks.task import Task
from operators.catalog.formula.code import Style, Unwritable
from operators.catalog.formula.node import Node

CTYPES = {
    "float32": "float",
    "float64": "double",
    "float16": "__half",
    "bfloat16": "__hip_bfloat16",
    "float8_e4m3fnuz": "__hip_fp8_e4m3_fnuz",
    "float8_e5m2fnuz": "__hip_fp8_e5m2_fnuz",
    "float8_e4m3fn": "__hip_fp8_e4m3",
    "float8_e5m2": "__hip_fp8_e5m2",
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned int",
    "int64": "long long",
    "uint64": "unsigned long long",
}
HEADERS = {
    "__half": "hip/hip_fp16.h",
    "__hip_bfloat16": "hip/hip_bf16.h",
    "__hip_fp8": "hip/hip_fp8.h",
}


@dataclass(frozen=True, slots=True)
class Signature:
    """All of a task's arguments in order, then its dims."""

    task: Task

    @property
    def args(self) -> str:
        """For the front matter."""
        names = [a.name for a in self.task.arguments] + list(self.task.dims)
        return ", ".join(names)

    @property
    def parameters(self) -> str:
        """For C."""
        pointers = [
            f"{'' if a.written else 'const '}{ctype(a)}* __restrict__ {pointer(a.name)}"
            for a in self.task.arguments
        ]
        return ", ".join([*pointers, *(f"int {size_name(d)}" for d in self.task.dims)])

    @property
    def passed(self) -> str:
        """The same, from one function to another."""
        names = [pointer(a.name) for a in self.task.arguments]
        return ", ".join([*names, *map(size_name, self.task.dims)])

    @property
    def headers(self) -> list[str]:
        types = {ctype(a) for a in self.task.arguments}
        return [h for start, h in HEADERS.items() if any(t.startswith(start) for t in types)]

    @property
    def real(self) -> str:
        wide = any(a.dtype == "float64" for a in self.task.arguments)
        return "double" if wide else "float"

    @property
    def style(self) -> Style:
        return Style(real=self.real, size=size_name, load=self.load)

    def argument(self, name: str) -> Argument:
        return next(a for a in self.task.arguments if a.name == name)

    def load(self, node: Node, indices: tuple[str, ...]) -> str:
        argument = self.argument(node.value)
        element = f"{pointer(argument.name)}[{self.offset(argument, indices)}]"
        if node.kind == "float" and ctype(argument) != self.real:
            return f"static_cast<{self.real}>({element})"
        return f"(int){element}" if node.kind == "int" and ctype(argument) != "int" else element

    def offset(self, argument: Argument, indices: tuple[str, ...]) -> str:
        """Row-major, in 64 bits where there is more than one index."""
        text = ""
        for index, dimension in zip(indices, argument.dimensions, strict=True):
            size = sized(dimension.text)
            text = f"({text}) * {size} + {index}" if text else index
            if text == index and len(indices) > 1:
                text = f"(size_t)({index})"
        return text


def ctype(argument: Argument) -> str:
    if argument.dtype not in CTYPES:
        raise Unwritable(argument.dtype)
    return CTYPES[argument.dtype]


def pointer(name: str) -> str:
    return f"p_{name}"


def size_name(name: str) -> str:
    return f"n_{name}"


def sized(text: str) -> str:
    """A dimension's expression as C; plain products, sums and quotients only."""
    if not re.fullmatch(r"[\w\s+*()/-]*", text):
        raise Unwritable(f"the dimension {text}")
    named = re.sub(r"[A-Za-z_]\w*", lambda m: size_name(m[0]), text.replace("//", "/"))
    return named if re.fullmatch(r"\w+", named) else f"({named})"
