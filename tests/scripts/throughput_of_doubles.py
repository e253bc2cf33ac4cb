"""bench_throughput.py on doubles of AMD's GPUs, on two Ray nodes of this machine.

python -m tests.scripts.throughput_of_doubles prepare FOLDER    where there are hiprtc and gcc
python -m tests.scripts.throughput_of_doubles run FOLDER --gpus 1,2,4,8 ...

What is measured is the engine: how it asks, hands out, collects and stores. Each double measures
and checks the naive seed once, in a child of its own; candidates then wait for as long as a GPU
would work, and are told to be as right and as fast as the seed. Compilations wait, too: a host's
cores would neither do the work of eight GPUs nor compile for them.
"""

import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from engine.dispatch.workbench import BackendWorkbench, Built
from evaluators.device import Compiled
from evaluators.device_info import BackendMissing, DeviceInfo
from evaluators.evaluate import compile_kernel, failed
from evaluators.evaluation import Evaluation, Rejected, Verdict
from evaluators.hip import device as hip
from evaluators.hip.rocm import Toolchain, find_toolchain
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import KernelSource, kernel_id, parse_kernel
from evaluators.measuring.policy import GPU_POLICY, Anchor, TimingPolicy
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.arguments import Suite
from evaluators.tasks.task_file import load_task
from scripts import bench_throughput
from tests.engine.ray_nodes import ray_nodes
from tests.hip_double.build import build
from tests.hip_double.twins import FOLDER, TwinCompiler, with_twins

_T = TypeVar("_T")

DEVICES = 8
DEVICES_ARE = "Doubles of MI300X that wait"
SIZE = 48
CANDIDATE_S = 0.1
"""Of a device, for each candidate."""

CPUS = 48
"""Of a node, for compilations, which only wait."""

COMPILE_S = 0.3
"""As hiprtc takes for a kernel of the catalogue's."""

POLICY = replace(GPU_POLICY, min_blocks=2, max_blocks=2, interval_us=200.0, max_copies=4)


class KeptOnly:
    """Stands where a compiler would: all there is to compile was kept."""

    arch = "gfx942"

    def compile(self, kernel: KernelSource, plans: Sequence[Plan]) -> Compiled:
        raise BackendMissing("a kernel that was not prepared: run prepare again")


@dataclass(frozen=True, slots=True, kw_only=True)
class DoublesWorkbench(BackendWorkbench):
    """folder: that prepare() filled."""

    folder: Path

    def compile(self, source: str, info: DeviceInfo) -> Built | Evaluation:
        try:
            kernel = parse_kernel(source)
        except Rejected as rejected:
            task = load_task(self.task)
            return failed(kernel_id(source), task.hash, info.device_class, rejected)
        time.sleep(COMPILE_S)
        seed = _seed(self.folder).compiled
        return Built(kernel=kernel, compiled=replace(seed, compiler=info.compiler))

    def open(self, device: int) -> "AsTheSeed":
        return AsTheSeed(
            task=load_task(self.task),
            backend_name="hip",
            index=device,
            secret=self.secret,
            policy=self.policy,
            compiler=TwinCompiler(KeptOnly()),  # type: ignore[arg-type]
            seed=_seed(self.folder),
        )


class AsTheSeed(ChildEvaluator):
    """Whatever it is given takes CANDIDATE_S and is as right and as fast as the seed."""

    def __init__(self, *, seed: Built, **others: object) -> None:
        super().__init__(**others)  # type: ignore[arg-type]
        self._seed = seed

    def _measured(self) -> Evaluation:
        def measure() -> Evaluation:
            return ChildEvaluator.measure(self, self._seed.kernel, self._seed.compiled, None)

        return _once("measured", measure)

    def measure(
        self,
        kernel: KernelSource,
        compiled: Compiled,
        anchor: Anchor | None,
        best: Mapping[str, float] | None = None,
    ) -> Evaluation:
        made, name = self._measured(), anchor.kernel_id if anchor else None
        time.sleep(CANDIDATE_S)
        blocks = dict.fromkeys(made.times_us, (0.0, 0.0)) if anchor else {}
        seconds = {**made.seconds, "device": CANDIDATE_S}
        return replace(made, kernel_id=kernel.id, anchor_id=name, blocks=blocks, seconds=seconds)

    def verify(
        self, kernel: KernelSource, compiled: Compiled, suite: Suite = "held_out"
    ) -> Verdict:
        def verify() -> Verdict:
            return ChildEvaluator.verify(self, self._seed.kernel, self._seed.compiled, suite)

        made = _once(suite, verify)
        time.sleep(CANDIDATE_S)
        return made

    def link(
        self, kernel: KernelSource, compiled: Compiled, anchor: Anchor
    ) -> dict[str, tuple[float, ...]]:
        time.sleep(CANDIDATE_S)
        return dict.fromkeys(self._measured().times_us, (0.0, 0.0))


