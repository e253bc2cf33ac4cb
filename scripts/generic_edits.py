"""What becomes of every generic edit of a task's seeds: verdicts and speedups; prints JSON.

    python -m scripts.generic_edits softmax tests/kernels/tutorial/* > edits.json

Each is checked on the tests' and benchmarks' shapes of the cpu backend, and timed once against
the naive seed.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from evaluators.device import backend
from evaluators.evaluate import Anchor, Evaluator, compile_kernel, opened
from evaluators.evaluation import Rejected
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from operators.catalog.generic.techniques import GENERIC, edits

BACKEND = "cpu"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tasks", nargs="+", help="names or folders")
    parser.add_argument("--technique", action="append", help="these alone")
    parser.add_argument("--texts", action="store_true", help="give the kernels' texts, too")
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for name in arguments.tasks:
        task = load_task(name)
        for row in _of_task(task, arguments.technique):
            told = {key: value for key, value in row.items() if key != "text"}
            print(json.dumps(told), file=sys.stderr, flush=True)
            rows.append(row if arguments.texts else told)
    print(json.dumps({"techniques": _summary(rows), "edits": rows}, indent=1))
    return 0


def _of_task(task: Task, techniques: list[str] | None) -> Iterator[dict[str, Any]]:
    found = [
        (one.name, edit)
        for one in GENERIC
        if one.cpu is not None and one.name in (techniques or [one.name])
        for edit in edits(one, task.naive, task)
    ]
    with opened(task, BACKEND) as evaluator:
        compiler = backend(BACKEND).compiler(arch=evaluator.device.info.arch)
        kernel, compiled = compile_kernel(task.naive, task, compiler, BACKEND)
        anchor = Anchor(kernel_id=kernel.id, kernel=kernel, compiled=compiled)
        evaluator.measure(kernel, compiled, anchor)
        for name, edit in found:
            told = _evaluated(edit.text, task, compiler, evaluator, anchor)
            yield {"task": task.name, "technique": name, "place": dict(edit.place), **told} | {
                "text": edit.text
            }


def _evaluated(
    text: str, task: Task, compiler: Any, evaluator: Evaluator | ChildEvaluator, anchor: Anchor
) -> dict[str, Any]:
    try:
        kernel, compiled = compile_kernel(text, task, compiler, BACKEND)
    except Rejected as rejected:
        return {"status": rejected.status, "reason": rejected.reason}
    made = evaluator.measure(kernel, compiled, anchor)
    speed = made.over_seed
    return {
        "status": made.status,
        "reason": made.reason,
        "speedup": None if speed is None else round(speed, 3),
    }


def _summary(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Of each technique: verdicts, and how many of the kernels that passed were faster."""
    found = {}
    for name in dict.fromkeys(row["technique"] for row in rows):
        own = [row for row in rows if row["technique"] == name]
        speeds = sorted(row["speedup"] for row in own if row.get("speedup"))
        found[name] = {
            "verdicts": dict(Counter(str(row["status"]) for row in own)),
            "faster_by_1.3": sum(speed > 1.3 for speed in speeds),
            "best": speeds[-1] if speeds else None,
        }
    return found


if __name__ == "__main__":
    sys.exit(main())
