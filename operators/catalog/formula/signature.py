"""A generated kernel's arguments: pointers and sizes, as the front matter and C call them."""

import re
from dataclasses import dataclass

from evaluators.dtypes import CPP
from evaluators.expression import Expression
from evaluators.tasks.arguments import Argument, Workload
from evaluators.tasks.task import Task
from operators.catalog.formula.bounds import Unknown, interval
from operators.catalog.formula.code import Style, Unwritable
from operators.catalog.formula.node import Node

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
        names = [a.name for a in self.task.arguments]
        return ", ".join([*names, *self.task.dims, *self._attributes])

    @property
    def dtypes(self) -> str:
        """Dtype parameters, which are macros in the code."""
        return ", ".join(self.task.dtypes)

    @property
    def _attributes(self) -> dict[str, str]:
        """C's types of those that are passed: numbers."""
        types = {int: "int", float: "float"}
        return {
            name: types[type(value)]
            for name, value in self.task.attributes.items()
            if not isinstance(value, bool)
        }

    @property
    def parameters(self) -> str:
        """For C."""
        pointers = [
            f"{'' if a.written else 'const '}{ctype(a)}* __restrict__ {pointer(a.name)}"
            for a in self.task.arguments
        ]
        sizes = [f"int {size_name(d)}" for d in self.task.dims]
        scalars = [f"{kind} {size_name(name)}" for name, kind in self._attributes.items()]
        return ", ".join([*pointers, *sizes, *scalars])

    @property
    def passed(self) -> str:
        """The same, from one function to another."""
        names = [pointer(a.name) for a in self.task.arguments]
        return ", ".join([*names, *map(size_name, (*self.task.dims, *self._attributes))])

    @property
    def headers(self) -> list[str]:
        dtypes = {a.dtype for a in self.task.arguments if not a.parameter}
        dtypes |= {one for each in self.task.dtypes.values() for one in each}
        types = {CPP[dtype] for dtype in dtypes}
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
        """An element's value."""
        return self.converted(self.place(node, indices), node, self.argument(node.value))

    def place(self, node: Node, indices: tuple[str, ...]) -> str:
        """An element; indices that may lie outside, where nobody uses it, are moved inside."""
        argument = self.argument(node.value)
        indices = tuple(
            text if self.is_inside(index, dimension) else _clamped(text, sized(dimension.text))
            for text, index, dimension in zip(indices, node.args, argument.dimensions, strict=True)
        )
        return f"{pointer(argument.name)}[{self.offset(argument, indices)}]"

    def converted(self, element: str, node: Node, argument: Argument) -> str:
        """As the type in which values are computed."""
        if argument.optional:
            return f"({pointer(argument.name)} ? static_cast<{self.real}>({element}) : 0)"
        if node.kind == "float" and ctype(argument) != self.real:
            return f"static_cast<{self.real}>({element})"
        return f"(int){element}" if node.kind == "int" and ctype(argument) != "int32_t" else element

    def is_inside(self, index: Node, dimension: Expression) -> bool:
        """Whether an index lies within a dimension on every shape that is stated. One that is
        itself read does where no condition is around it, which nobody asks."""
        for workload in self.workloads:
            try:
                low, high = interval(index, workload.env)
            except Unknown:
                return not self.guarded
            if low < 0 or high >= dimension.integer(workload.env):
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
    """What C calls the type of an argument's elements: a dtype parameter is a macro."""
    return argument.parameter or CPP[argument.dtype]


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
