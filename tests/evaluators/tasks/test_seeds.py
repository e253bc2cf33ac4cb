"""Shipped seeds pass `evaluate` on cpu; a reference.hip tells what reference.py does."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pytest

from evaluators.checks.compare import compare
from evaluators.checks.gpu_outputs import small_tests
from evaluators.device import Device, Session, backend
from evaluators.device_info import target_of
from evaluators.dtypes import wide
from evaluators.evaluate import evaluate_file
from evaluators.kernel.plan import Plan
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.arguments import Array, Workload
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task, shipped_tasks
from tests.evaluators.shipped import PORTABLE, SHIPPED, name_of
from tests.soaked import one_in

QUICK = TimingPolicy(max_blocks=3, budget_s=0.2, link_budget_s=0.2, interval_us=200.0, max_copies=4)
"""It is right or not; how fast it is nobody asks here."""
ALREADY = ("sgemm", "softmax", "sum_reduction", "transpose")
"""Evaluated, and run on large shapes, by test_tasks.py and many others."""
CHALLENGE = ("fp8_gemm", "mla_decode", "moe")
EVALUATED = [
    one for one in PORTABLE if one.is_relative_to(SHIPPED) and one.parts[-3] not in ALREADY
]
SEEDS = [
    *one_in(2, (one for one in EVALUATED if one.parts[-3] in CHALLENGE)),
    *one_in(6, (one for one in EVALUATED if one.parts[-3] not in CHALLENGE)),
]
"""Of the challenge's, which the emulator runs too, half in every run, and of the others, which
test_tasks.py checks, some."""
NEAR = 1e-3
"""Of the tolerance; see checks/gpu_draws.py."""
REFERENCES = sorted(path.parent.name for path in SHIPPED.glob("*/reference.hip"))


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    device = backend("cpu").open_device(0)
    yield device
    device.close()


@pytest.mark.long
@pytest.mark.parametrize("seed", SEEDS, ids=name_of)
def test_a_seed_passes_on_cpu(seed: Path) -> None:
    task = load_task(seed.parents[1])
    found = evaluate_file(seed, task, "cpu", policy=QUICK, seconds=0)
    assert found.passed, found.reason
    assert set(found.times_us) == {w.label for w in task.workloads("benchmarks", "cpu")}
    light = found.speed_of_light
    assert not light or 0 < max(light.values()) <= 1


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_for_devices_tells_what_the_one_for_the_host_does(
    name: str, device: Device
) -> None:
    task = load_task(name)
    kernel = parse_kernel((task.folder / "reference.hip").read_text())
    tests = small_tests(task, "hip")
    plans = [kernel.plan(task, workload, target_of("cpu")) for workload in tests]
    compiled = backend("cpu").compiler().compile(kernel, plans)
    scratch = max(sum(plan.scratch.values()) for plan in plans)
    nbytes = 16 * max(map(task.nbytes, tests)) + 2 * scratch + (1 << 16)
    for workload, plan in zip(tests, plans, strict=True):
        inputs = task.inputs(workload, 1)
        wanted = task.reference(workload, {n: a.copy() for n, a in inputs.items()})
        with device.open(compiled, memory_bytes=nbytes) as session:
            found = computed(task, workload, inputs, session, plan)
        for output in task.on(workload).outputs:
            error = compare(
                found[output.name],
                wanted[output.name],
                rtol=output.rtol(workload.env),
                atol=output.atol(workload.env),
            ).error
            assert error <= NEAR, f"{output.name} on {workload.label}"


def computed(
    task: Task, workload: Workload, inputs: Mapping[str, Array], session: Session, plan: Plan
) -> dict[str, Array]:
    """Outputs by name, as wide as a reference's."""
    buffers = {name: session.alloc(array.nbytes) for name, array in inputs.items()}
    for name, array in inputs.items():
        session.write(buffers[name], array)
    outputs = task.on(workload).outputs
    for output in outputs:
        buffers[output.name] = session.alloc(8 * int(np.prod(output.shape(workload.env))))
        if output.role == "inout":
            given = inputs[output.name]
            session.write(buffers[output.name], given.astype(wide(given.dtype)))
    for name, nbytes in plan.scratch.items():
        buffers[name] = session.alloc(nbytes)
    session.run(plan, buffers, deadline_s=20.0)
    return {
        output.name: session.read(
            buffers[output.name], np.dtype(wide(output.np_dtype)), output.shape(workload.env)
        )
        for output in outputs
    }


def test_every_task_is_described_and_counted() -> None:
    """Without flops, or operations, or bytes nothing bounds it, and no speed of light is told."""
    for name in shipped_tasks():
        task = load_task(name)
        assert len(task.description) > 80, name
        assert task.bytes is not None, name
        assert all(len(task.workloads(s, b)) >= 2 for s in task.suites for b in ("cpu", "hip")), (
            name
        )
        largest = max(task.workloads("benchmarks", "hip"), key=task.nbytes)
        assert task.nbytes(largest) < 4 << 30, f"{name}: with references, and twice, in 16 GB"


def test_bytes_are_at_most_those_of_all_arguments() -> None:
    """Compulsory traffic: each element once, and twice where it is read and written."""
    for name in shipped_tasks():
        task = load_task(name)
        for workload in task.workloads("benchmarks", "hip"):
            arguments = task.on(workload).arguments
            most = sum(a.nbytes(workload.env) * (2 if a.role == "inout" else 1) for a in arguments)
            assert task.bytes is not None
            assert 0 < task.bytes.evaluate(workload.env) <= most, f"{name} on {workload.label}"
