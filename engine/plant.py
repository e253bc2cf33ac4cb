"""What a dispatcher works with: a way to compile, devices, the store; protocols only."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engine.events import Journal
from engine.workbench import Blocks, Built, Measured
from evaluators.evaluation import Evaluation


class Lane(Protocol):
    """One device's evaluator. anchor: as publish() gave it, None for the naive seed itself."""

    name: str

    @property
    def well(self) -> bool:
        """Whether the device can be given work now."""

    async def fit(self) -> None:
        """Return when it can."""

    async def measure(
        self, built: Built, anchor: Any, best: Mapping[str, float], best_speedup: float
    ) -> Measured:
        """Raises Broken; Sick, when the kernel is not to blame."""

    async def link(self, built: Built, anchor: Any) -> Blocks | None:
        """None when the kernel no longer passes. Raises Broken."""


Compile = Callable[[str], Awaitable[Built | Evaluation]]
"""Source -> compiled, or the verdict. Raises Broken."""

Publish = Callable[[Built, tuple[Blocks, ...]], Any]
"""Make an anchor, with its links back to the seed, known to every lane."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plant:
    """What a dispatcher works with. budget: evaluations over all sessions; None: no bound."""

    task_hash: str
    device_class: str
    session: int
    compile: Compile
    compile_workers: int
    lanes: Sequence[Lane]
    publish: Publish
    journal: Journal
    budget: int | None
