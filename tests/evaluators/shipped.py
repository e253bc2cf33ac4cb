"""Every kernel file of the repository, and how the tests compile one."""

from pathlib import Path

import evaluators
from evaluators.device import Compiled
from evaluators.device_info import target_of
from evaluators.gpu.compiler import GpuCompiler
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

SHIPPED = Path(evaluators.__file__).parent / "tasks"
KERNELS = Path(__file__).parents[1] / "kernels"
SEEDS = sorted(
    seed
    for seed in (*SHIPPED.glob("*/seeds/*.hip"), *KERNELS.glob("**/seeds/*.hip"))
    # As people bring them, some with masks that an MI300 refuses: none of ours to ship.
    if not {KERNELS / "brought", KERNELS / "examples"} & {*seed.parents}
)
PORTABLE = [
    seed
    for seed in SEEDS
    if "fp8_mfma_gemm" not in seed.parts and not parse_kernel(seed.read_text()).backends
]


def name_of(seed: Path) -> str:
    return f"{seed.parent.parent.name}/{seed.stem}"


def plans(task: Task, text: str, backend: str) -> list[Plan]:
    """Distinct plans over every suite."""
    kernel = parse_kernel(text)
    found: list[Plan] = []
    for suite in ("tests", "benchmarks", "held_out"):
        for workload in task.workloads(suite, backend):
            plan = kernel.plan(task, workload, target_of(backend))
            if plan not in found:
                found.append(plan)
    return found


def compiled(compiler: GpuCompiler, task: Task, text: str) -> Compiled:
    return compiler.compile(parse_kernel(text), plans(task, text, compiler.backend))


def compiled_seed(compiler: GpuCompiler, seed: Path) -> Compiled:
    return compiled(compiler, load_task(seed.parents[1]), seed.read_text())
