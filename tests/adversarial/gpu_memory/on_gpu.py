"""A script for test_gpu_memory: attacks on the memory of one GPU process, as one JSON line."""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from evaluators.checks.gpu_draws import HEAVY_FLOPS
from evaluators.checks.gpu_judge import GpuJudge
from evaluators.checks.gpu_kernels import compile_trusted
from evaluators.checks.inputs import InputPool
from evaluators.checks.judge import WideningJudge
from evaluators.checks.region import GUARD_BYTES
from evaluators.device import Buffer, Session, backend, register
from evaluators.device_info import DeviceFault
from evaluators.evaluate import compile_kernel
from evaluators.gpu.device import GpuDevice
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.trusted_kernels import compile_naive
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from tests.adversarial.gpu_memory import told_hip
from tests.adversarial.gpu_memory.directory import Directory
from tests.adversarial.gpu_memory.kernels import (
    ATTACKS,
    HONEST,
    REFERENCE,
    REFERENCE_HIP,
    SIGNS,
    TASK,
    TRESPASS,
    attack,
)
from tests.hip_double.twins import with_twins


def task_in(folder: Path, *, on_device: bool) -> Task:
    """on_device: with a reference.hip."""
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK)
    (folder / "reference.py").write_text(REFERENCE)
    (folder / "seeds" / "naive.hip").write_text(attack(HONEST, 0))
    if on_device:
        (folder / "reference.hip").write_text(REFERENCE_HIP)
    return load_task(folder)


@contextmanager
def opened(
    name: str, task: Task, *, heavy_flops: float = HEAVY_FLOPS
) -> Iterator[tuple[Directory, Evaluator, Any]]:
    """A GPU, what lies in its memory, and an Evaluator that judges there."""
    device = backend(name).open_device(0)
    assert isinstance(device, GpuDevice)
    directory = Directory(device._driver)
    compiler = with_twins(backend(name).compiler(arch=device.info.arch))
    pool = InputPool(task, secret=1, size=2)
    trusted = compile_trusted(task, compiler, name)
    judge = GpuJudge(device, task, pool, trusted, heavy_flops=heavy_flops)
    naive = compile_naive(task, compiler, name)
    evaluator = Evaluator(task=task, device=device, secret=1, pool=pool, judge=judge, naive=naive)
    yield directory, evaluator, compiler
    judge.close()


def verdicts(name: str, folder: Path) -> Any:
    """By kind of reference and attack: the verdict's status and reason."""
    found: dict[str, list[str]] = {}
    for on_device in (False, True):
        task = task_in(folder / str(on_device), on_device=on_device)
        for which, parts in {**ATTACKS, "honest": HONEST}.items():
            with opened(name, task) as (directory, evaluator, compiler):
                text = attack(parts, directory.address)
                built = compile_kernel(text, task, compiler, name)
                try:
                    verdict = evaluator.verify(*built)
                    told = [verdict.status.value, verdict.reason]
                except DeviceFault as fault:
                    told = [type(fault).__name__, str(fault)]
                found[f"{which} {on_device}"] = told
    return found


def look(
    directory: Directory, session: Session, buffers: Mapping[str, Buffer], found: dict[str, int]
) -> None:
    """Count what a kernel could find that is about to run on the buffers."""
    x, y = buffers["x"], buffers["y"]
    values = session.read(x, np.dtype(np.float32), (x.nbytes // 4,))
    results = (3.0 * values.astype(np.float64) + 1.0).view(np.uint64)
    inputs = values[: len(values) // 2 * 2].view(np.uint64)
    others = directory.words_outside([x, y])
    found["launches"] += 1
    first, last = min(x.offset, y.offset), max(x.offset + x.nbytes, y.offset + y.nbytes)
    found["pointers"] += int(((others >= first - GUARD_BYTES) & (others < last)).sum())
    found["inputs"] += int(np.isin(others, inputs).sum())
    found["results"] += int(np.isin(others, results).sum())


def left_behind(name: str, folder: Path) -> Any:
    """What lies outside of a kernel's own memory whenever it is launched, counted."""
    task = task_in(folder, on_device=True)
    found = {"launches": 0, "pointers": 0, "inputs": 0, "results": 0}
    with opened(name, task) as (directory, evaluator, compiler):
        source, compiled = compile_kernel(attack(HONEST, directory.address), task, compiler, name)
        inner = evaluator.device.open

        def opening(*arguments: Any, **named: Any) -> Any:
            session = inner(*arguments, **named)
            run = session.run

            def running(plan: Any, buffers: Any, **how: Any) -> float:
                look(directory, session, buffers, found)
                return run(plan, buffers, **how)

            if arguments[0] is compiled:
                session.run = running  # type: ignore[method-assign]
            return session

        evaluator.device.open = opening  # type: ignore[method-assign]
        for suite in ("benchmarks", "held_out"):
            verdict = evaluator.verify(source, compiled, suite)
            assert verdict.status == "PASSED", verdict
    return found


def renewed(name: str, folder: Path) -> Any:
    """By kind of reference: for each shape, how many of its draws an evaluation made new."""
    found: dict[str, list[dict[str, int]]] = {}
    kinds = {"reference.py": (False, 1e9), "light": (True, 1e9), "heavy": (True, 1.0)}
    for kind, (on_device, heavy_flops) in kinds.items():
        task = task_in(folder / kind, on_device=on_device)
        with opened(name, task, heavy_flops=heavy_flops) as (_, evaluator, compiler):
            built = compile_kernel(task.naive, task, compiler, name)
            before: dict[tuple[str, int], bytes] = {}
            for _ in range(4):
                widening = evaluator.correctness.judge()
                assert isinstance(widening, WideningJudge)
                judge = widening._judge
                assert isinstance(judge, GpuJudge)
                judge.renew()
                assert evaluator.verify(*built, "benchmarks").passed
                now = {key: held.secret for key, held in judge._draws._draws.items()}
                new = [key[0] for key in now if now[key] != before.get(key)]
                found.setdefault(kind, []).append(dict(Counter(new)))
                before = now
    return found


def replaced(name: str, folder: Path) -> Any:
    """By kernel, in one ChildEvaluator: status, reason, and whether its process was replaced."""
    register(name, "tests.adversarial.gpu_memory.told_hip")
    task = task_in(folder, on_device=True)
    compiler = with_twins(backend(name).compiler())
    kernels = {"honest": HONEST, "signs": SIGNS, "trespass": TRESPASS, "wrong": (HONEST[0], "0")}
    found: dict[str, list[str | bool]] = {}
    with ChildEvaluator(task=task, backend_name=name, secret=3, compiler=compiler) as child:
        for which, parts in {**kernels, "after": HONEST}.items():
            before = child._ready().pid
            built = compile_kernel(attack(parts, told_hip.ADDRESS), task, compiler, name)
            verdict = child.verify(*built, "benchmarks")
            found[which] = [verdict.status, verdict.reason, child._ready().pid != before]
    return found


def main() -> None:
    print(json.dumps(globals()[sys.argv[1]](sys.argv[2], Path(sys.argv[3]))))
