"""The campaign's configuration: every key, its default, and what is wrong with a bad one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from engine.config_errors import ConfigError, first_problem
from engine.llm.config import Llm
from evaluators.device_info import known_backends
from evaluators.spelling import did_you_mean
from operators.llm.question import Role

Topology = Literal["ring", "full", "random"]


def _known_backend(name: str) -> str:
    if name in known_backends():
        return name
    *others, last = map(repr, known_backends())
    choices = {"expected": f"{', '.join(others)} or {last}"}
    raise PydanticCustomError("literal_error", "Input should be {expected}", choices)


BackendChoice = Annotated[str, AfterValidator(_known_backend)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Budgets(_Section):
    """The campaign ends at whichever of the others comes first; tuning stands beside them."""

    evaluations: int | None = Field(default=400, ge=1)
    tuning: int = Field(default=4000, ge=0)  # mutations in idle device time, where models are asked
    wall_time_s: float | None = Field(default=None, gt=0)
    calls: int | None = Field(default=None, ge=1)  # of models
    tokens: int | None = Field(default=None, ge=1)  # sent to models and written by them
    dollars: float | None = Field(default=None, gt=0)  # by the prices in llm.models


class Islands(_Section):
    count: int = Field(default=2, ge=1)
    per_device: int = Field(default=0, ge=0)  # with many devices more than count: so many each
    cycles_in_flight: int = Field(default=2, ge=1)
    capacity: int = Field(default=40, ge=1)
    tournament: int = Field(default=12, ge=1)
    memory: Literal["shared", "own"] = "shared"  # of what models tried, and what came of it
    patience: int = Field(
        default=200, ge=1
    )  # cycles in a row without a new kernel, then the island ends


class Migration(_Section):
    topology: Topology = "ring"
    every: int = Field(default=8, ge=1)  # evaluations of the sending island
    elites: int = Field(default=2, ge=0)


class OperatorMix(_Section):
    """One island's operators; the weights are relative, and count cycles, not candidates."""

    kind: Literal["catalog", "random", "llm"] = "catalog"
    experiment: float = Field(default=4, ge=0)
    crossover: float = Field(default=1, ge=0)
    mutation: float = Field(default=3, ge=0)
    experiments_per_cycle: int = Field(default=3, ge=1)
    # For kind llm only; models: a role -> a name in llm.models, on these islands.
    models: Mapping[Role, str] = {}
    avenues: int = Field(default=10, ge=1)
    designs: int = Field(default=5, ge=1)  # experiments that a designer is asked for
    select_from: int = Field(default=2, ge=1)  # kernels of a tournament; of fewer nobody is asked
    # Times that a failed kernel goes back; where the last of them moved the error, once more.
    repairs: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _some_weight(self) -> Self:
        if self.experiment + self.crossover + self.mutation <= 0:
            raise ValueError("one of experiment, crossover and mutation must be above 0")
        return self


class Devices(_Section):
    ids: tuple[int, ...] | None = None  # None: all GPUs, or on cpu the last half of the cores
    compile_workers: int | None = Field(default=None, ge=1)  # None: the cores that measure nothing
    patience_s: float = Field(default=1800, gt=0)  # all left alone after faults: then it ends


class Profiles(_Section):
    """New bests that ncu or rocprofv3 looks at, where it is installed; "off": none."""

    most: int = Field(default=12, ge=0)  # over all sessions
    share: float = Field(default=0.05, gt=0, le=1)  # of the devices' time, after the first

    @model_validator(mode="before")
    @classmethod
    def _bare_word(cls, value: Any) -> Any:
        if isinstance(value, str | bool):  # YAML reads a bare off as false
            words = {"off": {"most": 0}, False: {"most": 0}, "elites": {}}
            if value not in words:
                raise ValueError(f"write elites, off, or most and share, not {value!r}")
            return words[value]
        return value


class Final(_Section):
    """The measurement at the end: sittings of the best beside the naive seed and runners-up."""

    seconds: float = Field(default=30, ge=0)  # three sittings at least; 0: no such measurement


