"""The LLM loop on one device, against a scripted endpoint with recorded replies.

python -m scripts.llm_loop --task softmax --backend cuda --seconds 300 --out found.json

The endpoint is real HTTP with --latency seconds to a reply (spread around it, as models' replies
are) and answers from scripts/llm_loop/replies: what is measured is this software, never a model.
Recorded kernels run out after 25 or so experiments; from then on they come with other parameters
(scripts/llm_loop/model.py). In the middle the driver's process group is killed with SIGKILL and
the campaign is resumed. With several tasks each gets --seconds of its own. Prints JSON.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.store.events import Evaluated
from engine.store.run_folder import STORE
from engine.store.store import Stored, read_events
from scripts.llm_loop.figures import figures
from scripts.llm_loop.log import Log
from scripts.llm_loop.model import RecordedModel
from scripts.llm_loop.recorded import tasks
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import MODEL, Script, ScriptedServer

ROOT = Path(__file__).parents[2]
START_S = 120.0
"""For Ray, the device and the naive seed, in each of the two sessions."""

END_S = 60.0
"""For what comes after the search."""


def main(argv: Sequence[str] | None = None) -> int:
    given = _arguments(argv)
    found: dict[str, Any] = {"asked": {k: str(v) for k, v in vars(given).items()}, "tasks": {}}
    for task in given.task or tasks():
        found["tasks"][task] = one_task(task, given)
        if given.out is not None:
            given.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found, indent=1))
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--task", choices=tasks(), action="append", help="default: all recorded")
    parser.add_argument("--backend", choices=("cpu", "cuda", "hip"), default="cpu")
    parser.add_argument("--seconds", type=float, default=300.0, help="of searching, for each task")
    parser.add_argument("--latency", type=float, default=20.0, help="mean seconds to a reply")
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--no-kill", action="store_true", help="let the driver live")
    parser.add_argument("--malform", type=float, default=0.03, help="share of replies spoilt")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="of the configuration"
    )
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="for stores and samples")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    return parser.parse_args(argv)


def one_task(task: str, given: argparse.Namespace) -> dict[str, Any]:
    """One campaign: half of it, a kill, the other half; and what it came to."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = (given.keep or Path(scratch)) / task
        folder.mkdir(parents=True, exist_ok=True)
        model = RecordedModel(task=task, backend=given.backend, seed=given.seed)
        script = Script(
            latency_s=given.latency,
            spread=0.5,
            chunks=100,
            malform=given.malform,
            seed=given.seed,
            rule=model,
        )
        with serving(script) as server:
            config = configuration(task, given, server.base_url, folder)
            lives = live(config, folder, given)
            log = _log(folder, server)
        return {
            "lives": lives,
            "most_in_flight": server.most_in_flight,
            "replies_beyond_the_recorded": model.beyond,
            **figures(log),
        }


def configuration(
    task: str, given: argparse.Namespace, base_url: str, folder: Path
) -> dict[str, Any]:
    """A cycle asks two questions and then three at a time: as many cycles as keep in_flight."""
    islands = 4
    values: dict[str, Any] = {
        "task": task,
        "backend": given.backend,
        "name": "loop",
        "runs_dir": str(folder),
        "seed": given.seed,
        "budgets": {"evaluations": None, "wall_time_s": given.seconds},
        "islands": {
            "count": islands,
            "cycles_in_flight": max(1, round(given.in_flight * 0.75 / islands)),
            "patience": 100_000,
        },
        "operators": [{"kind": "llm", "experiment": 5, "crossover": 1, "mutation": 0}],
        "devices": {} if given.backend == "cpu" else {"ids": [0]},
        "final": {"seconds": 5},
        "tracking": "none",
        "llm": {
            "base_url": base_url,
            "models": {"recorded": {"model": MODEL, "max_tokens": 4096}},
            "concurrency": given.in_flight,
        },
    }
    for one in given.set:
        dotted, _, text = one.partition("=")
        place = values
        *path, last = dotted.split(".")
        for key in path:
            place = place.setdefault(key, {})
        place[last] = json.loads(text)
    return values


# --- the driver's lives -----------------------------------------------------------------------


def live(config: Mapping[str, Any], folder: Path, given: argparse.Namespace) -> dict[str, Any]:
    """Run it; after half of its time kill its process group and resume it, unless told not to."""
    file, run = folder / "config.json", folder / "loop"
    file.write_text(json.dumps(config))
    driver = _driver(file, folder, ())
    if given.no_kill:
        return {"returned": _wait(driver, given.seconds + START_S + END_S)}
    seed_at = _seed_verdict(run / STORE, driver)
    _sleep_while_alive(driver, seed_at + given.seconds / 2 - time.time())
    if driver.poll() is not None:
        return {"returned": f"exit code {driver.returncode}, before it was to be killed"}
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    killed_at = time.time()
    again = _driver(file, folder, ("--resume", str(run)))
    returned = _wait(again, given.seconds + START_S + END_S)
    return {"killed_after_s": round(killed_at - seed_at, 1), "returned": returned}


def _driver(file: Path, folder: Path, more: Sequence[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "scripts.llm_loop.driver", str(file)]
    command += [str(folder / "samples.jsonl"), *more]
    return subprocess.Popen(command, cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL)


def _wait(driver: subprocess.Popen[bytes], seconds: float) -> str:
    """How it ended; one that does not is killed."""
    try:
        return f"exit code {driver.wait(timeout=seconds)}"
    except subprocess.TimeoutExpired:
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        return f"killed, as it had not ended after {seconds:.0f} s"


def _seed_verdict(store: Path, driver: subprocess.Popen[bytes]) -> float:
    """When the naive seed had its verdict. Raises SystemExit."""
    until = time.monotonic() + START_S
    while time.monotonic() < until and driver.poll() is None:
        at = next((s.at for s in _events(store) if isinstance(s.event, Evaluated)), None)
        if at is not None:
            return at
        time.sleep(0.5)
    if driver.poll() is None:
        os.killpg(driver.pid, signal.SIGKILL)
    raise SystemExit(f"llm_loop: the naive seed has no verdict within {START_S:g} s")


def _sleep_while_alive(driver: subprocess.Popen[bytes], seconds: float) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until and driver.poll() is None:
        time.sleep(0.2)


def _events(store: Path) -> list[Stored]:
    return list(read_events(store)) if store.exists() else []


def _log(folder: Path, server: ScriptedServer) -> Log:
    lines = (folder / "samples.jsonl").read_text().splitlines()
    return Log(
        events=_events(folder / "loop" / STORE),
        calls=server.log,
        samples=[json.loads(line) for line in lines if line.endswith("}")],
    )


if __name__ == "__main__":
    sys.exit(main())
