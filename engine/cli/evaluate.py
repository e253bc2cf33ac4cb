"""One kernel file, for a person or a script: checked and timed, or only compiled."""

import json
import secrets
import sys
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

from engine.cli.untimed import NOTHING_TIMED, turns_taken, untimed_json, untimed_lines
from evaluators.cpu import device as cpu
from evaluators.device import Compiled, backend, times
from evaluators.device_info import emulating, target_of
from evaluators.evaluate import compile_shown, evaluate_file
from evaluators.evaluation import Evaluation, Rejected, Status
from evaluators.hip.rocm import FOR_INSPECTION
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.arithmetic import whose_light
from evaluators.measuring.headline import baseline_lines, headline, headline_text, interval_text
from evaluators.measuring.launch_cost import launching_lines
from evaluators.measuring.sittings import meaning
from evaluators.processes.memory_needs import memory_text
from evaluators.tasks.own_check import hosted
from evaluators.tasks.ragged import DERIVED
from evaluators.tasks.task_file import load_task
from evaluators.text_file import read_text
from evaluators.weights import mean_text, whole_text
from operators.llm.prompts.diagnosis import diagnosis

LOG_LINES = 20


class NoSuchKernel(Exception):
    """A kernel file that can't be read. One sentence: which, why, what to do."""


def measure_file(arguments: Namespace, stream: IO[str]) -> bool:
    """Print the verdict on arguments.file; whether it passed.

    Raises NoSuchKernel, TaskError, BackendMissing.
    """
    read_kernel(arguments.file)
    task = load_task(arguments.task)
    order = _order_of(arguments)
    needs = "" if arguments.emulate else memory_text(task, arguments.backend)
    if needs:
        print(f"note: {needs}", file=sys.stderr)
    with emulating(arguments.emulate, arguments.backend, asked_by="--emulate", order=order):
        evaluation = evaluate_file(
            arguments.file, task, arguments.backend, seconds=arguments.seconds
        )
        timed = times(arguments.backend)
    notes = [*([DERIVED] if task.derives_held_out else []), *hosted(task)]
    if arguments.json:
        values = {**verdict_json(evaluation), "note": "; ".join(notes)}
        values |= {"timed": True} if timed else {**untimed_json(evaluation), "order": order}
        print(json.dumps(values, indent=2), file=stream)
    else:
        where = "" if timed or evaluation.passed else f"on {evaluation.device}: {NOTHING_TIMED}"
        turns = "" if order is None else turns_taken(order)
        for line in filter(None, (*verdict_lines(evaluation), where, turns, *notes)):
            print(line, file=stream)
    return evaluation.passed


def _order_of(arguments: Namespace) -> int | None:
    """The seed of wavefronts' turns, drawn here so that it can be told; None: not emulated."""
    if not arguments.emulate:
        return None
    return 1 + secrets.randbelow(1 << 20) if arguments.order is None else int(arguments.order)


def compile_file(arguments: Namespace, stream: IO[str]) -> bool:
    """Print what compiling arguments.file for arguments.arch gives; whether it compiled.

    For tests and benchmarks: whoever writes kernels may not learn the held-out shapes.
    Raises NoSuchKernel, TaskError, BackendMissing.
    """
    source = read_kernel(arguments.file)
    task = load_task(arguments.task)
    compiler = backend(arguments.backend).compiler(arch=arguments.arch)
    try:
        _, compiled = compile_shown(source, task, compiler, arguments.backend)
    except Rejected as rejected:
        values = {"status": rejected.status, "reason": rejected.reason, "log": rejected.log}
        lines = _failure_lines(rejected.status, rejected.reason, rejected.log)
        passed = False
    else:
        values, lines, passed = _compiled_json(compiled), _compiled_lines(compiled), True
    if arguments.json:
        print(json.dumps(values, indent=2), file=stream)
    else:
        for line in lines:
            print(line, file=stream)
    return passed


def explain_file(arguments: Namespace, stream: IO[str]) -> bool:
    """Print the regions into which the kernels of arguments.file are cut for cpu, and why.

    For its largest benchmark shape. Raises NoSuchKernel, TaskError, BackendMissing.
    """
    source = read_kernel(arguments.file)
    task = load_task(arguments.task)
    shapes = task.workloads("benchmarks", "cpu")
    shape = max(shapes, key=task.nbytes)
    try:
        kernel = parse_kernel(source)
        regions = cpu.compiler().explain(kernel, kernel.plan(task, shape, target_of("cpu")))
    except Rejected as rejected:
        lines = list(_failure_lines(rejected.status, rejected.reason, rejected.log))
        values: Any = {"status": rejected.status, "reason": rejected.reason}
        passed = False
    else:
        lines, values, passed = list(map(str, regions)), list(map(asdict, regions)), True
    print(json.dumps(values, indent=2) if arguments.json else "\n".join(lines), file=stream)
    return passed


