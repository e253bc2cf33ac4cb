"""Checks every recorded kernel: compiled for sm_90, and right on each shape of its task on cpu.

python -m scripts.llm_loop.check [--task softmax] [--no-cpu] [--only NAME]

Prints JSON, one line a kernel; exits 1 if one fails.
"""

import argparse
import json
import sys
from collections.abc import Iterator

from evaluators.device import backend
from evaluators.evaluate import compile_kernel, opened
from evaluators.evaluation import Rejected
from evaluators.tasks.arguments import SUITES
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from scripts.llm_loop.recorded import recordings, tasks

ARCH = "sm_90"


def compile_fault(source: str, task: Task) -> str:
    """Why the source does not compile for an H200 on its task's shapes; empty where it does."""
    try:
        compile_kernel(source, task, backend("cuda").compiler(arch=ARCH), "cuda")
    except Rejected as rejected:
        return str(rejected)
    return ""


def cpu_faults(sources: dict[str, str], task: Task) -> Iterator[tuple[str, str]]:
    """Why each source is wrong on the task's shapes for cpu, held-out ones and orders too."""
    with opened(task, "cpu") as evaluator:
        compiler = backend("cpu").compiler(arch=evaluator.device.info.arch)
        for name, source in sources.items():
            try:
                built = compile_kernel(source, task, compiler, "cpu")
            except Rejected as rejected:
                yield name, str(rejected)
                continue
            verdicts = [evaluator.verify(*built, suite) for suite in SUITES]
            verdicts.append(evaluator.watch(built[0]))
            wrong = [f"{one.status}: {one.reason}" for one in verdicts if not one.passed]
            yield name, wrong[0] if wrong else ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=tasks(), action="append")
    parser.add_argument("--only", default="", help="a part of the technique's name")
    parser.add_argument("--no-cpu", action="store_true")
    parser.add_argument("--no-cuda", action="store_true")
    given = parser.parse_args()
    bad = False
    for name in given.task or tasks():
        task = load_task(name)
        sources = {r.technique: r.sound for r in recordings(name) if given.only in r.technique}
        for on, technique, fault in _faults(sources, task, given):
            bad = bad or bool(fault)
            told = {"task": name, "kernel": technique, "on": on, "fault": fault}
            print(json.dumps(told), flush=True)
    return int(bad)


def _faults(
    sources: dict[str, str], task: Task, given: argparse.Namespace
) -> Iterator[tuple[str, str, str]]:
    if not given.no_cuda:
        for name, source in sources.items():
            yield ARCH, name, compile_fault(source, task)
    if not given.no_cpu:
        for name, fault in cpu_faults(sources, task):
            yield "cpu", name, fault


if __name__ == "__main__":
    sys.exit(main())
