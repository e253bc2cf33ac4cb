"""A Ray cluster of several nodes on this machine, each with GPUs of its own, doubles or none."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.actors.clear_up import MARK, end_all, marked
from evaluators.sandbox.environment import showing
from tests.engine.ports import free_port
from tests.engine.ray_head import environment_of_head

ROOT = Path(__file__).parents[2]

TRIES = 4


@dataclass
class RayNodes:
    """port: of the head's GCS. environment: of all nodes, and of who uses them."""

    port: int
    environment: dict[str, str]
    _folders: dict[str, str] = field(default_factory=dict)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self, name: str, *, gpus: list[int], cpus: int = 2, more: Mapping[str, str]) -> None:
        """A node, the first one with the cluster's head. gpus: as HIP counts them on this machine;
        more: variables of its own."""
        head = not self._folders
        for _ in range(TRIES):
            folder = tempfile.mkdtemp(prefix="ks-")  # pytest's is too long for a socket's name
            self._folders[name] = folder
            if self._started(folder, head=head, gpus=gpus, cpus=cpus, more=more):
                return
            self.kill(name)
        pytest.fail(f"node {name} did not start in {TRIES} tries")

    def _started(
        self, folder: str, *, head: bool, gpus: list[int], cpus: int, more: Mapping[str, str]
    ) -> bool:
        place = (
            ("--head", f"--port={self.port}", "--include-dashboard=false", f"--temp-dir={folder}")
            if head
            else (f"--address={self.address}",)
        )
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "ray.scripts.scripts", "start", "--block", *place),
                *(f"--num-cpus={cpus}", f"--num-gpus={len(gpus)}"),
                *("--object-store-memory=100000000", "--dashboard-agent-listen-port=0"),
            ],
            env={
                **self.environment,
                **showing(map(str, gpus)),
                **more,
                MARK: folder,
                "PYTHONUNBUFFERED": "1",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        return any("Ray runtime started" in line for line in process.stdout)

    def kill(self, name: str) -> None:
        """All its processes at once, as when a machine goes down."""
        end_all(self._folders.pop(name))

    @property
    def folders(self) -> list[str]:
        """Of all nodes; their processes are marked with them."""
        return list(self._folders.values())

    def processes(self) -> list[int]:
        return [pid for folder in self.folders for pid in marked(folder)]

    def kill_all(self) -> None:
        for name in list(self._folders):
            self.kill(name)


@contextmanager
def ray_nodes() -> Iterator[RayNodes]:
    """None yet: see start(). Their ends are cleared up."""
    environment = {**environment_of_head(), "PYTHONPATH": str(ROOT)}
    nodes = RayNodes(free_port(), environment)
    try:
        yield nodes
    finally:
        nodes.kill_all()