def verdict_json(evaluation: Evaluation) -> dict[str, Any]:
    """What `evaluate --json` prints: plain JSON values."""
    return {
        "status": evaluation.status,
        "reason": evaluation.reason,
        "kernel_id": evaluation.kernel_id,
        "speedup": evaluation.speedup,
        "ci95": evaluation.ci95,
        "mean": mean_text(len(evaluation.times_us), evaluation.weights),
        "weights": dict(evaluation.weights),
        "whole": evaluation.whole,
        "baselines": {name: asdict(one) for name, one in evaluation.baselines.items()},
        "fastest": _fastest_json(evaluation),
        "launching_us": dict(evaluation.launching_us),
        "meaning": meaning(evaluation.sittings) if evaluation.passed else "",
        "sittings": evaluation.sittings,
        "busy": evaluation.busy,
        "times_us": dict(evaluation.times_us),
        "speed_of_light": dict(evaluation.speed_of_light),
        "arithmetic": evaluation.arithmetic,
        "device": evaluation.device,
        "engine": evaluation.engine,
        "compiler": evaluation.compiler,
        "diagnosis": list(diagnosis(evaluation)),
        "resources": [dict(one) for one in evaluation.resources],
        "log": evaluation.log,
    }


def _fastest_json(evaluation: Evaluation) -> dict[str, Any] | None:
    found = headline(_over_seed(evaluation), evaluation.baselines)
    return None if found is None else asdict(found)


def verdict_lines(evaluation: Evaluation) -> Iterator[str]:
    """The same for a person."""
    if not evaluation.passed:
        yield from _failure_lines(evaluation.status, evaluation.reason, evaluation.log)
        return
    if not evaluation.timed:
        yield from untimed_lines(evaluation)
        yield from _where(evaluation)
        return
    yield f"PASSED  {_headline(evaluation)}"
    yield from (f"  {line}" for line in _about_scores(evaluation))
    width = max(len(label) for label in evaluation.times_us)
    for label, time_us in evaluation.times_us.items():
        light = evaluation.speed_of_light.get(label)
        of_light = f"  {100 * light:.0f}% of the speed of light" if light is not None else ""
        yield f"  {label:{width}}  {time_us:11.1f} µs{of_light}"
    if evaluation.arithmetic:
        yield f"  {whose_light(evaluation.arithmetic)}"
    yield from _where(evaluation)


def _over_seed(evaluation: Evaluation) -> tuple[float, float, float]:
    return (evaluation.speedup or 1.0, *(evaluation.ci95 or (0.0, 0.0)))


def _headline(evaluation: Evaluation) -> str:
    """Beside the fastest baseline first, where the task names any that was measured."""
    over_seed = _over_seed(evaluation)
    found = headline(over_seed, evaluation.baselines)
    if found is None:
        return f"{over_seed[0]:.2f}x the naive seed ({interval_text(over_seed)})"
    return headline_text(found, over_seed[0])


def _about_scores(evaluation: Evaluation) -> Iterator[str]:
    """What the figure is of, what it means, and what else it was beside."""
    if mean := mean_text(len(evaluation.times_us), evaluation.weights):
        yield mean
    if evaluation.whole is not None:
        yield whole_text(evaluation.whole)
    yield meaning(evaluation.sittings)
    yield from baseline_lines(_over_seed(evaluation), evaluation.baselines)
    if evaluation.busy:
        yield evaluation.busy
    yield from launching_lines(evaluation.launching_us, evaluation.times_us)


def _where(evaluation: Evaluation) -> Iterator[str]:
    """On what it ran, and what is to be said of it."""
    yield f"on {evaluation.device}, by {evaluation.engine}, compiled with {evaluation.compiler}"
    yield from _diagnosis_lines(evaluation)


def _diagnosis_lines(built: Evaluation | Compiled) -> Iterator[str]:
    """What its compiler tells, and what to try."""
    yield from (f"  {line}" for line in diagnosis(built))


def _failure_lines(status: Status, reason: str, log: str) -> Iterator[str]:
    yield f"{status}  {reason}"
    lines = log.rstrip().splitlines()
    yield from (f"  {line}" for line in lines[:LOG_LINES])
    if len(lines) > LOG_LINES:
        yield f"  ... {len(lines) - LOG_LINES} more lines: --json has them all"


def _compiled_json(compiled: Compiled) -> dict[str, Any]:
    return {
        "status": "COMPILED",
        "reason": "",
        "kernel_id": compiled.kernel_id,
        "arch": compiled.arch,
        "engine": compiled.engine,
        "compiler": compiled.compiler,
        "builds": len(compiled.binaries),
        "bytes": [len(binary.data) for binary in compiled.binaries.values()],
        "diagnosis": list(diagnosis(compiled)),
        "resources": [dict(one) for one in compiled.resources],
        "log": compiled.log,
    }


def _compiled_lines(compiled: Compiled) -> Iterator[str]:
    yield (
        f"COMPILED  {len(compiled.binaries)} builds for {compiled.arch} by {compiled.engine} "
        f"with {compiled.compiler} in {compiled.seconds:.1f} s"
    )
    if compiled.inspection_only:
        yield f"  {compiled.compiler}: {FOR_INSPECTION}"
    for kernel in compiled.resources:
        # Numbers a person compares; --json has the rest.
        plain = {k: v for k, v in kernel.items() if isinstance(v, int | float | str)}
        yield "  " + ", ".join(f"{key} {value}" for key, value in plain.items())
    yield from _diagnosis_lines(compiled)


def read_kernel(path: Path) -> str:
    """Raises NoSuchKernel."""
    try:
        return read_text(path, "surrogateescape")
    except OSError as error:
        raise NoSuchKernel(
            f"{path}: the kernel file can't be read ({error.strerror}); name a .hip file"
        ) from None
