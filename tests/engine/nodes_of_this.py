"""Nodes of a cluster that are none: what local_ray runs on them runs in this process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from engine.actors.cluster import Site
from engine.actors.layout import Layout
from engine.config import CampaignConfig

DRIVERS = "0" * 56
"""The id of the node that the driver is on."""


@dataclass
class LocalNode:
    """device: of its GPUs, by name. lacks: why none of them can be opened. measured: kernels on
    them; compiled: there."""

    name: str
    gpus: int = 0
    cpus: int = 1
    device: str = "a GPU"
    compiler: str = "none"
    lacks: str = ""
    alive: bool = True
    measured: int = 0
    compiled: int = 0


class LocalNodes:
    """The driver's comes first; others may come and go while a campaign runs."""

    def __init__(self, **of_driver: Any) -> None:
        self._nodes = {DRIVERS: LocalNode("head", **of_driver)}
        self.here = DRIVERS
        self.kill_actors: Callable[[str], None] = lambda node: None

    def __getitem__(self, node_id: str) -> LocalNode:
        return self._nodes[node_id]

    def start(self, name: str, **more: Any) -> str:
        """Returns its id."""
        node_id = f"{len(self._nodes):056d}"
        self._nodes[node_id] = LocalNode(name, **more)
        return node_id

    def kill(self, node_id: str) -> None:
        self._nodes[node_id].alive = False
        self.kill_actors(node_id)

    def alive(self, node_id: str) -> bool:
        return self._nodes[node_id].alive

    @property
    def node(self) -> LocalNode:
        """Where this process pretends to be."""
        return self._nodes[self.here]

    @contextmanager
    def being(self, node_id: str) -> Iterator[None]:
        before, self.here = self.here, node_id
        try:
            yield
        finally:
            self.here = before

    def told(self) -> list[dict[str, Any]]:
        """As ray.nodes() tells of them."""
        return [
            {
                "NodeID": node_id,
                "Alive": node.alive,
                "NodeManagerHostname": node.name,
                "Resources": {"CPU": float(node.cpus), "GPU": float(node.gpus)},
            }
            for node_id, node in self._nodes.items()
        ]

    @contextmanager
    def site(self, config: CampaignConfig) -> Iterator[Site]:
        """See engine.actors.cluster.on_site()."""
        gpus = sum(node.gpus for node in self._nodes.values())
        plan = Layout(
            devices=tuple(range(gpus)), gpus=1, compile_workers=1, compile_cores=frozenset()
        )
        yield Site(plan=plan, cluster=True)
