"""The arguments that a task.yaml declares, with the dtypes that each may have."""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, cast

from evaluators.dtypes import DTYPES, is_floating
from evaluators.expression import Expression
from evaluators.lined_yaml import LinedDict
from evaluators.tasks.arguments import KINDS, ROLES, Argument, Distribution, Role
from evaluators.tasks.distribution import UNSTATED
from evaluators.tasks.reference_file import ReferenceFile, load_reference, safe
from evaluators.tasks.task_names import TaskNames

ARGUMENT_KEYS = (
    *("name", "dtype", "shape", "role", "distribution", "rtol", "atol"),
    *("error_budget", "optional", "strides"),
)

MOST_BUDGET = 100


class TaskArguments(TaskNames):
    """See TaskNames; arguments stand in the order in which they are declared."""

    def __init__(self, path: Path, tree: Any) -> None:
        super().__init__(path, tree)
        self.arguments = self._arguments()

    @cached_property
    def own(self) -> ReferenceFile:
        """The task's reference.py. Raises TaskError."""
        return load_reference(self.path.with_name("reference.py"))

    def _arguments(self) -> tuple[Argument, ...]:
        sequence = self.sequence(self.tree, "arguments", least=1)
        self.optional_names = tuple(
            str(tree.get("name"))
            for tree in sequence
            if isinstance(tree, LinedDict) and tree.get("optional") is True
        )
        arguments = tuple(self.argument(tree, line) for tree, line in sequence.numbered())
        names = [*self.dims, *self.attributes, *self.dtypes, *(a.name for a in arguments)]
        if len({safe(name) for name in names}) != len(names):
            raise self.fail("arguments: a name stands twice", sequence.line)
        if not any(argument.written for argument in arguments):
            raise self.fail("arguments: none has the role out or inout", sequence.line)
        if self.own.reference is None and (told := [a for a in arguments if _compared(a)]):
            raise self.fail(
                f"{told[0].name} has a tolerance, but reference.py has no reference() that says "
                "what it should be; check() alone needs none",
                sequence.line,
            )
        return arguments

    def argument(self, tree: Any, line: int) -> Argument:
        if not isinstance(tree, LinedDict):
            raise self.fail("an argument is a mapping {name: ..., dtype: ..., ...}", line)
        self.known_keys(tree, ARGUMENT_KEYS, required=("name", "dtype", "shape", "role"))
        name, dtype = tree["name"], tree["dtype"]
        if not (isinstance(name, str) and name.isidentifier()):
            raise self.fail(f"{name!r} is not a name", line)
        self.one_of(dtype, (*DTYPES, *self.dtypes), f"{name}: dtype", line)
        self.one_of(tree["role"], ROLES, f"{name}: role", line)
        self._check_tolerance(tree, line)
        if tree["role"] == "out" and "distribution" in tree:
            raise self.fail(f"{name}: an out is never drawn; leave out distribution", line)
        if not isinstance(tree.get("optional", False), bool):
            raise self.fail(f"{name}: optional must be true or false", tree.lines["optional"])
        if dtype not in self.dtypes:
            return self._of_dtype(tree, dtype, line)
        each = {one: self._of_dtype(tree, one, line) for one in self.dtypes[dtype]}
        first = each[self.dtypes[dtype][0]]
        return first.of_parameter(dtype, each)

    def _of_dtype(self, tree: LinedDict, dtype: str, line: int) -> Argument:
        name, role = tree["name"], cast(Role, tree["role"])
        shape = self.sequence(tree, "shape", least=1)
        return Argument(
            name=name,
            dtype=dtype,
            role=role,
            dimensions=tuple(self.expression(s, f"{name}: shape", line) for s in shape),
            distribution=self.distribution(self._drawn(tree, dtype), name, dtype, line),
            relative=self._tolerance(tree, "rtol", dtype, line),
            absolute=self._tolerance(tree, "atol", dtype, line),
            error_budget=self._error_budget(tree),
            optional=tree.get("optional", False),
            strides=self._strides(tree, len(shape)),
            toleranced=role in ("in", "constant") or "rtol" in tree,
        )

    def _drawn(self, tree: LinedDict, dtype: str) -> Any:
        if "distribution" in tree or tree["role"] == "out":
            return tree.get("distribution", "zeros")
        if dtype == "bool":
            return "integers"
        whole = not is_floating(DTYPES[dtype])
        return UNSTATED if whole and self.own.inputs is not None else "normal"

    def _strides(self, tree: LinedDict, axes: int) -> tuple[Expression, ...] | None:
        if "strides" not in tree:
            return None
        line, what = tree.lines["strides"], f"{tree['name']}: strides"
        strides = self.sequence(tree, "strides", least=1)
        if len(strides) != axes:
            raise self.fail(f"{what}: {len(strides)} of them for a shape of {axes}", line)
        return tuple(self.expression(one, what, line) for one in strides)

    def _check_tolerance(self, tree: LinedDict, line: int) -> None:
        name, written = tree["name"], tree["role"] in ("out", "inout")
        keys = [key for key in ("rtol", "atol") if key in tree]
        if not written and keys:
            raise self.fail(f"{name}: {keys[0]} is for outputs", tree.lines[keys[0]])
        if written and len(keys) < 2 and (keys or self.own.check is None):
            raise self.fail(f"{name}: an output needs a tolerance, rtol and atol", line)

    def _error_budget(self, tree: LinedDict) -> float:
        value, name = tree.get("error_budget", 1), tree["name"]
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 1 <= value <= MOST_BUDGET:
            raise self.fail(
                f"{name}: error_budget must be a number from 1 to {MOST_BUDGET}, by which errors "
                f"may go further beyond the naive seed's, not {value!r}",
                tree.lines["error_budget"],
            )
        if "error_budget" in tree and "rtol" not in tree:
            raise self.fail(
                f"{name}: error_budget is for outputs with a tolerance", tree.lines["error_budget"]
            )
        return float(value)

    def _tolerance(self, tree: LinedDict, key: str, dtype: str, line: int) -> Expression:
        value, what = tree.get(key, 0), f"{tree['name']}: {key}"
        if isinstance(value, LinedDict):
            self._check_each(tree, value, what, tree.lines[key])
            line, value = value.lines[dtype], value[dtype]
        return self.expression(value, what, line, floats=True)

    def _check_each(self, tree: LinedDict, each: Mapping[str, Any], what: str, line: int) -> None:
        dtypes = self.dtypes.get(tree["dtype"])
        if dtypes is None:
            raise self.fail(f"{what}: a mapping is for a dtype that is in dtypes", line)
        if set(each) != set(dtypes):
            raise self.fail(f"{what}: it gives each of {', '.join(dtypes)}, and no other", line)

    def distribution(self, value: Any, name: str, dtype: str, line: int) -> Distribution:
        if value == UNSTATED:
            return Distribution(kind=UNSTATED)
        body: dict[str, Any] = dict(value) if isinstance(value, LinedDict) else {"kind": value}
        kind = self.one_of(body.pop("kind", None), KINDS, f"{name}: distribution", line)
        if not is_floating(DTYPES[dtype]) and kind in ("normal", "uniform"):
            article = "an" if dtype[0] in "aeiou" else "a"
            raise self.fail(
                f"{name}: {article} {dtype} is drawn from 'integers', not {kind!r}", line
            )
        through = body.pop("through", None)
        if through is not None:
            self.one_of(through, DTYPES, f"{name}: through", line)
        parameters = {}
        for key, number in body.items():
            if key not in KINDS[kind]:
                raise self.fail(f"{name}: distribution {kind} has no {key!r}", line)
            what = f"{name}: {key}"
            if isinstance(number, bool) or not isinstance(number, int | float | str):
                raise self.fail(f"{what} must be a number or an expression, not {number!r}", line)
            parameters[key] = self.expression(number, what, line, floats=True)
        return Distribution(kind=kind, parameters=parameters, through=through)


def _compared(argument: Argument) -> bool:
    return argument.written and argument.toleranced
