"""The sections of a campaign's configuration: every key, its default, and what it means."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from engine.config_errors import Keys
from engine.store.spending import CallBudget
from evaluators.device_info import known_backends
from operators.catalog.structure import Techniques
from operators.llm.question import Role

Kind = Literal["catalog", "random", "llm"]

USUAL_TUNING = 30.0
"""The weight of tuning cycles, where none is given and they are of use. This and the other
defaults of the catalogue's islands were chosen on recorded tables: docs/measurements.md."""

USUAL_TOURNAMENT: Mapping[Kind, int] = {"catalog": 3, "random": 3, "llm": 12}
"""A model is shown more kernels than chance should choose from."""

LEAST_LANES = 2
LANES_OF_A_DEVICE = 4
"""Cycles under way for each device, over all islands: with one in four of them four GPUs idled for
39% of a campaign, with these for 3%."""
MOST_FED = 2.0
"""Times as many, where devices wait all the same. On recorded tables eight cycles a device instead
of four cost 1.4% and 2.4% of the mean of the best so far."""

Topology = Literal["ring", "full", "random"]


def _known_backend(name: str) -> str:
    if name in known_backends():
        return name
    *others, last = map(repr, known_backends())
    choices = {"expected": f"{', '.join(others)} or {last}"}
    raise PydanticCustomError("literal_error", "Input should be {expected}", choices)


BackendChoice = Annotated[str, AfterValidator(_known_backend)]


class Section(Keys):
    """A docstring below a key is its entry in docs/configuration.md."""


class Budgets(Section):
    """What a campaign may spend. It ends when the first of them is spent, `tuning` apart; null is
    no limit. `evaluations` or `wall_time_s` must be set."""

    evaluations: int | None = Field(default=400, ge=1)
    """Kernels to judge, the naive seed and those that fail among them. They count over all
    sessions."""
    tuning: int = Field(default=4000, ge=0)
    """Mutations to measure in idle device time, beside `evaluations`, on islands that ask models.
    0: none."""
    wall_time_s: float | None = Field(default=None, gt=0)
    """Seconds of search, over all sessions. Start, last contests and final measurement are not
    counted."""
    calls: int | None = Field(default=None, ge=1)
    """Calls of models."""
    tokens: int | None = Field(default=None, ge=1)
    """Tokens that models are sent and write, together."""
    dollars: float | None = Field(default=None, gt=0)
    """Dollars for models, by the prices in `llm.models`; every model needs a price then."""

    @property
    def of_calls(self) -> CallBudget:
        """Those of them that calls of models count for."""
        return CallBudget(calls=self.calls, tokens=self.tokens, dollars=self.dollars)


class Islands(Section):
    """Populations that evolve side by side."""

    count: int = Field(default=2, ge=1)
    """How many there are. More of them search in more ways at once, each with fewer evaluations."""
    per_device: int = Field(default=1, ge=0)
    """How many there are for each device, where that is more than `count`. 0: `count` alone
    decides."""
    cycles_in_flight: int | None = Field(default=None, ge=1)
    """Cycles that an island has under way at once. Raise it where devices wait for models. null:
    2, or more where all islands together would have fewer than 4 a device; and up to twice as
    many on islands of kind `catalog` or `random`, where devices were seen to wait for them."""
    initial: int = Field(default=3, ge=0)
    """Kernels of each family of the catalogue, or of the naive seed's own space, that islands of
    kind `catalog` begin with. They are spread over its parameters and dealt to these islands in
    turn, and are a quarter of `budgets.evaluations` at most. 0: all begins at the naive seed."""
    capacity: int = Field(default=40, ge=1)
    """Kernels that a population holds. The slowest that are best nowhere leave it first."""
    tournament: int | None = Field(default=None, ge=1)
    """Kernels of a population that a cycle chooses its parents from. null: 12 on islands of kind
    `llm`, 3 on others."""
    restart: int | None = Field(default=80, ge=1)
    """Kernels in a row, none of them faster than its best, after which an island begins again
    with the most diverse of all that it knows, its best left out. null: never. What was found is
    not lost."""
    memory: Literal["shared", "own"] = "shared"
    """Whether islands of one kind, `catalog` or `llm`, tell each other what they measured. `own`:
    each knows its own, and what migrates to it."""
    patience: int = Field(default=200, ge=1)
    """Cycles in a row without a new kernel, after which an island ends."""

    def tournament_of(self, kind: Kind) -> int:
        """On islands of that kind."""
        return self.tournament or USUAL_TOURNAMENT[kind]

    @property
    def lanes(self) -> int:
        """Cycles that an island has under way at once."""
        return LEAST_LANES if self.cycles_in_flight is None else self.cycles_in_flight

    @property
    def most_fed(self) -> float:
        """How many times as many they may become, where devices wait."""
        return MOST_FED if self.cycles_in_flight is None else 1.0

    def fitted(self, devices: int) -> "Islands":
        """Told how many devices there are: as many islands as they need."""
        count = max(self.count, self.per_device * devices)
        return self.model_copy(update={"count": count})

    def with_lanes(self, devices: int) -> "Islands":
        """Once their number is settled: as many cycles as keep so many devices busy."""
        usual = max(LEAST_LANES, math.ceil(LANES_OF_A_DEVICE * devices / self.count))
        lanes = usual if self.cycles_in_flight is None else self.cycles_in_flight
        return self.model_copy(update={"cycles_in_flight": lanes})