_ONCE: dict[str, Any] = {}


def _once(what: str, make: Callable[[], _T]) -> _T:
    """In a process, which has one device: sittings have evaluators of their own."""
    if what not in _ONCE:
        _ONCE[what] = make()
    made: _T = _ONCE[what]
    return made


def prepare(folder: Path) -> None:
    """Builds the double, and keeps all that a child asks a compiler for."""
    folder.mkdir(parents=True, exist_ok=True)
    toolchain = find_toolchain()
    assert isinstance(toolchain, Toolchain) and toolchain.loader, "make rocm fetches hiprtc"
    build(folder, toolchain.include)
    (folder / "twins").mkdir(exist_ok=True)
    os.environ |= _environment(folder) | {"KERNEL_SCIENTIST_ROCM": str(toolchain.loader.parents[4])}
    (folder / "toolchain").write_text(os.environ["KERNEL_SCIENTIST_ROCM"])
    compiler = with_twins(hip.compiler())
    with bench_throughput.one_shape(load_task("sgemm"), SIZE) as place:
        task = load_task(place)
        kernel, compiled = compile_kernel(task.naive, task, compiler, "hip")
        (folder / "seed").write_bytes(pickle.dumps(Built(kernel=kernel, compiled=compiled)))
        with ChildEvaluator(
            task=task, backend_name="hip", secret=7, policy=POLICY, compiler=compiler
        ) as child:
            print(child.measure(kernel, compiled, None))
            print(child.verify(kernel, compiled))


def run(folder: Path, arguments: Sequence[str]) -> int:
    """measure() beside two nodes. In a process of its own: Ray reads its token once."""
    half = DEVICES // 2
    with ray_nodes() as nodes:
        nodes.environment |= _environment(folder) | {"PYTHONPATH": os.pathsep.join(sys.path)}
        nodes.start("a", gpus=list(range(half)), cpus=CPUS, more={})
        nodes.start("b", gpus=list(range(half, DEVICES)), cpus=CPUS, more={})
        given = ["measure", str(folder), *arguments]
        return subprocess.run(
            [sys.executable, "-m", "tests.scripts.throughput_of_doubles", *given],
            env={**nodes.environment, "RAY_ADDRESS": nodes.address},
            check=False,
        ).returncode


def measure(folder: Path, arguments: Sequence[str]) -> int:
    """bench_throughput.py's main()."""

    def make(task: Path, name: str, policy: TimingPolicy | None) -> DoublesWorkbench:
        return DoublesWorkbench(
            task=str(task), backend=name, secret=7, policy=POLICY, folder=folder
        )

    usual = ("--backend", "hip", "--size", str(SIZE), "--no-floor", "--no-faults")
    return bench_throughput.main([*usual, *arguments], make=make, devices_are=DEVICES_ARE)


def _environment(folder: Path) -> dict[str, str]:
    toolchain = folder / "toolchain"
    return {
        "ROCM_PATH": str(folder),
        FOLDER: str(folder / "twins"),
        "HIP_DOUBLE_DEVICES": str(DEVICES),
        **({"KERNEL_SCIENTIST_ROCM": toolchain.read_text()} if toolchain.exists() else {}),
    }


_SEEDS: dict[Path, Built] = {}


def _seed(folder: Path) -> Built:
    if folder not in _SEEDS:
        _SEEDS[folder] = pickle.loads((folder / "seed").read_bytes())
    return _SEEDS[folder]


if __name__ == "__main__":
    # Under its own name, by which the nodes' processes import what they are sent.
    from tests.scripts import throughput_of_doubles as this

    what, where, *others = sys.argv[1:]
    commands = {"prepare": lambda at, _: this.prepare(at), "run": this.run, "measure": this.measure}
    sys.exit(commands[what](Path(where).resolve(), others))
