"""A script for test_hip_harness: the cascade on the HIP double, as one JSON line a question."""

import json
import os
import resource
import sys
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.checks.compare import compare
from evaluators.checks.gpu_judge import GpuJudge
from evaluators.checks.gpu_kernels import Harness, compile_trusted
from evaluators.checks.inputs import InputPool
from evaluators.checks.memory import Arena
from evaluators.device_info import BackendMissing, target_of
from evaluators.dtypes import is_floating
from evaluators.dtypes import wide as wide_of
from evaluators.evaluate import compile_kernel
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.measuring.policy import GPU_POLICY, Anchor
from evaluators.probes.probe import compile_probe
from evaluators.probes.shipped import catalogue
from evaluators.processes.child_evaluator import ChildEvaluator, DeviceSick
from evaluators.tasks.arguments import DTYPES
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.evaluators.own_tasks import OWN
from tests.evaluators.probes.files import ADD, probe_text
from tests.evaluators.small_task import kernel, write_task
from tests.evaluators.test_evaluate import WRONG_KERNELS
from tests.hip_double.twins import with_twins

POLICY = replace(
    GPU_POLICY,
    min_blocks=3,
    max_blocks=3,
    budget_s=0.3,
    interval_us=200.0,
    max_copies=4,
    deadline_slack_s=2.5,  # of the wall clock, on a machine that may be busy
    deadline_cap_s=3.0,
)


def verdicts(folder: Path) -> Any:
    """Every wrong kernel's, one after another in one ChildEvaluator, and a right one's after."""
    task = load_task(write_task(folder / "small"))
    compiler = with_twins(hip.compiler())
    found = {}
    with ChildEvaluator(
        task=task, backend_name="hip", secret=3, policy=POLICY, compiler=compiler
    ) as child:
        naive, built = compile_kernel(task.naive, task, compiler, "hip")
        anchor = Anchor(kernel_id=naive.id, kernel=naive, compiled=built)
        for name, (text, _, _) in WRONG_KERNELS.items():
            if name.startswith("too m"):
                continue  # refused before there is anything to run
            made = child.measure(*compile_kernel(text, task, compiler, "hip"), anchor)
            found[name] = made.status, made.reason
        after = child.measure(*compile_kernel(kernel(), task, compiler, "hip"), anchor)
        held_out = child.verify(naive, built)
        found["right"] = after.status, after.reason
        found["held out"] = held_out.status, held_out.reason
    return found


def own(folder: Path) -> Any:
    """Verdicts of tasks with settings, strides and functions of their own, by task and kernel.

    All their shapes are benchmarks here, so that the device draws and judges what it can.
    """
    found: dict[str, Any] = {}
    for name, one in OWN.items():
        task = load_task(one.write(folder / name))
        shapes = [w for suite in ("tests", "benchmarks") for w in task.suites[suite]["default"]]
        everywhere = {"default": tuple(replace(w, suite="benchmarks") for w in shapes)}
        task = replace(task, suites={"tests": {}, "benchmarks": everywhere, "held_out": {}})
        compiler = with_twins(hip.compiler())
        with ChildEvaluator(
            task=task, backend_name="hip", secret=3, policy=POLICY, compiler=compiler
        ) as child:
            seed, built = compile_kernel(one.seed, task, compiler, "hip")
            anchor = Anchor(kernel_id=seed.id, kernel=seed, compiled=built)
            texts = {"right": one.seed, **{what: one.broken(what) for what in one.wrong}}
            for what, text in texts.items():
                made = child.measure(*compile_kernel(text, task, compiler, "hip"), anchor)
                found[f"{name}: {what}"] = made.status, made.reason
    return found


def swept(folder: Path) -> Any:
    """What a thorough evaluator says of held-out shapes: of a right kernel, and one with a hole."""
    task = replace(load_task(write_task(folder / "small")), values=())
    compiler = with_twins(hip.compiler())
    thorough = replace(POLICY, thorough=True)
    found = []
    with ChildEvaluator(
        task=task, backend_name="hip", secret=3, policy=thorough, compiler=compiler
    ) as child:
        for before in ("", "if (N % 128 / 4 == 9 && i > 2) return;"):
            made = child.verify(*compile_kernel(kernel(before=before), task, compiler, "hip"))
            found.append((made.status, made.reason))
    return found