class Migration(Section):
    """How kernels get from one island to another."""

    topology: Topology = "ring"
    """Who is sent to: the next island (`ring`), all others (`full`), or one by lot (`random`)."""
    every: int = Field(default=8, ge=1)
    """Evaluations of the sending island between two migrations. With fewer of them a good
    kernel spreads sooner, and islands become more alike."""
    elites: int = Field(default=2, ge=0)
    """Kernels that are sent, the best first. 0: no migration."""


class OperatorMix(Section):
    """One island's operators. The weights are relative, and count cycles, not candidates. A list
    of several is dealt to the islands in turn."""

    kind: Kind = "catalog"
    """Who proposes kernels: named techniques (`catalog`), a draw over families and parameters
    (`random`: the weights play no part), or models (`llm`: needs the section `llm`)."""
    techniques: Techniques = "all"
    """What `catalog` and `random` change kernels by, and kind `llm` beside models: `families` of
    known problems, with parameters of a kernel's own `space`; `generic` edits of any kernel's
    code; or `all`."""
    base: Literal["selected", "seed"] = "selected"
    """What a cycle starts from. `seed`: always the naive seed, and operators see nothing else, as
    best-of-N has it; `crossover`, `mutation` and `tuning` must be 0 then."""
    experiment: float = Field(default=4, ge=0)
    """Weight of cycles that select a Base and a Reference, and design experiments for them."""
    crossover: float = Field(default=1, ge=0)
    """Weight of cycles that cross two kernels."""
    mutation: float = Field(default=3, ge=0)
    """Weight of cycles that change parameters of one kernel within its own `space`."""
    tuning: float | None = Field(default=None, ge=0)
    """Weight of cycles that measure the most promising point of a fast kernel's `space`, by a
    statistical model of what was measured there. null: 30 for kind `catalog`; 0 with `base: seed`,
    and for kind `llm`, whose spaces are searched in idle device time (`budgets.tuning`)."""
    experiments_per_cycle: int = Field(default=3, ge=1)
    """Experiments of one design that are written; of kind `random`: kernels drawn in a cycle."""
    choose: Literal["calibrated", "paper"] | None = None
    """Which experiments of a design are written: those of the highest gain, corrected by how the
    designer's predictions came out, with a bonus for what is new; or the paper's most innovative,
    highest and surest. null: `calibrated` for kind `llm`; `paper` for others."""
    models: Mapping[Role, str] = {}
    """For kind `llm`: a role -> a name in `llm.models`, on these islands, in place of
    `llm.roles`."""
    avenues: int = Field(default=10, ge=1)
    """For kind `llm`: directions that a designer is asked for before its experiments."""
    designs: int = Field(default=5, ge=1)
    """For kind `llm`: experiments that a designer is asked for."""
    select_from: int = Field(default=2, ge=1)
    """For kind `llm`: kernels in a tournament from which on a model selects; of fewer nobody is
    asked."""
    repairs: int = Field(default=1, ge=0)
    """For kind `llm`: times that a failed kernel goes back to a model. Where the last of them moved
    the error, it goes once more."""

    @model_validator(mode="after")
    def _own_roles(self) -> Self:
        if "distiller" in self.models:
            raise ValueError(
                "no island asks the distiller, the campaign does: name its model in llm.roles"
            )
        return self

    @model_validator(mode="after")
    def _some_weight(self) -> Self:
        if sum(self.weights.values()) <= 0:
            raise ValueError("one of experiment, crossover, mutation and tuning must be above 0")
        return self

    @model_validator(mode="after")
    def _seed_alone(self) -> Self:
        if self.base == "selected":
            return self
        if self.kind == "random":
            raise ValueError("kind random has no Base: leave base out")
        if self.crossover or self.mutation or self.tuning:
            raise ValueError(
                "base: seed leaves no second kernel to cross and none found to mutate or to tune: "
                "set crossover: 0, mutation: 0 and tuning: 0"
            )
        return self

    @property
    def weights(self) -> Mapping[str, float]:
        """Of cycles, by operator."""
        tuned = self.kind == "catalog" and self.base == "selected"
        return {
            "experiment": self.experiment,
            "crossover": self.crossover,
            "mutation": self.mutation,
            "tuning": USUAL_TUNING * tuned if self.tuning is None else self.tuning,
        }

    @property
    def calibrates(self) -> bool:
        """Whether experiments are chosen by how earlier predictions came out."""
        usual = "calibrated" if self.kind == "llm" else "paper"
        return (self.choose or usual) == "calibrated"

    @property
    def evolves(self) -> bool:
        """Whether cycles see what was found before them."""
        return self.base == "selected"


