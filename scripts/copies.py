"""Whether a kernel wins over itself: campaigns of textually different equivalents of one kernel.

Each campaign searches a task whose seed has a parameter that its code does not use; no filter
stands between the copies and the devices. Prints JSON; exits 1 where one copy was announced.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.campaign import run_campaign
from engine.config import CampaignConfig, parse_config
from engine.store.replay import replay
from engine.store.run_folder import STORE
from evaluators.device_info import BACKENDS
from scripts.lib.lab import KERNEL, REFERENCE, TASK

MOST_VALUES = 64
"""Of one parameter (evaluators.kernel.reader)."""


def write_copies(folder: Path, *, copies: int, elements: int, rounds: int) -> Path:
    """A task of that many equal kernels besides its naive seed. rounds: of work for an element."""
    (folder / "seeds").mkdir(parents=True)
    (folder / "task.yaml").write_text(TASK.replace("ELEMENTS", str(elements)))
    (folder / "reference.py").write_text(REFERENCE)
    sets = -(-(copies + 1) // MOST_VALUES)
    each = -(-(copies + 1) // sets)
    values = f"COPY: {list(range(each))}, SET: {list(range(sets))}"
    space = f"{rounds}, COPY: 0, SET: 0}}\nspace: {{{values}}}"
    seed = KERNEL.replace("COUNT}", space).replace("FAULT", "")
    (folder / "seeds" / "naive.hip").write_text(seed)
    return folder


def config(task: Path, runs: Path, name: str, backend: str, copies: int) -> CampaignConfig:
    return parse_config(
        {
            "task": str(task),
            "backend": backend,
            "name": name,
            "runs_dir": str(runs),
            "tracking": "none",
            "budgets": {"evaluations": copies + 1},
            "operators": [{"kind": "random", "techniques": "families"}],  # no edits: they gain
            "profiles": "off",
        },
        where="scripts/copies.py",
    )


def told(store: Path) -> dict[str, Any]:
    """What a campaign of copies made of them. announced: kernels that became the best."""
    whole = replay(store)
    titles, scores = whole.scores.titles, whole.scores
    made = list(scores.evaluations.values())
    speedups = [one.speedup for one in made if one.speedup]
    best = scores.best
    return {
        "evaluations": scores.by_status.total(),
        "passed": scores.by_status["PASSED"],
        "refused": [f"{one.status}: {one.reason}" for one in made if not one.passed],
        "luckiest": max(speedups, default=None),
        "contests": titles.contests,
        "announced": [one for one in titles.holders if one != whole.campaign.baseline_id],
        "best": best.kernel_id if best else None,
        "seconds": whole.elapsed_s,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=BACKENDS, default="cpu")
    parser.add_argument("--copies", type=int, default=30)
    parser.add_argument("--campaigns", type=int, default=1)
    parser.add_argument("--elements", type=int, help="that a launch copies")
    parser.add_argument("--rounds", type=int, default=64, help="of work for each of them")
    given = parser.parse_args(arguments)
    elements = given.elements or (4096 if given.backend == "cpu" else 1 << 22)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        task = write_copies(
            Path(folder) / "copies", copies=given.copies, elements=elements, rounds=given.rounds
        )
        for number in range(given.campaigns):
            name = f"copies-{number}"
            run_campaign(config(task, Path(folder), name, given.backend, given.copies))
            found.append(told(Path(folder) / name / STORE))
            print(json.dumps(found[-1]), file=sys.stderr, flush=True)
    announced = sum(len(one["announced"]) for one in found)
    result = {
        "backend": given.backend,
        "campaigns": len(found),
        "copies": sum(one["passed"] - 1 for one in found),
        "announced": announced,
        "contests": sum(one["contests"] for one in found),
        "luckiest": max((one["luckiest"] or 0.0 for one in found), default=None),
        "each": found,
    }
    print(json.dumps(result, indent=1))
    return int(announced > 0)


if __name__ == "__main__":
    sys.exit(main())
