"""A kernel file as a C++ header for HIP and CUDA, whose launcher repeats the launch plan."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jinja2

from evaluators.export.builds import Build, builds_of
from evaluators.export.code import (
    code_for,
    cuda_headers_of,
    hip_additions_of,
    included_headers,
)
from evaluators.export.cpp_expression import cpp_expression
from evaluators.expression import Expression
from evaluators.kernel.front_matter import Launch, Memset, ValueArg
from evaluators.kernel.planner import entry_of
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Argument
from evaluators.tasks.task import Task

ARITHMETIC = Path(__file__).with_name("arithmetic.hpp").read_text()
"""What cpp_expression() calls."""

_TYPES = {"float32": "float", "int32": "int"}  # the others are of no C++ type everywhere
_SCALARS = {"int32": "int", "int64": "long long", "float32": "float"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A launch or a memset in C++; names and conditions are those of the template."""

    when: str
    repeat: str  # the name of the loop's variable, or ""
    count: str
    entry: str = ""
    grid: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    lds_bytes: str = ""
    values: tuple[tuple[str, str], ...] = ()  # type, value
    cooperative: bool = False
    buffer: str = ""  # of a memset
    nbytes: str = ""
    byte: int = 0


def cpp_header(kernel: KernelSource, task: Task, backend: str) -> str:
    """The header's text; its first lines tell how to use it.

    backend: on whose shapes of the task the kernel was checked. Raises Rejected(INVALID).
    """
    builds = builds_of(kernel, task, backend)
    sizes = {name: f"shape.{name}" for name in task.dims}
    params = {name: f"{value}LL" for name, value in kernel.params.items()}
    return (
        _environment()
        .get_template("header.hpp.j2")
        .render(
            arithmetic=ARITHMETIC,
            task=task,
            kernel=kernel,
            name=header_name(kernel, task),
            arguments=[(_pointer(a), a.name, _told(a)) for a in task.arguments],
            headers=included_headers(kernel),
            cuda_headers=cuda_headers_of(kernel),
            hip_additions=hip_additions_of(kernel),
            variants=[cpp_expression(v.when, {**sizes, **params}) for v in kernel.variants],
            builds=[_Written(kernel, task, i, build) for i, build in enumerate(builds)],
        )
    )


def header_name(kernel: KernelSource, task: Task) -> str:
    """Of the header's file and namespace."""
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', task.name)}_{kernel.id[:8]}"


class _Written:
    """A build as the template writes it."""

    def __init__(self, kernel: KernelSource, task: Task, number: int, build: Build) -> None:
        self.number = number
        self.variant = -1 if build.variant is None else build.variant
        self.specialised = build.specialised
        self.defines = build.defines
        self.code = code_for(kernel, build.defines)
        self._kernel, self._task = kernel, task
        self._values = {name: f"shape.{name}" for name in task.dims} | {
            name: f"{value}LL" for name, value in build.defines.items()
        }
        self.scratch = [(name, self._cpp(size)) for name, size in kernel.scratch.items()]
        self.steps = tuple(self._steps(kernel.launches))
        self.prepare = tuple(self._steps(kernel.prepare))

    def _cpp(self, expression: Expression, more: Mapping[str, str] | None = None) -> str:
        return cpp_expression(expression, {**self._values, **(more or {})})

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
        return Step(
            when=self._cpp(launch.when, more),
            repeat=more.get(repeat, ""),
            count=self._cpp(count) if count is not None else "1",
            entry=entry_of(launch.kernel, self.defines),
            grid=(*grid, "1", "1")[:3],
            block=(*block, "1", "1")[:3],
            lds_bytes=self._cpp(launch.lds_bytes, more),
            values=tuple(self._value(argument, more) for argument in launch.args),
            cooperative=launch.cooperative,
        )

    def _value(self, argument: str | ValueArg, more: Mapping[str, str]) -> tuple[str, str]:
        if isinstance(argument, ValueArg):
            return _SCALARS[argument.type], self._cpp(argument.value, more)
        if argument in self._task.dims:
            return "int", f"shape.{argument}"
        return "const void*", self._buffer(argument)

    def _buffer(self, name: str) -> str:
        return f"at.{name}" if name in self._kernel.scratch else f"arguments.{name}"

    def _nbytes(self, name: str) -> str:
        if name in self._kernel.scratch:
            return self._cpp(self._kernel.scratch[name])
        (argument,) = (a for a in self._task.arguments if a.name == name)
        sizes = [self._cpp(part) for part in argument.dimensions]
        return " * ".join([*sizes, str(argument.np_dtype.itemsize)])


def _pointer(argument: Argument) -> str:
    constant = "" if argument.written else "const "
    return f"{constant}{_TYPES.get(argument.dtype, 'void')}*"


def _told(argument: Argument) -> str:
    shape = " x ".join(part.text for part in argument.dimensions)
    return f"{argument.role}, {argument.dtype}, {shape}"


def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