class Tracking(_Section):
    """uri: "none", "sqlite" (runs_dir/mlflow.db), or any MLflow tracking URI."""

    uri: str = Field(default="sqlite", min_length=1)
    experiment: str = Field(default="kernel-scientist", min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _bare_uri(cls, value: Any) -> Any:
        return {"uri": value} if isinstance(value, str) else value


class Snapshots(_Section):
    """Copies of the store, on storage that may be shared; the store itself needs a local disk."""

    folder: Path | None = None
    every_s: float = Field(default=60, gt=0)


class RayCluster(_Section):
    address: str | None = None  # None: a Ray of its own; "auto" inside a job


class CampaignConfig(_Section):
    """What one campaign is. A file lists only what differs from these defaults."""

    task: str = Field(min_length=1)  # a shipped name, or the path of a folder
    backend: BackendChoice = "cpu"
    name: str = Field(
        default="", pattern=r"^([A-Za-z0-9][\w.-]*)?$"
    )  # empty: from the task and the time
    seed: int = Field(default=0, ge=0)
    runs_dir: Path = Path("runs")
    budgets: Budgets = Budgets()
    islands: Islands = Islands()
    migration: Migration = Migration()
    operators: tuple[OperatorMix, ...] = Field(
        default=(OperatorMix(),), min_length=1
    )  # islands in turn
    devices: Devices = Devices()
    profiles: Profiles = Profiles()
    final: Final = Final()
    tracking: Tracking = Tracking()
    snapshots: Snapshots = Snapshots()
    ray: RayCluster = RayCluster()
    llm: Llm | None = None  # needed where an island's operators are of kind llm

    @model_validator(mode="after")
    def _some_budget(self) -> Self:
        if self.budgets.evaluations is None and self.budgets.wall_time_s is None:
            raise ValueError("set budgets.evaluations or budgets.wall_time_s")
        return self

    @model_validator(mode="after")
    def _models_are_known(self) -> Self:
        asking = [mix for mix in self.operators if mix.kind == "llm"]
        if asking and self.llm is None:
            raise ValueError("operators of kind llm need the section llm, with models")
        named = {name for mix in asking for name in mix.models.values()}
        if self.llm is not None and (unknown := named - self.llm.models.keys()):
            raise ValueError(
                f"operators.models names {min(unknown)!r}"
                f"{did_you_mean(min(unknown), self.llm.models)}; llm.models has "
                f"{', '.join(self.llm.models)}"
            )
        if self.budgets.dollars is not None and self.llm is not None and not self.llm.priced:
            raise ValueError(
                "budgets.dollars needs prices: set dollars_per_million_prompt and "
                "dollars_per_million_completion of every model in llm.models"
            )
        return self

    @property
    def asks_models(self) -> bool:
        """Whether any island asks a model."""
        count = self.islands.count
        return any(self.operators_of(island).kind == "llm" for island in range(count))

    def tunes(self, island: int) -> bool:
        """Whether an island has mutations measured while it waits for models."""
        return self.budgets.tuning > 0 and self.operators_of(island).kind == "llm"

    def operators_of(self, island: int) -> OperatorMix:
        return self.operators[island % len(self.operators)]

    @property
    def compares_ideas(self) -> bool:
        """Whether experiments are compared with those of before, ahead of a writer."""
        return self.llm is not None and self.llm.novelty is not None

    def shares_memory(self, island: int) -> bool:
        """Whether it tells other islands what it measured, and is told by them."""
        return self.islands.memory == "shared" and self.operators_of(island).kind == "llm"

    @property
    def tracking_uri(self) -> str | None:
        """What MLflow is given; None when nothing is tracked."""
        if self.tracking.uri == "none":
            return None
        if self.tracking.uri == "sqlite":
            return f"sqlite:///{self.runs_dir.resolve() / 'mlflow.db'}"
        return self.tracking.uri


def parse_config(values: dict[str, Any], *, where: str) -> CampaignConfig:
    """where: named in errors. Raises ConfigError."""
    try:
        return CampaignConfig.model_validate(values)
    except ValidationError as error:
        raise ConfigError(f"{where}: {first_problem(error, CampaignConfig)}") from error
