"""Plan: what a study tries, on what, and what it compares its outcome on; read from YAML."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PlainValidator,
    Tag,
    ValidationError,
    model_validator,
)

from engine.config_errors import ConfigError, first_problem
from engine.config_sections import Section
from evaluators.lined_yaml import YamlError, load, plain

SEED_OF_FINALISTS = 1000
SEED_OF_UNSEEN = 2000
"""Campaigns of trials count their seeds from 0; others have seeds of their own from here."""


class Interval(Section):
    """Whole numbers where both ends are. step: between two values; log: small ones more often."""

    low: float = Field(allow_inf_nan=False)
    high: float = Field(allow_inf_nan=False)
    log: bool = False
    step: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"low must be below high, and {self.low:g} is not below {self.high:g}")
        if self.log and (self.low <= 0 or self.step is not None):
            raise ValueError("log needs a low above 0, and no step")
        if self.step is not None and self.step > self.high - self.low:
            raise ValueError(f"step {self.step:g} is wider than from {self.low:g} to {self.high:g}")
        return self

    @property
    def whole(self) -> bool:
        """Whether its values are whole numbers."""
        ends = (self.low, self.high, self.step or 1.0)
        return all(float(end).is_integer() for end in ends)

    def holds(self, value: Any) -> bool:
        """Whether it is one of its values."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        step = self.step or (1 if self.whole else None)
        on_step = step is None or math.isclose((value - self.low) % step % step, 0, abs_tol=1e-9)
        return self.low <= value <= self.high and on_step


Kind = Literal["tables", "tasks", "situations"]
"""What trials run on."""

Value = str | int | float | bool | None


def _to_be_tried(given: Any) -> Value:
    if given is not None and not isinstance(given, str | int | float):
        raise ValueError("write text, a number, true, false or null")
    if isinstance(given, float) and not math.isfinite(given):
        raise ValueError("no campaign can try it; write a finite number")
    return given


def _all_unlike(choices: tuple[Value, ...]) -> tuple[Value, ...]:
    for number, one in enumerate(choices):
        if one in choices[:number]:  # also true beside 1, which Optuna takes for one
            raise ValueError(f"{one!r} stands twice among the choices; leave one out")
    return choices


def _form(given: Any) -> str:
    return "(choices)" if isinstance(given, list | tuple) else "(range)"


Choice = Annotated[Value, PlainValidator(_to_be_tried)]
Choices = Annotated[tuple[Choice, ...], Field(min_length=2), AfterValidator(_all_unlike)]
Searched = Annotated[
    Annotated[Interval, Tag("(range)")] | Annotated[Choices, Tag("(choices)")], Discriminator(_form)
]
"""A problem is told of the form that is written."""


class Where(Section):
    """Tables, tasks or situations. tables: files or folders of scripts/record_table.py, or others'
    T4 files; tasks: of real campaigns, as a configuration names them; situations: files of
    scripts/bench_roles.py."""

    tables: tuple[Path, ...] = ()
    tasks: tuple[str, ...] = ()
    situations: tuple[Path, ...] = ()
    seeds: int = Field(default=2, ge=1)
    """Campaigns on each table or task; of situations: how often each is asked."""

    @property
    def kind(self) -> Kind:
        """Which of the three it names."""
        if self.tables:
            return "tables"
        return "tasks" if self.tasks else "situations"

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if sum(map(bool, (self.tables, self.tasks, self.situations))) != 1:
            raise ValueError("name tables, tasks or situations, and one of them alone")
        return self


class Plan(Section):
    """A file lists what differs from these defaults."""

    name: str = Field(default="population", pattern=r"^[A-Za-z0-9][\w.-]*$")
    """Of the study, and of its experiment in MLflow: `kernel-scientist/tune/NAME`."""
    campaign: dict[str, Any] = Field(default={})
    """Keys of a campaign's configuration that all trials have, and the default too."""
    seen: Where
    """What trials run on."""
    unseen: Where
    """What the outcome is compared with the default on: no trial runs there."""
    evaluations: int = Field(default=150, ge=2)
    """Of each campaign."""
    trials: int = Field(default=100, ge=1)
    """Of the whole study, over all sittings."""
    workers: int = Field(default=1, ge=1)
    """Trials at once, each in a process of its own. Real campaigns at once need `cores`, or a Ray
    cluster that they share: `campaign: {ray: {address: ...}}`."""
    cores: int | None = Field(default=None, ge=1)
    """Cores of each worker, on disjoint sets: real campaigns at once on one machine without a
    cluster. Finalists and the comparison run side by side on them too. null: all."""
    seed: int = Field(default=0, ge=0)
    sampler: Literal["tpe", "random", "gp", "cmaes"] = "tpe"
    """Optuna's: how values are chosen."""
    pruner: Literal["wilcoxon", "median", "none"] = "wilcoxon"
    """Optuna's: when a trial is given up before it has run everywhere."""
    startup: int = Field(default=20, ge=1)
    """Trials at random before the sampler chooses."""
    finalists: int = Field(default=5, ge=1)
    """The best trials, which run again with other seeds: the best of many is lucky too."""
    search: dict[str, Searched] = Field(min_length=1)
    """A campaign's key, dotted, to its range or its choices. `operators.KEY` is of all islands."""
    tracking: str = "none"
    """MLflow's tracking URI, `sqlite` for `mlflow.db` in the study's folder, or `none`."""

    @model_validator(mode="after")
    def _same_kind(self) -> Self:
        if self.seen.kind != self.unseen.kind:
            raise ValueError("seen and unseen must name the same: tables, tasks or situations")
        return self


def read_plan(path: Path) -> Plan:
    """Raises ConfigError."""
    try:
        values = load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise ConfigError(f"{path}: the plan can't be read: {reason}") from None
    except YamlError as error:
        raise ConfigError(f"{path}, line {error.line}: {error.reason}") from None
    if not isinstance(values, dict):
        raise ConfigError(f"{path}: a plan is a mapping of keys to values")
    try:
        return Plan.model_validate(plain(values))
    except ValidationError as error:
        raise ConfigError(f"{path}: {first_problem(error, Plan)}") from None
