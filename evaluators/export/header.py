"""A kernel file as a C++ header for HIP and CUDA, whose launcher repeats the launch plan."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from evaluators.device_info import target_of
from evaluators.dtypes import DTYPES, Value
from evaluators.evaluation import Rejected, Status
from evaluators.export.builds import Build, builds_of
from evaluators.export.code import (
    code_for,
    cuda_headers_of,
    hip_additions_of,
    included_headers,
)
from evaluators.export.cpp_expression import cpp_expression, dtype_code
from evaluators.expression import Expression
from evaluators.kernel.front_matter import Arg, Launch, Memset, StructArg, ValueArg
from evaluators.kernel.plan import Null
from evaluators.kernel.planner import check_backend, entry_of
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Argument
from evaluators.tasks.task import Task

ARITHMETIC = Path(__file__).with_name("arithmetic.hpp").read_text()
"""What cpp_expression() calls."""

_TYPES = {
    "float32": "float",
    "float64": "double",
    "bool": "bool",
    "int8": "signed char",
    "uint8": "unsigned char",
    "int16": "short",
    "uint16": "unsigned short",
    "int32": "int",
    "uint32": "unsigned",
    "int64": "long long",
    "uint64": "unsigned long long",
}
"""The others are of no C++ type everywhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A launch or a memset in C++; names and conditions are those of the template."""

    when: str
    repeat: str  # the name of the loop's variable, or ""
    count: str
    entry: int = -1  # its place in the build's ks_entries
    grid: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    lds_bytes: str = ""
    values: tuple[str, ...] = ()  # declarations of value0 and so on
    cooperative: bool = False
    buffer: str = ""  # of a memset
    nbytes: str = ""
    byte: int = 0


def cpp_header(kernel: KernelSource, task: Task, backend: str, *, hip_only: bool = False) -> str:
    """The header's text; its first lines tell how to use it.

    backend: on whose shapes of the task the kernel was checked. hip_only: without CUDA, and on the
    default stream alone, which it then never names. Raises Rejected: INVALID, and UNSUPPORTED for
    what has no counterpart in host code.
    """
    check_backend(kernel.front, target_of(backend))
    builds = builds_of(kernel, task, backend)
    conditions = _Names(task, kernel.params)
    return (
        environment()
        .get_template("header.hpp.j2")
        .render(
            hip_only=hip_only,
            stream_parameter="" if hip_only else ", Stream stream",
            stream_given="" if hip_only else ", stream",
            stream="nullptr" if hip_only else "stream",
            arithmetic=ARITHMETIC,
            task=task,
            kernel=kernel,
            name=header_name(kernel, task),
            fields=list(shape_fields(task)),
            dtypes=_dtypes(task),
            arguments=[(_pointer(a), a.name, _told(a)) for a in task.arguments],
            headers=included_headers(kernel),
            cuda_headers=cuda_headers_of(kernel),
            hip_additions=hip_additions_of(kernel),
            variants=[conditions.cpp(v.when) for v in kernel.variants],
            builds=[_Written(kernel, task, i, build) for i, build in enumerate(builds)],
        )
    )


def header_name(kernel: KernelSource, task: Task) -> str:
    """Of the header's file and namespace."""
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', task.name)}_{kernel.id[:8]}"


class _Names:
    """What names of expressions are in C++. numbers: that are known when it is compiled."""

    def __init__(self, task: Task, numbers: Mapping[str, int | str]) -> None:
        names = (*task.dims, *task.attributes, *task.dtypes)
        known = {name: f"{value}LL" for name, value in numbers.items() if isinstance(value, int)}
        wavefront = {"WAVEFRONT": "((long long)WAVEFRONT)"}
        self._values = wavefront | {name: f"shape.{name}" for name in names} | known
        decimals = [name for name, one in task.attributes.items() if isinstance(one, float)]
        self._decimals = frozenset(decimals)

    def cpp(self, expression: Expression, more: Mapping[str, str] | None = None) -> str:
        return cpp_expression(expression, {**self._values, **(more or {})}, self._decimals)


