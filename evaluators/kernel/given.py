"""Giver: what a launch passes for each of its args on one workload."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evaluators.dtypes import DTYPES, SCALARS, is_floating
from evaluators.expression import Env, ExpressionError
from evaluators.kernel.front_matter import Arg, FrontMatter, StructArg, ValueArg, invalid
from evaluators.kernel.plan import Given, Null, Scalar, Struct
from evaluators.tasks.arguments import Argument
from evaluators.tasks.workload import Workload


@dataclass(frozen=True, slots=True)
class Giver:
    """arguments: of the task, by name, without what is null. env: of the launch's round.

    preparing: whether the launch is one of the prepare steps.
    """

    front: FrontMatter
    arguments: Mapping[str, Argument]
    workload: Workload
    env: Env
    line: int
    preparing: bool

    def given(self, arg: Arg) -> Given:
        """Raises Rejected(INVALID)."""
        match arg:
            case Null():
                return arg
            case ValueArg():
                return self._scalar(arg)
            case StructArg():
                return Struct(fields=tuple(self.given(field) for field in arg.fields))
        return self._named(arg)

    def _scalar(self, arg: ValueArg) -> Scalar:
        setting = self.workload.setting
        type_ = setting.dtypes.get(arg.type, arg.type)
        if type_ not in SCALARS:
            parameters = f", or one of {', '.join(setting.dtypes)}" if setting.dtypes else ""
            raise invalid(
                f"args: type {type_!r} is not one of {', '.join(SCALARS)}{parameters}", self.line
            )
        dtype = DTYPES[type_]
        try:
            if is_floating(dtype):
                return self._decimal(float(arg.value.evaluate(self.env)), type_)
            value = arg.value.integer(self.env)
        except ExpressionError as error:
            raise invalid(f"args: {error}", self.line) from None
        if type_ == "bool":
            return Scalar(value=int(value != 0), type=type_)
        low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
        if not low <= value <= high:
            raise invalid(f"args: {arg.value.text} is {value}, must be {low} to {high}", self.line)
        return Scalar(value=value, type=type_)

    def _decimal(self, value: float, type_: str) -> Scalar:
        with np.errstate(over="ignore"):
            if not np.isfinite(float(np.array(value).astype(DTYPES[type_]))):
                raise invalid(f"args: {value:g} is beyond what {type_} holds", self.line)
        return Scalar(value=value, type=type_)

    def _named(self, name: str) -> Given:
        workload, attributes = self.workload, self.workload.setting.attributes
        if name in self.front.scratch:
            return name
        if name in self.arguments:
            if self.preparing and self.arguments[name].role != "constant":
                raise invalid(
                    f"prepare may use constant inputs and scratch, not {name!r}", self.line
                )
            return name
        if workload.setting.nulls.get(name, False):
            return Null()
        if name in workload.dims:
            return self._int32(name, workload.dims[name])
        if name in attributes:
            value = attributes[name]
            if isinstance(value, bool):
                return Scalar(value=int(value), type="bool")
            if isinstance(value, float):
                return self._decimal(value, "float32")
            return self._int32(name, value)
        known = ", ".join((*self.arguments, *self.front.scratch, *workload.dims, *attributes))
        hint = f"; write {{value: {name}, type: int32}}" if name in self.env else ""
        if name in workload.setting.dtypes:
            hint = f"; {name} is a dtype: put it into the kernel's name, as in f<{name}>"
        raise invalid(f"args: unknown name {name!r} (known: {known}){hint}", self.line)

    def _int32(self, name: str, value: int) -> Scalar:
        if not -(2**31) <= value < 2**31:
            raise invalid(
                f"args: {name} = {value} does not fit in int32, which a name stands for: write "
                f"{{value: {name}, type: {'int64' if -(2**63) <= value < 2**63 else 'uint64'}}}",
                self.line,
            )
        return Scalar(value=value, type="int32")
