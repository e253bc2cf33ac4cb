"""Workload: one shape of a task, and what it sets beside its sizes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evaluators.dtypes import Value
from evaluators.expression import Env, Number, null_key

Suite = Literal["tests", "benchmarks", "held_out"]

SUITES: tuple[Suite, ...] = ("tests", "benchmarks", "held_out")
ONE_SHAPE = "the one shape"
"""Of a task without any dim, attribute or dtype parameter."""


def spelled(value: Value) -> str:
    """As YAML has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What a workload sets that is no size: every attribute, every dtype parameter's dtype, and of
    every optional argument whether it is null."""

    attributes: Mapping[str, Value] = field(default_factory=dict)
    dtypes: Mapping[str, str] = field(default_factory=dict)
    nulls: Mapping[str, bool] = field(default_factory=dict)

    @property
    def env(self) -> Env:
        """As expressions know it: true is 1."""
        attributes: dict[str, Number | str] = {
            name: int(value) if isinstance(value, bool) else value
            for name, value in self.attributes.items()
        }
        nulls = {null_key(name): int(null) for name, null in self.nulls.items()}
        return {**attributes, **self.dtypes, **nulls}

    @property
    def values(self) -> Mapping[str, Value | str]:
        """Attributes and dtypes by name, as a reference is given them."""
        return {**self.attributes, **self.dtypes}

    @property
    def label(self) -> str:
        null = {name: "null" for name, is_null in self.nulls.items() if is_null}
        stated = {name: spelled(value) for name, value in self.attributes.items()}
        return " ".join(f"{k}={v}" for k, v in {**stated, **self.dtypes, **null}.items())


PLAIN = Setting()


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """One shape of a task. suite: of which it is one; what may be told of it depends on that.

    weight: how much it counts beside the others of its suite.
    """

    dims: Mapping[str, int]
    suite: Suite = field(compare=False)
    setting: Setting = PLAIN
    weight: float = field(default=1.0, compare=False)

    @property
    def env(self) -> Env:
        """What expressions know of it: sizes and setting."""
        return self.dims if self.setting is PLAIN else {**self.dims, **self.setting.env}

    @property
    def label(self) -> str:
        sizes = " ".join(f"{name}={value}" for name, value in self.dims.items())
        return " ".join(filter(None, (sizes, self.setting.label))) or ONE_SHAPE
