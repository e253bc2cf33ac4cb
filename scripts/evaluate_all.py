"""Evaluates the seeds of every task given, all that are for the backend; prints JSON, exits 1 if
one fails."""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from evaluators.evaluate import evaluate_file
from evaluators.kernel.seeds import seeds_for
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task, shipped_tasks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", help="task folders or names; default: all shipped")
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda", "hip"))
    parser.add_argument("--out", type=Path, help="where the JSON goes; default: standard output")
    arguments = parser.parse_args()
    rows: list[dict[str, object]] = []
    for folder in arguments.folders or shipped_tasks():
        task = load_task(folder)
        for name in seeds_for(task, arguments.backend):
            rows.append(evaluated(task, name, arguments.backend))
            print(f"{task.name}/{name}: {rows[-1]['status']}", file=sys.stderr, flush=True)
            if arguments.out:  # what was measured is not lost with what comes
                arguments.out.write_text(json.dumps(rows, indent=1) + "\n")
    if not arguments.out:
        print(json.dumps(rows, indent=1))
    return int(any(row["status"] != "PASSED" for row in rows))


def evaluated(task: Task, seed: str, backend: str) -> dict[str, object]:
    started = time.monotonic()
    evaluation = evaluate_file(task.folder / "seeds" / f"{seed}.hip", task, backend)
    told = asdict(evaluation)
    return {
        "task": task.name,
        "seed": seed,
        "took_s": round(time.monotonic() - started, 2),
        **{key: value for key, value in told.items() if key not in ("blocks", "resources", "log")},
    }


if __name__ == "__main__":
    sys.exit(main())
