"""One node of a campaign's: what it gives, and whether it is still there."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from engine.actors.layout import Layout
from engine.actors.nodes.node import COMPILE_S, PING_S, Node, NodeLost, answered
from engine.dispatch.workbench import Broken, Built, Displaced, Workbench
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation


class Home:
    """A node. plan: what it gives.

    scout: None where the node can't leave, as it is the campaign's own; else an actor there.
    lost: told when the node turns out to be gone. notes: what is to be said of it, clauses.
    """

    def __init__(
        self, node: Node, plan: Layout, scout: Any = None, lost: Callable[[], None] = lambda: None
    ) -> None:
        self.node, self.plan = node, plan
        self.compiles = scout is None
        self.notes: list[str] = []
        self.left = False
        self._scout, self._lost = scout, lost
        self._compiling = 0

    @property
    def load(self) -> float:
        """Kernels that are compiled there just now, as a part of what there is room for."""
        return self._compiling / max(1, self.plan.compile_workers)

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Meanwhile one kernel more is compiled there."""
        self._compiling += 1
        try:
            yield
        finally:
            self._compiling -= 1

    def name(self, device: int) -> str:
        """A device's, as people are told."""
        return f"device {device} of {self.node.name}" if self.node.name else f"device {device}"

    async def blame(self, error: Broken) -> Broken:
        """What to raise for a process that was lost there: Displaced, where the node was lost."""
        if type(error) is not Broken or not await self._is_gone():
            return error
        return Displaced(f"its node {self.node.name} has left the cluster")

    async def _is_gone(self) -> bool:
        if self._scout is None or self.left:
            return self.left
        try:
            await answered(self._scout.ping.remote(), PING_S)
        except NodeLost:
            self._lost()
            return True
        return False

    async def try_compiling(self, workbench: Workbench, source: str, info: DeviceInfo) -> None:
        """Whether kernels are compiled here as on a node whose device info is; else why not is
        noted. source: compiles."""
        if not self.plan.compile_workers:
            return  # as is meant, on a node that shares out no CPUs
        try:
            call = self._scout.compile.remote(workbench, source, info)
            made: Built | Evaluation = await answered(call, COMPILE_S)
        except NodeLost as lost:
            self.notes.append(f"compiles nothing: {lost}")
            return
        if isinstance(made, Evaluation):
            self.notes.append(f"compiles nothing: the naive seed fails there, {made.reason}")
        elif made.compiled.compiler != info.compiler:
            self.notes.append(
                f"compiles nothing: it has {made.compiled.compiler}, and those that measure "
                f"{info.compiler}"
            )
        else:
            self.compiles = True
