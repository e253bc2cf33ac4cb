"""One device's evaluator as the dispatcher sees it."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from engine.dispatch.workbench import Blocks, Broken, Built, Measured
from evaluators.measuring.sittings import Sitting
from evaluators.probes.probe import Answer, BuiltProbe
from evaluators.profile.profiler import Profile


class Left(Exception):
    """The device is no longer the campaign's: its node has left the cluster."""


class Lane(Protocol):
    """One device's evaluator. anchor: as publish() gave it, None for the naive seed itself."""

    name: str

    @property
    def well(self) -> bool:
        """Whether the device works, as far as is known."""

    @property
    def trouble(self) -> str:
        """Why it is left alone, in a clause; empty when it is well."""

    @property
    def free(self) -> bool:
        """Whether the device may be given work now: it is well, and no profiler is at it."""

    async def fit(self) -> None:
        """Return when it is free. Raises Left."""

    def leave_alone(self, error: Broken) -> None:
        """Give it no work until it has computed a known answer."""

    def leave(self) -> None:
        """It is the campaign's no longer: it is neither well nor free any more."""

    async def measure(self, built: Built, anchor: Any, best: Mapping[str, float]) -> Measured:
        """Raises Broken; Blameless, when the kernel is not to blame."""

    async def sit(self, built: Built, rivals: Sequence[Any], check: bool, turn: int) -> Sitting:
        """Held apart from all else: see evaluators.measuring.sittings. rivals: as anchors are, or
        BaselineAnchor, which come last.

        turn: see Workbench.open_afresh(). Raises Broken.
        """

    async def link(self, built: Built, anchor: Any) -> Blocks | None:
        """None when the kernel no longer passes. Raises Broken."""

    async def profile(self, built: Built, task: str) -> Profile:
        """After what was given to the device before; it is not free meanwhile. Raises Broken."""

    async def probe(self, built: BuiltProbe) -> Answer:
        """Raises Broken."""
