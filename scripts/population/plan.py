"""Plan: what a study tries, on what, and what it compares its outcome on; read from YAML."""

import math
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from engine.config_errors import ConfigError, first_problem
from engine.config_sections import Section
from evaluators.lined_yaml import YamlError, load, plain

SEED_OF_FINALISTS = 1000
SEED_OF_UNSEEN = 2000
"""Campaigns of trials count their seeds from 0; others have seeds of their own from here."""


class Interval(Section):
    """Whole numbers where both ends are. step: between two values; log: small ones more often."""

    low: float
    high: float
    log: bool = False
    step: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _some_width(self) -> Self:
        if not self.low < self.high:
            raise ValueError(f"low must be below high, and {self.low:g} is not below {self.high:g}")
        if self.log and (self.low <= 0 or self.step is not None):
            raise ValueError("log needs a low above 0, and no step")
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


Value = str | int | float | bool | None
Choices = Annotated[tuple[Value, ...], Field(min_length=2)]


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
    def kind(self) -> Literal["tables", "tasks", "situations"]:
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
    search: dict[str, Interval | Choices] = Field(min_length=1)
    """A campaign's key, dotted, to its range or its choices. `operators.KEY` is of all islands."""
    tracking: str = "none"
    """MLflow's tracking URI, `sqlite` for `mlflow.db` in the study's folder, or `none`."""

    @model_validator(mode="after")
    def _never_seen(self) -> Self:
        if self.seen.kind != self.unseen.kind:
            raise ValueError("seen and unseen must name the same: tables, tasks or situations")
        seen = {path.resolve() for path in (*self.seen.tables, *self.seen.situations)}
        others = (*self.unseen.tables, *self.unseen.situations)
        if known := [path for path in others if path.resolve() in seen]:
            raise ValueError(f"unseen: trials run on {known[0]}; name another file")
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
