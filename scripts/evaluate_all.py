"""Evaluates every kernel file of every task folder given; prints JSON, exits 1 if one fails."""

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from evaluators.evaluate import evaluate_file
from evaluators.tasks.task_file import load_task, shipped_tasks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", help="task folders or names; default: all shipped")
    parser.add_argument("--backend", default="cpu", choices=("cpu", "cuda", "hip"))
    parser.add_argument("--out", type=Path, help="where the JSON goes; default: standard output")
    arguments = parser.parse_args()
    rows = []
    for folder in arguments.folders or shipped_tasks():
        task = load_task(folder)
        for name in task.seeds:
            started = time.monotonic()
            evaluation = evaluate_file(
                task.folder / "seeds" / f"{name}.hip", task, arguments.backend
            )
            rows.append(
                {
                    "task": task.name,
                    "seed": name,
                    "seconds": round(time.monotonic() - started, 2),
                    **{
                        key: value
                        for key, value in asdict(evaluation).items()
                        if key not in ("blocks", "resources", "log")
                    },
                }
            )
            print(f"{task.name}/{name}: {evaluation.status} {evaluation.reason}", file=sys.stderr)
    text = json.dumps(rows, indent=1)
    if arguments.out:
        arguments.out.write_text(text + "\n")
    else:
        print(text)
    return int(any(row["status"] != "PASSED" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