def probes(folder: Path) -> Any:
    """Probes that are right, and some that fail, one after another in one ChildEvaluator."""
    task = load_task(write_task(folder / "small"))
    compiler = with_twins(hip.compiler())
    hangs = "while (((volatile float *)out)[0] >= 0.0f) {}"
    wrong = {
        "hangs": hangs,
        "writes beyond": "out[n + 3] = 1.0f;",
        "faults": "out[1 << 28] = 1.0f;",
    }
    found = {}
    with ChildEvaluator(
        task=task, backend_name="hip", secret=3, policy=POLICY, compiler=compiler
    ) as child:
        info = child.device.info
        texts = {name: catalogue(info)[name].text for name in ("shuffle_order", "barrier", "lds")}
        for name, statement in wrong.items():
            code = ADD.replace("int at", f"{statement}\n    int at")
            texts[name] = probe_text(cases="[{N: 256}]", code=code)
        texts["right"] = probe_text(more="  show: {out: 4}\n")
        for name, text in texts.items():
            one = child.probe(compile_probe(text, compiler, info))
            found[name] = one.status, one.reason, one.sentences
    return found


def faults(folder: Path) -> Any:
    """A fault of the device at the n-th launch, whoever launched it; then once more, without."""
    task = load_task(write_task(folder / "small"))
    compiler = with_twins(hip.compiler())
    naive, built = compile_kernel(task.naive, task, compiler, "hip")
    os.chdir(folder)  # where a child leaves what it leaves
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (most, most))  # as in many containers
    found: dict[str, Any] = {}
    for fault in sys.argv[3:]:
        os.environ["HIP_DOUBLE_FAULT"] = fault
        try:
            child = ChildEvaluator(
                task=task, backend_name="hip", secret=3, policy=POLICY, compiler=compiler
            )
        except DeviceSick as sick:
            found[fault] = "SICK", str(sick), ""
            continue
        with child:
            made = child.measure(naive, built, None)
            del os.environ["HIP_DOUBLE_FAULT"]
            child.close()  # the next child does not see the fault
            again = child.measure(naive, built, None)
            found[fault] = made.status, made.reason, again.status
    return found


def without_headers(folder: Path) -> Any:
    """What opening a device raises where ROCm's headers are not installed."""
    task = load_task(write_task(folder / "small"))
    child = HiprtcChild()
    child.toolchain = replace(child.toolchain, include=folder)
    try:
        ChildEvaluator(
            task=task,
            backend_name="hip",
            secret=3,
            policy=POLICY,
            compiler=hip.compiler(arch="gfx942", child=child),
        )
    except (BackendMissing, DeviceSick) as error:
        return type(error).__name__, str(error)


VALUES: dict[str, list[Any]] = {
    "float32": [0.0, 1.0, -2.5, 1e-40, 3e38, np.nan, np.inf, -np.inf],
    "float16": [0.0, -1.5, 6e-8, 65504.0, np.nan, np.inf, -np.inf, 0.1],
    "bfloat16": [0.0, -1.5, 1e-39, 3e38, np.nan, np.inf, -np.inf, 0.1],
    "float8_e4m3fnuz": [0.0, -1.5, 0.0009765625, 240.0, np.nan, 0.25, -7.0, 0.1],
    "int32": [0, 1, -1, 2**31 - 1, -(2**31), 5, 6, 7],
    "float64": [0.0, 1.0, -2.5, 1e-300, 1e300, np.nan, np.inf, -np.inf],
    "float8_e5m2fnuz": [0.0, -1.5, 2.0**-17, 57344.0, np.nan, 0.25, -7.0, 0.1],
    "float8_e4m3fn": [0.0, -1.5, 2.0**-9, 448.0, np.nan, 0.25, -7.0, 0.1],
    "float8_e5m2": [0.0, -1.5, 2.0**-16, 57344.0, np.nan, np.inf, -np.inf, 0.1],
    "bool": [0, 1, 1, 0, 1, 0, 0, 1],
    "int8": [0, 1, -1, 127, -128, 5, 6, 7],
    "uint8": [0, 1, 255, 127, 128, 5, 6, 7],
    "int16": [0, 1, -1, 2**15 - 1, -(2**15), 5, 6, 7],
    "uint16": [0, 1, 2**16 - 1, 2**15, 4, 5, 6, 7],
    "uint32": [0, 1, 2**32 - 1, 2**31, 4, 5, 6, 7],
    "int64": [0, 1, -1, 2**62, -(2**62), 5, 6, 7],
    "uint64": [0, 1, 2**64 - 1, 2**63, 4, 5, 6, 7],
}


