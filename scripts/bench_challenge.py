"""The AMD Developer Challenge on a GPU: seeds at full size, and campaigns without a model.

    python -m scripts.bench_challenge --seed fp8_gemm/naive --seed fp8_gemm/tiled
    python -m scripts.bench_challenge --campaign fp8_gemm=120:6 --campaign moe=90:1

A campaign is named by its task, seconds of search and the shapes that it searches on. It is ended
where it takes longer than --within from start to final measurement. Prints JSON, or writes it
after each part to the file that --out names. Exits 1 where a seed fails or a campaign does not
come to its end.
"""

import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluators.device_info import BACKENDS
from evaluators.evaluate import evaluate_file
from evaluators.tasks.task_file import load_task

HERE = Path(__file__).parents[1]
GRACE_S = 60.0
"""For a campaign that was asked to end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """shapes: that it searches on; None: all."""

    task: str
    seconds: float
    shapes: int | None


def main() -> int:
    parser = ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--backend", default="cuda", choices=BACKENDS)
    parser.add_argument("--seed", action="append", default=[], metavar="TASK/SEED")
    parser.add_argument("--campaign", action="append", default=[], type=search, metavar="TASK=S:N")
    parser.add_argument("--within", type=float, default=300.0, help="seconds a campaign (300)")
    parser.add_argument("--folder", type=Path, help="where campaigns go; default: a temporary one")
    parser.add_argument("--out", type=Path, help="where the JSON goes; default: standard output")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        seeds: list[dict[str, Any]] = []
        campaigns: list[dict[str, Any]] = []
        told = {"seeds": seeds, "campaigns": campaigns}
        for name in arguments.seed:
            seeds.append(of_seed(name, arguments.backend))
            write(told, arguments.out)
        for one in arguments.campaign:
            campaigns.append(of_campaign(one, arguments.backend, folder, arguments.within))
            write(told, arguments.out)
    if not arguments.out:
        print(json.dumps(told, indent=1))
    right = all(row["status"] == "PASSED" for row in seeds)
    return int(not right or any(row["cut_short"] for row in campaigns))


def search(text: str) -> Search:
    """ "moe=90:1" -> of moe, 90 s on one shape. Raises ArgumentTypeError."""
    read = re.fullmatch(r"(\w+)=(\d+)(?::(\d+))?", text)
    if read is None:
        raise ArgumentTypeError(f"{text!r} is not TASK=SECONDS or TASK=SECONDS:SHAPES")
    task, seconds, shapes = read.groups()
    return Search(task=task, seconds=float(seconds), shapes=int(shapes) if shapes else None)


def write(told: Mapping[str, Any], out: Path | None) -> None:
    if out:
        out.write_text(json.dumps(told, indent=1) + "\n")


def of_seed(name: str, backend: str) -> dict[str, Any]:
    """One race with the naive seed, and the checks of one that would win."""
    task, _, seed = name.partition("/")
    loaded, began = load_task(task), time.monotonic()
    made = evaluate_file(loaded.folder / "seeds" / f"{seed}.hip", loaded, backend, seconds=0)
    print(f"{name}: {made.status} {made.reason}", file=sys.stderr, flush=True)
    return {
        "task": task,
        "seed": seed,
        "device": made.device,
        "status": str(made.status),
        "reason": made.reason,
        "took_s": round(time.monotonic() - began, 1),
        "speedup": rounded(made.speedup, 3),
        "times_us": rounded(made.times_us, 1),
        "part_of_speed_of_light": rounded(made.speed_of_light, 4),
        "arithmetic": made.arithmetic,
    }


def of_campaign(one: Search, backend: str, folder: Path, within_s: float) -> dict[str, Any]:
    """From its start to its final measurement, as a person would run it."""
    run_dir = folder / one.task
    config = {
        "task": one.task,
        "name": one.task,
        "backend": backend,
        "tracking": "none",
        "runs_dir": str(folder),
        "budgets": {"wall_time_s": one.seconds},
        "search_shapes": one.shapes,
    }
    file = folder / f"{one.task}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(config))  # which YAML can read
    began = time.monotonic()
    command = [sys.executable, "-m", "engine.cli.main", "run", str(file)]
    finished = ended(command, within_s)
    summary = run_dir / "summary.json"
    found = json.loads(summary.read_text()) if summary.is_file() else {}
    return {
        "task": one.task,
        "searched_on": one.shapes or "all shapes",
        "wall_time_s": one.seconds,
        "from_start_to_end_s": round(time.monotonic() - began, 1),
        "cut_short": not finished,
        **(of_summary(found) if found.get("best") else {}),
    }


def ended(command: list[str], within_s: float) -> bool:
    """Whether it ended by itself; one that takes longer is asked to."""
    process = subprocess.Popen(
        command, cwd=HERE, stdout=sys.stderr, stdin=subprocess.DEVNULL, start_new_session=True
    )
    try:
        process.wait(within_s)
        return True
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        return False


def of_summary(summary: Mapping[str, Any]) -> dict[str, Any]:
    """What of a campaign's summary.json tells how fast its best is."""
    best, seed = summary["best"], summary["baseline"]["times_us"]
    return {
        "device": summary["device"],
        "searched_s": rounded(summary["searched_s"], 1),
        "evaluations": summary["evaluations"]["total"],
        "best": best["id"],
        "technique": best["technique"],
        "speedup": rounded(best["speedup"], 2),
        "ci95": rounded(best["ci95"], 2),
        "sittings": best["sittings"],
        "meaning": best["meaning"],
        "mean": best["mean"],
        "over_baselines": {
            name: rounded(beside["ratio"], 3) or beside["refused"]
            for name, beside in best["baselines"].items()
        },
        "seed_us": rounded(seed, 1),
        "times_us": rounded(best["times_us"], 1),
        "part_of_speed_of_light": rounded(best["speed_of_light"], 4),
        "speedup_on_other_shapes": rounded(best["beyond"], 2),
    }


def rounded(value: Any, digits: int) -> Any:
    """A number, or all of a mapping or a sequence; None stays."""
    if isinstance(value, Mapping):
        return {name: rounded(one, digits) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(one, digits) for one in value]
    return value if value is None else round(value, digits)


if __name__ == "__main__":
    sys.exit(main())
