"""The campaign's configuration as a whole, and what is wrong with a bad one."""

import sys
from pathlib import Path
from typing import Any, Self

from pydantic import Field, ValidationError, model_validator

from engine.config_errors import ConfigError, first_problem
from engine.config_learning import Credit, Findings, Probes
from engine.config_sections import (
    BackendChoice,
    Budgets,
    Devices,
    Final,
    Islands,
    Migration,
    OperatorMix,
    Profiles,
    RayCluster,
    Section,
    Snapshots,
    Topology,
    Tracking,
)
from engine.llm.config import Llm
from engine.stopping.config import Stop
from engine.store.kinds.steering import Contribution
from evaluators.device_info import EMULATED_BACKENDS
from evaluators.spelling import did_you_mean

__all__ = ["BackendChoice", "CampaignConfig", "OperatorMix", "Topology", "parse_config"]


class CampaignConfig(Section):
    """What one campaign is. A file lists only what differs from these defaults."""

    task: str = Field(min_length=1)
    """The problem: a shipped task's name, or the path of a task's folder."""
    backend: BackendChoice = "cpu"
    """Where kernels run: `cpu`, `cuda` (NVIDIA), `hip` (AMD), or one that was registered."""
    name: str = Field(default="", pattern=r"^([A-Za-z0-9][\w.-]*)?$")
    """The campaign's folder in `runs_dir`. Empty: made of the task and the time."""
    seed: int = Field(default=0, ge=0)
    """Every random decision follows from it. The same seed does not repeat a campaign exactly, as
    measured times differ."""
    runs_dir: Path = Path("runs")
    """The folder of campaigns, on a local disk."""
    start_from: Path | None = None
    """The folder of a campaign for the same task. Up to 8 of its best kernels are evaluated anew at
    the beginning, within `budgets.evaluations`, and join the populations. null: none."""
    search_shapes: int | None = Field(default=None, ge=1)
    """Benchmark shapes that the search checks and times kernels on, where a task has many: so many
    of them that are far from each other. Contests and the final measurement use all. null: all."""
    budgets: Budgets = Budgets()
    stop: Stop = Stop()
    islands: Islands = Islands()
    migration: Migration = Migration()
    operators: tuple[OperatorMix, ...] = Field(default=(OperatorMix(),), min_length=1)
    credit: Credit = Credit()
    devices: Devices = Devices()
    profiles: Profiles = Profiles()
    probes: Probes = Probes()
    final: Final = Final()
    findings: Findings = Findings()
    tracking: Tracking = Tracking()
    snapshots: Snapshots = Snapshots()
    ray: RayCluster = RayCluster()
    llm: Llm | None = None

    @model_validator(mode="after")
    def _some_budget(self) -> Self:
        if self.budgets.evaluations is None and self.budgets.wall_time_s is None:
            raise ValueError("set budgets.evaluations or budgets.wall_time_s")
        return self

    @model_validator(mode="after")
    def _emulated_devices(self) -> Self:
        if not self.devices.emulated:
            return self
        if self.backend not in EMULATED_BACKENDS:
            raise ValueError(
                f"devices: emulated goes with backend: {' or '.join(EMULATED_BACKENDS)}, not with "
                f"{self.backend}, of which there is no emulator"
            )
        if self.stop.speedup is not None or self.stop.speed_of_light is not None:
            raise ValueError(
                "devices: emulated times nothing, so stop.speedup and stop.speed_of_light are "
                "never reached: leave them out"
            )
        if self.ray.address is not None:
            raise ValueError("devices: emulated runs on this machine alone: leave ray.address out")
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

    def asks_probes(self, island: int) -> bool:
        """Whether its designers may ask for probes."""
        mix = self.operators_of(island)
        asks = self.probes.most > 0 and not self.devices.emulated
        return asks and mix.kind == "llm" and mix.evolves

    def takers(self, what: Contribution) -> list[int]:
        """Islands that can take what a person brings: for an idea a model has to write."""
        every = range(self.islands.count)
        return [one for one in every if what == "kernel" or self.operators_of(one).kind == "llm"]

    def tunes(self, island: int) -> bool:
        """Whether an island has mutations measured while it waits for models."""
        mix = self.operators_of(island)
        return self.budgets.tuning > 0 and mix.kind == "llm" and mix.evolves

    def operators_of(self, island: int) -> OperatorMix:
        return self.operators[island % len(self.operators)]

    @property
    def designing_islands(self) -> list[int]:
        """Those that share an initial design."""
        mixes = enumerate(map(self.operators_of, range(self.islands.count)))
        catalogue = [index for index, mix in mixes if mix.kind == "catalog" and mix.evolves]
        return catalogue if self.islands.initial else []

    @property
    def most_initial(self) -> int:
        """Points of it: a quarter of the evaluations, where they are bounded."""
        return sys.maxsize if self.budgets.evaluations is None else self.budgets.evaluations // 4

    @property
    def compares_ideas(self) -> bool:
        """Whether experiments are compared with those of before, ahead of a writer."""
        return self.llm is not None and self.llm.novelty is not None

    def shares_memory(self, island: int) -> bool:
        """Whether it tells other islands what it measured, and is told by them."""
        mix = self.operators_of(island)
        return self.islands.memory == "shared" and mix.kind != "random" and mix.evolves

    def memory_partners(self, island: int) -> list[int]:
        """The others that it tells what it measured, and that tell it: those of its kind."""
        kind = self.operators_of(island).kind
        return [
            other
            for other in range(self.islands.count)
            if other != island
            and self.operators_of(other).kind == kind
            and self.shares_memory(island)
            and self.shares_memory(other)
        ]

    @property
    def experiment(self) -> str:
        """MLflow's, by name."""
        return self.tracking.experiment or f"kernel-scientist/{Path(self.task).name}"

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