def comparisons(folder: Path) -> Any:
    """The device's comparison beside numpy's, over every pair of awkward values of each type."""
    task = load_task("sum_reduction")
    trusted = compile_trusted(task, with_twins(hip.compiler()), "hip", every=VALUES)
    device = hip.open_device(0)
    harness = Harness(device, trusted)
    memory = device.open(trusted.harness, memory_bytes=1 << 20)
    out_at, reference_at = memory.alloc(8 * 64), memory.alloc(8 * 64)
    found = []
    for dtype, values in VALUES.items():
        whole, wider = not is_floating(DTYPES[dtype]), wide_of(DTYPES[dtype])
        with np.errstate(over="ignore"):
            column = np.array(values, wider).astype(DTYPES[dtype])
        wide = column.astype(wider)
        column = column.view(np.uint8) if dtype == "bool" else column
        near = wide[2:3] * (1 if whole else 1.0625) + (0 if whole else 0.001)
        pairs = ((np.repeat(column, 8), np.tile(wide, 8)), (column[2:3], near))
        limits = ((0.0, 0.0), (0.5, 1e-3), (1e-3, 0.0), (3.0, 4.0))
        for (out, reference), (rtol, atol) in product(pairs, limits):
            bytes_of = out_at.view(0, out.nbytes)
            memory.write(bytes_of, out)
            expected = reference_at.view(0, reference.nbytes)
            memory.write(expected, reference)
            work = harness.work()
            work.mask(expected, 77, slot=1)
            work.compare(bytes_of, expected, dtype=dtype, key=77, rtol=rtol, atol=atol, slot=0)
            got, masked = harness.run(work, 2)
            assert got.checksum == masked.checksum
            wanted = compare(out, reference, rtol=rtol, atol=atol)
            found.append(
                (
                    f"{dtype} {rtol} {atol}",
                    [repr(got.error), got.wrong],
                    [repr(wanted.error), int(wanted.wrong.sum())],
                )
            )
    return found


def references(folder: Path) -> Any:
    return {name: reference(load_task(name)) for name in sys.argv[3:]}


def reference(task: Task) -> dict[str, float]:
    """A task's reference.hip, checked on the tests' shapes on the way, and what it then judges.

    They are benchmarks here, so that data for them are drawn on the device.
    """
    tests = task.suites["tests"]
    first = {backend: shapes[:1] for backend, shapes in tests.items()}
    task = replace(task, suites={**task.suites, "tests": first, "benchmarks": tests})
    compiler = with_twins(hip.compiler())
    trusted = compile_trusted(task, compiler, "hip")
    device = hip.open_device(0)
    pool = InputPool(task, secret=1)
    judge = GpuJudge(device, task, pool, trusted, limit_bytes=1 << 19)
    source, compiled = compile_kernel(task.naive, task, compiler, "hip")
    errors: dict[str, float] = {}
    for workload in task.workloads("benchmarks", "hip"):
        plan = source.plan(task, workload, target_of("hip"))
        arena = Arena(task, [workload], [plan])
        with device.open(compiled, memory_bytes=arena.nbytes) as session:
            (memory,) = arena.in_turn(session, [workload], [plan], np.random.default_rng(0))
            placed = {0: pool.get(workload, 0)}
            judge.place(memory, placed, np.random.default_rng(0))
            session.run(plan, memory.bindings[0], deadline_s=5.0)
            judged = judge.judge(memory, placed)
            errors.update({key: error.fraction for key, error in judged.items()})
    judge.close()
    return errors


def main() -> None:
    print(json.dumps(globals()[sys.argv[1]](Path(sys.argv[2]))))