class Devices(Section):
    """What measures, and what compiles. In a word: `devices: emulated` is `{emulated: true}`."""

    emulated: bool = False
    """With `backend: hip`: an MI300X that the processor emulates checks kernels on small shapes and
    times nothing. Estimated costs order them, and only what needs no times is done."""
    ids: tuple[int, ...] | None = None
    """Devices that measure, by number from 0. null: all GPUs; `cpu`, emulated: half the cores. Not
    for GPUs of a cluster, which Ray shares out."""
    most: int | None = Field(default=None, ge=1)
    """How many devices measure at most. null: all."""
    compile_workers: int | None = Field(default=None, ge=1)
    """Kernels compiled at once, on all nodes. null: one a core that measures nothing (with GPUs one
    less on each node)."""
    patience_s: float = Field(default=1800, gt=0)
    """Seconds that all devices may be left alone after faults; then it ends; `resume` goes on."""

    @model_validator(mode="before")
    @classmethod
    def _bare_word(cls, value: Any) -> Any:
        if isinstance(value, str) and value != "emulated":
            raise ValueError("write emulated, or keys such as ids")
        return {"emulated": True} if value == "emulated" else value


class Profiles(Section):
    """New bests that `ncu` or `rocprofv3` looks at, where it is installed. In a word:
    `profiles: elites` is as below, `profiles: off` is none."""

    most: int = Field(default=12, ge=0)
    """Kernels to profile, over all sessions."""
    share: float = Field(default=0.05, gt=0, le=1)
    """Part of the devices' time that profiles may take, after the first one."""

    @model_validator(mode="before")
    @classmethod
    def _bare_word(cls, value: Any) -> Any:
        if isinstance(value, str | bool):  # YAML reads a bare off as false
            words = {"off": {"most": 0}, False: {"most": 0}, "elites": {}}
            if value not in words:
                raise ValueError("write elites, off, or most and share")
            return words[value]
        return value


class Final(Section):
    """The measurement at the end: sittings of the best beside the naive seed and runners-up."""

    seconds: float = Field(default=30, ge=0)
    """How long it lasts, in seconds; no fewer than three sittings are held, and no more than six.
    Contests that are left are given as long. More of it makes the interval narrower. 0: neither."""


class Tracking(Section):
    """Where MLflow records the campaign. In a word: `tracking: none` is `{uri: none}`."""

    uri: str = Field(default="sqlite", min_length=1)
    """`sqlite` (`runs_dir/mlflow.db`), `none`, or any tracking URI of MLflow."""
    experiment: str = ""
    """MLflow's experiment that the run belongs to. Empty: one for each task, such as
    `kernel-scientist/sgemm`."""

    @model_validator(mode="before")
    @classmethod
    def _bare_uri(cls, value: Any) -> Any:
        return {"uri": value} if isinstance(value, str) else value


class Snapshots(Section):
    """Copies of the store, on storage that may be shared; the store itself needs a local disk."""

    folder: Path | None = None
    """Where they go; the folder must be there. null: no copies."""
    every_s: float = Field(default=60, gt=0)
    """Seconds between two copies."""


class RayCluster(Section):
    """The Ray that a campaign runs on."""

    address: str | None = None
    """A cluster's address, or `auto` inside a job. null: a Ray of the campaign's own."""
