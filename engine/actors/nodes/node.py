"""The nodes of a cluster: what each of them gives a campaign, and whether it is still there."""

import asyncio
import os
import re
from collections import Counter
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from engine.actors.journal import root_cause
from engine.actors.layout import Layout, layout_here
from engine.actors.lifeline import Driver, live_with
from engine.config_sections import Devices
from engine.dispatch.workbench import Built, Workbench
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation

_T = TypeVar("_T")

ANSWER_S = 60.0
"""For a node to start a process and answer; a new one may have to load everything first."""

COMPILE_S = 300.0
"""For a node to compile a first kernel."""

PING_S = 15.0
"""For a node that was there to say that it still is."""

_MODULE = re.compile(r"No module named '([\w.]+)'")


class NodeLost(Exception):
    """A node can't be used. One clause: why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """As Ray knows it. id: empty for the only node of a Ray of the campaign's own. cpus, gpus: what
    it offers."""

    id: str = ""
    name: str = ""
    cpus: int = 0
    gpus: int = 0

    @property
    def strategy(self) -> Any:
        """Ray's, for what shall run there."""
        return NodeAffinitySchedulingStrategy(self.id, soft=False) if self.id else "DEFAULT"


def living_nodes() -> list[Node]:
    """Those that Ray believes to be alive, by name."""
    known: list[dict[str, Any]] = ray.nodes()  # type: ignore[no-untyped-call]
    alive = [told for told in known if told["Alive"]]
    hosts = Counter(told["NodeManagerHostname"] for told in alive)
    found = [
        Node(
            id=told["NodeID"],
            name=_name(told["NodeManagerHostname"], told["NodeID"], hosts),
            cpus=int(told["Resources"].get("CPU", 0)),
            gpus=int(told["Resources"].get("GPU", 0)),
        )
        for told in alive
    ]
    return sorted(found, key=lambda node: (node.name, node.id))


def _name(host: str, node_id: str, hosts: Mapping[str, int]) -> str:
    """Nodes on one machine are told apart by their ids."""
    return f"{host} ({node_id[:6]})" if hosts[host] > 1 else host


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a node has. machine: the same for all nodes on one; cores: where it may run there."""

    plan: Layout
    machine: str
    cores: frozenset[int]


class ScoutActor:
    """Looks at its node, and says whether it is there. It does nothing that could end it."""

    def __init__(self, driver: Driver) -> None:
        live_with(driver)

    def look(self, backend: str, devices: Devices, node: Node) -> Found:
        """Raises BackendMissing."""
        return Found(
            plan=layout_here(backend, devices, gpus=node.gpus, cpus=node.cpus),
            machine=Path("/proc/sys/kernel/random/boot_id").read_text().strip(),
            cores=frozenset(os.sched_getaffinity(0)),
        )

    def compile(self, workbench: Workbench, source: str, info: DeviceInfo) -> Built | Evaluation:
        """A kernel that is known to compile. Raises BackendMissing, TaskError."""
        return workbench.compile(source, info)

    def ping(self) -> None:
        """It is there."""


async def look_at(node: Node, backend: str, devices: Devices, driver: Driver) -> tuple[Found, Any]:
    """What it has, and the scout that told. Raises NodeLost."""
    options = {"num_cpus": 0, "scheduling_strategy": node.strategy}
    scout: Any = ray.remote(ScoutActor).options(**options).remote(driver)
    found: Found = await answered(scout.look.remote(backend, devices, node), ANSWER_S)
    return found, scout


async def answered(call: Awaitable[_T], patience_s: float) -> _T:
    """Raises NodeLost, with what was raised there as its clause."""
    try:
        return await asyncio.wait_for(_in_words(call), patience_s)
    except TimeoutError:
        raise NodeLost(f"it did not answer within {patience_s:.0f} s") from None


async def _in_words(call: Awaitable[_T]) -> _T:
    try:
        return await call
    except RayTaskError as error:
        raise NodeLost(_first_line(str(root_cause(error)))) from error
    except RayError as error:
        if missing := _MODULE.search(str(error)):
            lacks = f"its Python has no module {missing[1]}: set up the same environment there"
            raise NodeLost(lacks) from error
        raise NodeLost(_first_line(str(error))) from error


def _first_line(said: str) -> str:
    return (said.strip().splitlines() or ["it ended"])[0].rstrip(". ")