class _Written:
    """A build as the template writes it."""

    def __init__(self, kernel: KernelSource, task: Task, number: int, build: Build) -> None:
        self.number = number
        self.variant = -1 if build.variant is None else build.variant
        self.pinned = [f"shape.{name} == {_constant(one)}" for name, one in build.pinned.items()]
        self._kernel, self._task, self._build = kernel, task, build
        self._entries: dict[str, int] = {}
        self._cpp = _Names(task, build.defines).cpp
        self.scratch = [(name, self._cpp(size)) for name, size in kernel.scratch.items()]
        self.steps = tuple(self._steps(kernel.launches))
        self.prepare = tuple(self._steps(kernel.prepare))
        self.code = code_for(kernel, build.defines, list(self._entries))

    def _steps(self, launches: Sequence[Launch | Memset]) -> Iterator[Step]:
        for launch in launches:
            if isinstance(launch, Memset):
                yield Step(
                    when=self._cpp(launch.when),
                    repeat="",
                    count="1",
                    buffer=self._buffer(launch.buffer),
                    nbytes=self._nbytes(launch.buffer),
                    byte=launch.byte,
                )
            else:
                yield self._launch(launch)

    def _launch(self, launch: Launch) -> Step:
        repeat, count = launch.repeat or ("", None)
        more = {repeat: f"repeat_{repeat}"} if repeat else {}
        grid = [self._cpp(part, more) for part in launch.grid]
        block = [self._cpp(part, more) for part in launch.block]
        entry = entry_of(launch.kernel, self._build.spelled)
        return Step(
            when=self._cpp(launch.when, more),
            repeat=more.get(repeat, ""),
            count=self._cpp(count) if count is not None else "1",
            entry=self._entries.setdefault(entry, len(self._entries)),
            grid=(*grid, "1", "1")[:3],
            block=(*block, "1", "1")[:3],
            lds_bytes=self._cpp(launch.lds_bytes, more),
            values=tuple(
                f"{kind} value{i} = {value};"
                for i, (kind, value) in enumerate(self._given(arg, more) for arg in launch.args)
            ),
            cooperative=launch.cooperative,
        )

    def _given(self, arg: Arg, more: Mapping[str, str]) -> tuple[str, str]:
        """A type in C++, and what initialises it. Raises Rejected(UNSUPPORTED)."""
        match arg:
            case Null():
                return "const void*", "nullptr"
            case ValueArg():
                dtype = str(self._build.pinned.get(arg.type, arg.type))
                value = self._cpp(arg.value, more)
                return self._scalar(dtype, f"({value}) != 0" if dtype == "bool" else value)
            case StructArg():
                fields = [self._given(field, more) for field in arg.fields]
                members = " ".join(f"{kind} f{i};" for i, (kind, _) in enumerate(fields))
                return f"struct {{ {members} }}", f"{{{', '.join(v for _, v in fields)}}}"
        attribute = self._task.attributes.get(arg)
        if attribute is not None:
            dtypes = {bool: "bool", float: "float32"}
            return self._scalar(dtypes.get(type(attribute), "int32"), f"shape.{arg}")
        if arg in self._task.dims:
            return self._scalar("int32", f"shape.{arg}")
        return "const void*", f"(const void*)({self._buffer(arg)})"

    def _scalar(self, dtype: str, value: str) -> tuple[str, str]:
        if dtype not in _TYPES:
            raise Rejected(
                Status.UNSUPPORTED,
                f"a scalar of type {dtype} can't be exported: host code has no such type "
                "everywhere; take a float32 and convert it in the kernel",
            )
        return _TYPES[dtype], f"({_TYPES[dtype]})({value})"

    def _buffer(self, name: str) -> str:
        if name in self._kernel.scratch:
            return f"at.{name}"
        optional = any(a.name == name and a.optional for a in self._task.arguments)
        pointer = f"arguments.{name}"
        return f"(shape.is_null_{name} ? nullptr : {pointer})" if optional else pointer

    def _nbytes(self, name: str) -> str:
        if name in self._kernel.scratch:
            return self._cpp(self._kernel.scratch[name])
        (argument,) = (a for a in self._task.arguments if a.name == name)
        sizes = [self._cpp(part) for part in argument.dimensions]
        item = str(argument.np_dtype.itemsize)
        if argument.parameter:
            item = f"sizeof_dtype(shape.{argument.parameter})"
        if argument.strides is None:
            return " * ".join([*sizes, item])
        steps = [self._cpp(part) for part in argument.strides]
        reach = [f"({size} - 1) * {step}" for size, step in zip(sizes, steps, strict=True)]
        return f"({' + '.join(['1', *reach])}) * {item}"


def _constant(value: Value | str) -> str:
    """In a condition on a field of Shape."""
    if isinstance(value, str):
        return f"dtype_{value}"
    return repr(value) if isinstance(value, float) else f"{int(value)}LL"


def shape_fields(task: Task) -> Iterator[tuple[str, str, str]]:
    """Of Shape: type, name, what is told of it."""
    for name in task.dims:
        yield "long long", name, ""
    for name, value in task.attributes.items():
        kind = "double" if isinstance(value, float) else "long long"
        yield kind, name, "0 or 1" if isinstance(value, bool) else ""
    for name, dtypes in task.dtypes.items():
        yield "Dtype", name, " or ".join(f"dtype_{one}" for one in dtypes)
    for argument in task.arguments:
        if argument.optional:
            yield "bool", f"is_null_{argument.name}", f"whether {argument.name} is a null pointer"


def _dtypes(task: Task) -> list[tuple[str, int, int]]:
    """Those that a parameter may be: name, code, bytes."""
    names = dict.fromkeys(one for dtypes in task.dtypes.values() for one in dtypes)
    return [(name, dtype_code(name), DTYPES[name].itemsize) for name in names]


def _pointer(argument: Argument) -> str:
    constant = "" if argument.written else "const "
    type_ = "void" if argument.parameter else _TYPES.get(argument.dtype, "void")
    return f"{constant}{type_}*"


def _told(argument: Argument) -> str:
    shape = " x ".join(part.text for part in argument.dimensions)
    strides = " x ".join(part.text for part in argument.strides or ())
    beside = f", strides {strides} in elements" if strides else ""
    return f"{argument.role}, {argument.parameter or argument.dtype}, {shape}{beside}"


def environment() -> jinja2.Environment:
    """Of this folder's templates."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
