"""A generated kernel's arguments: pointers and sizes, as the front matter and C call them."""

import re
from dataclasses import dataclass

from evaluators.expression import Expression
from evaluators.tasks.arguments import Argument, Workload
from evaluators.tasks.task import Task
from operators.catalog.formula.bounds import Unknown, interval
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


@dataclass(frozen=True)
class Signature:
    """All of a task's arguments in order, then its dims.

    guarded: whether some elements are read under a condition.
    """

    task: Task
    guarded: bool = False

    @property
    def workloads(self) -> list[Workload]:
        return [
            one
            for by_backend in self.task.suites.values()
            for shapes in by_backend.values()
            for one in shapes
        ]

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

    def scanned(self, kind: str) -> str:
        """The type in which values of a kind are added up."""
        wide = any(a.np_dtype.itemsize == 8 and not a.floating for a in self.task.arguments)
        return self.real if kind == "float" else "long long" if wide else "int"

    @property
    def style(self) -> Style:
        return Style(real=self.real, size=size_name, load=self.load)

    def argument(self, name: str) -> Argument:
        return next(a for a in self.task.arguments if a.name == name)

    def load(self, node: Node, indices: tuple[str, ...]) -> str:
        """An element; indices that may lie outside, where nobody uses it, are moved inside."""
        argument = self.argument(node.value)
        indices = tuple(
            text if self.is_inside(index, dimension) else _clamped(text, sized(dimension.text))
            for text, index, dimension in zip(indices, node.args, argument.dimensions, strict=True)
        )
        element = f"{pointer(argument.name)}[{self.offset(argument, indices)}]"
        return self.converted(element, node, argument)

    def converted(self, element: str, node: Node, argument: Argument) -> str:
        """As the type in which values are computed."""
        if node.kind == "float" and ctype(argument) != self.real:
            return f"static_cast<{self.real}>({element})"
        return f"(int){element}" if node.kind == "int" and ctype(argument) != "int" else element

    def is_inside(self, index: Node, dimension: Expression) -> bool:
        """Whether an index lies within a dimension on every shape that is stated. One that is
        itself read does where no condition is around it, which nobody asks."""
        for workload in self.workloads:
            try:
                low, high = interval(index, workload.dims)
            except Unknown:
                return not self.guarded
            if low < 0 or high >= dimension.integer(workload.dims):
                return False
        return True

    def row_length(self, argument: Argument) -> str:
        """How many elements lie beside each other, as C."""
        return sized(argument.dimensions[-1].text)

    def offset(self, argument: Argument, indices: tuple[str, ...]) -> str:
        """Row-major, in 64 bits where there is more than one index."""
        text = ""
        for index, dimension in zip(indices, argument.dimensions, strict=True):
            size = sized(dimension.text)
            text = f"({text}) * {size} + {index}" if text else index
            if text == index and len(indices) > 1:
                text = f"(size_t)({index})"
        return text


class Flat(Signature):
    """Every argument as one long row."""

    def is_inside(self, index: Node, dimension: Expression) -> bool:
        return True

    def load(self, node: Node, indices: tuple[str, ...]) -> str:
        argument = self.argument(node.value)
        element = f"{pointer(argument.name)}[{indices[0]}]"
        return self.converted(element, node, argument)

    def offset(self, argument: Argument, indices: tuple[str, ...]) -> str:
        (index,) = indices
        return index

    def row_length(self, argument: Argument) -> str:
        return " * ".join(sized(one.text) for one in argument.dimensions)


def _clamped(text: str, size: str) -> str:
    return f"min(max({text}, 0), (int)({size}) - 1)"


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
