"""The names that a task.yaml declares: dims, attributes, dtype parameters; and its expressions."""

import re
from pathlib import Path
from typing import Any

from evaluators.dtypes import DTYPES, Value
from evaluators.expression import (
    IS_NULL,
    RESERVED_NAMES,
    SIZEOF,
    Expression,
    ExpressionError,
    null_key,
    parse_expression,
)
from evaluators.lined_yaml import LinedDict, LinedList, Reader
from evaluators.spelling import shortened, storable
from evaluators.tasks.arguments import TaskError

NOT_NAMES = frozenset({*RESERVED_NAMES, *DTYPES, SIZEOF, IS_NULL, "weight", "WAVEFRONT"})
"""No attribute and no dtype parameter is called that."""
OF_FUNCTIONS = ("rng", "outputs", "inputs", "expected")
"""Nor that: functions in reference.py are given something else by these names."""
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)[eE][+-]?\d+")


class TaskNames(Reader):
    """A task.yaml's tree with the names in it; every complaint carries file and line."""

    def __init__(self, path: Path, tree: Any) -> None:
        self.path = path
        if not isinstance(tree, LinedDict):
            raise self.fail("a task is a mapping", 1)
        self.tree = tree
        self.dims = self._dims()
        self.attributes = self._attributes()
        self.dtypes = self._dtypes()
        self.optional_names: tuple[str, ...] = ()
        self._one_meaning(self.dims, self.attributes, self.dtypes)

    def fail(self, reason: str, line: int) -> TaskError:
        return TaskError(f"{self.path}, line {line}: {shortened(storable(reason))}")

    def expression(self, value: Any, what: str, line: int, *, floats: bool = False) -> Expression:
        try:
            expression = parse_expression(value, floats=floats)
        except ExpressionError as error:
            raise self.fail(f"{what}: {error}", line) from None
        nulls = [null_key(name) for name in self.optional_names]
        for name in expression.unknown({*self.dims, *self.attributes, *self.dtypes, *nulls}):
            others = ", attributes or dtypes" if self.attributes or self.dtypes else ""
            raise self.fail(f"{what}: {name!r} is not in dims{others}", line)
        return expression

    def _dims(self) -> tuple[str, ...]:
        sequence = self.sequence(self.tree, "dims")
        for name, line in sequence.numbered():
            if not (isinstance(name, str) and name.isidentifier()) or name in RESERVED_NAMES:
                raise self.fail(f"dims: {name!r} is not a name", line)
        if len(set(sequence)) != len(sequence):
            raise self.fail("dims: a name stands twice", sequence.line)
        return tuple(sequence)

    def _attributes(self) -> dict[str, Value]:
        tree = self.mapping(self.tree, "attributes")
        for name, line in tree.lines.items():
            self._name(name, "attributes", line)
        return {
            name: self.number(value, f"attributes: {name}", tree.lines[name])
            for name, value in tree.items()
        }

    def number(self, value: Any, what: str, line: int) -> Value:
        """An attribute's; of YAML's 1e-5, which has no point, it makes a number too."""
        if isinstance(value, str) and _DECIMAL.fullmatch(value):
            value = float(value)
        if not isinstance(value, bool | int | float):
            raise self.fail(
                f"{what} must be an integer, a decimal number, true or false, not {value!r}", line
            )
        if isinstance(value, float) and abs(value) > 1e308 * 1.7:
            raise self.fail(f"{what} must be finite", line)
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise self.fail(f"{what} is beyond 64 bits", line)
        return value

    def _dtypes(self) -> dict[str, tuple[str, ...]]:
        tree = self.mapping(self.tree, "dtypes")
        found = {}
        for name, value in tree.items():
            line = tree.lines[name]
            self._name(name, "dtypes", line)
            if not isinstance(value, LinedList) or not value:
                raise self.fail(f"dtypes: {name} needs a list of dtypes, the default first", line)
            for one, where in value.numbered():
                self.one_of(one, DTYPES, f"dtypes: {name}:", where)
            if len(set(value)) != len(value):
                raise self.fail(f"dtypes: {name}: a dtype stands twice", line)
            found[name] = tuple(value)
        return found

    def _name(self, name: str, what: str, line: int) -> None:
        if not name.isidentifier() or name in NOT_NAMES or name in OF_FUNCTIONS:
            raise self.fail(f"{what}: {name!r} is not a name that it can have", line)

    def _one_meaning(self, *kinds: Any) -> None:
        names = [name for kind in kinds for name in kind]
        for name in names:
            if names.count(name) > 1:
                line = self.tree.line_of("attributes" if name in self.attributes else "dtypes")
                raise self.fail(f"{name!r} stands in two of dims, attributes and dtypes", line)
