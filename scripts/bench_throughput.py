"""Measures candidates an hour: a whole campaign against a bare loop, on one GPU and on several."""

import argparse
import json
import math
import os
import platform
import shlex
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import yaml

from engine.actors.cluster import on_site
from engine.config import parse_config
from engine.config_errors import ConfigError
from engine.dispatch.workbench import BackendWorkbench, Broken, Workbench
from engine.ending import CampaignFailed
from evaluators.device import backend
from evaluators.device_info import BackendMissing
from evaluators.evaluate import TimingPolicy
from evaluators.measuring.policy import policy_of
from evaluators.tasks.arguments import TaskError
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task
from scripts.evaluator_kill import killed_evaluator
from scripts.lib.throughput import Arm, Setting, bare_arm, campaign_arm
from scripts.lib.usual_campaign import usual_campaign
from scripts.scripted_model.endpoint import in_a_process

CALL_US = 10_000.0
"""Of kernels in each timed call of the long candidates."""

MIXES: dict[str, Literal["random", "catalog", "llm"]] = {
    "mix": "random",
    "search": "catalog",
    "scripted": "llm",
}


MakeWorkbench = Callable[[Path, str, TimingPolicy | None], Workbench]


def real_workbench(task: Path, name: str, policy: TimingPolicy | None) -> Workbench:
    secret = int.from_bytes(os.urandom(8), "little")
    return BackendWorkbench(task=str(task), backend=name, secret=secret, policy=policy)


def main(
    argv: Sequence[str] | None = None,
    *,
    make: MakeWorkbench = real_workbench,
    devices_are: str = "",
) -> int:
    """make: what compiles and measures, for a task's folder, a backend and a way of timing.
    devices_are: a word about them for the result, where they are not what they call themselves."""
    arguments = _arguments(argv)
    try:
        if arguments.recorded is not None:
            found = json.loads(arguments.recorded.read_text())
            _record(found, arguments.tracking)
        else:
            found = {"devices_are": devices_are} if devices_are else {}
            given = sys.argv[1:] if argv is None else argv
            found["command"] = shlex.join(["python", "-m", "scripts.bench_throughput", *given])
            for more in measure(arguments, make):
                found |= more
                if arguments.out is not None:
                    arguments.out.write_text(json.dumps(found, indent=1) + "\n")
        if arguments.plot is not None:
            # Imported here: a GPU's machine may be without.
            from scripts.lib.throughput_plot import draw

            draw(found, arguments.plot)
    except (BackendMissing, Broken, CampaignFailed, ConfigError, TaskError, OSError) as error:
        print(f"bench_throughput.py: {error}", file=sys.stderr)
        return 1
    except ImportError as error:
        print(f"bench_throughput.py: {error}; install it, then draw with --import", file=sys.stderr)
        return 1
    tell(found)
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--backend", choices=("cpu", "cuda", "hip"), default="cpu")
    parser.add_argument("--gpus", type=_counts, default=(1,), help="how many, as in 1,2,4,8")
    parser.add_argument("--seconds", type=float, default=60.0, help="of each arm, after warm-up")
    parser.add_argument("--warm-up", type=float, default=5.0, help="seconds before them")
    parser.add_argument("--rounds", type=int, default=2, help="of campaign and bare loop in turn")
    parser.add_argument("--task", default="sgemm")
    parser.add_argument("--size", type=int, default=1024, help="of every dim of the benchmark")
    parser.add_argument(
        "--candidates",
        choices=tuple(MIXES),
        default="mix",
        help="drawn from the catalogue, found by its search, or by a scripted model over HTTP",
    )
    parser.add_argument(
        "--latency", type=float, default=1.0, help="seconds to a scripted model's reply"
    )
    parser.add_argument(
        "--gpu-ms",
        type=float,
        default=200.0,
        help="of each candidate where GPUs are added; 0: no such arms",
    )
    parser.add_argument(
        "--small", action="store_true", help="also add GPUs where candidates are as short as can be"
    )
    parser.add_argument(
        "--usual", type=int, default=0, help="so many campaigns with defaults: how busy GPUs are"
    )
    parser.add_argument(
        "--no-floor", action="store_true", help="measure no bare loop beside the campaign"
    )
    parser.add_argument("--compile-workers", type=int, help="for each device")
    parser.add_argument("--no-faults", action="store_true", help="kill no evaluator")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    parser.add_argument("--plot", type=Path, metavar="FILE.png")
    parser.add_argument("--import", dest="recorded", type=Path, metavar="FILE.json")
    parser.add_argument("--tracking", default="sqlite:///mlflow.db", help="for --import")
    return parser.parse_args(argv)


def _counts(text: str) -> tuple[int, ...]:
    counts = tuple(sorted({int(one) for one in text.split(",")}))
    if not counts or counts[0] < 1:
        raise argparse.ArgumentTypeError("give counts of at least 1, as in 1,2,4")
    return counts


def measure(arguments: argparse.Namespace, make: MakeWorkbench) -> Iterator[dict[str, Any]]:
    """What was asked for, part by part; progress goes to stderr."""
    present = _present(arguments.backend)
    if present < max(arguments.gpus):
        raise BackendMissing(
            f"--gpus {max(arguments.gpus)}: {present} {arguments.backend} devices are here"
        )
    cores = len(os.sched_getaffinity(0))
    with ExitStack() as stack:
        task = stack.enter_context(one_shape(load_task(arguments.task), arguments.size))
        endpoint = ""
        if MIXES[arguments.candidates] == "llm":
            endpoint = stack.enter_context(
                in_a_process("--unique", "--latency", str(arguments.latency))
            )
        setting = Setting(
            task=task,
            backend=arguments.backend,
            compile_workers=arguments.compile_workers
            or max(1, cores // max(arguments.gpus) - (1 if arguments.backend != "cpu" else 0)),
            operators=MIXES[arguments.candidates],
            warm_up_s=arguments.warm_up,
            endpoint=endpoint,
        )
        usual = make(task, arguments.backend, None)
        yield {
            "date": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %z}",
            "backend": arguments.backend,
            "task": arguments.task,
            "size": arguments.size,
            "candidates": arguments.candidates,
            "seconds": arguments.seconds,
            "cores": cores,
            "python": platform.python_version(),
        }
        if not arguments.no_floor:
            yield {"floor": floor(setting, usual, arguments.rounds, arguments.seconds)}
        if arguments.small:
            for added in scaling(setting, usual, arguments.gpus, arguments.seconds):
                yield {"small": added}
        if arguments.gpu_ms:
            policy = long_policy(arguments.backend, arguments.gpu_ms)
            slow = make(task, arguments.backend, policy)
            for added in scaling(setting, slow, arguments.gpus, arguments.seconds):
                yield {"scaling": {**added, "gpu_ms": arguments.gpu_ms}}
        for number in range(arguments.usual):
            most = max(arguments.gpus)
            made = usual_campaign(
                arguments.task, arguments.backend, None, devices=most, seed=number
            )
            _say(f"usual campaign: busy {made.busy:.1%} in {made.seconds:.0f} s")
            yield {f"usual_{number}": asdict(made)}
        if not arguments.no_faults:
            killed = asdict(killed_evaluator(setting, usual))
            _say(f"evaluator killed: {killed}")
            yield {"faults": killed}


def _present(name: str) -> int:
    """Devices of this machine, or GPUs of the cluster that RAY_ADDRESS names."""
    if os.environ.get("RAY_ADDRESS") and name != "cpu":
        with on_site(parse_config({"task": "sgemm", "backend": name}, where="here")) as site:
            return len(site.plan.devices)
    return backend(name).device_count()


def floor(setting: Setting, workbench: Workbench, rounds: int, seconds: float) -> dict[str, Any]:
    """Campaign and bare loop in turn on one device, ABBA; ratio: of their candidates an hour."""
    arms: list[Arm] = []
    sources: tuple[str, ...] = ()
    for number in range(rounds):
        for campaign in (True, False) if number % 2 == 0 else (False, True):
            if campaign:
                arm = campaign_arm(setting, workbench, devices=1, seconds=seconds)
                sources = arm.sources
            else:
                arm = bare_arm(setting, workbench, sources=sources, seconds=seconds)
            _say(_line(arm))
            arms.append(arm)
    rates = {
        path: math.fsum(arm.candidates_per_hour for arm in arms if arm.path == path) / rounds
        for path in ("campaign", "bare loop")
    }
    ratio = rates["campaign"] / rates["bare loop"] if rates["bare loop"] else 0.0
    return {"ratio": ratio, "arms": [_plain(arm) for arm in arms]}


def scaling(
    setting: Setting, workbench: Workbench, counts: Sequence[int], seconds: float
) -> Iterator[dict[str, Any]]:
    """Campaigns on more and more devices, after each all that are done. gain: over the fewest;
    efficiency: a device's share."""
    arms: list[dict[str, Any]] = []
    for count in counts:
        arm = campaign_arm(setting, workbench, devices=count, seconds=seconds)
        _say(_line(arm))
        first = arms[0] if arms else _plain(arm)
        gain = arm.candidates_per_hour / max(1e-9, first["candidates_per_hour"])
        efficiency = gain * first["devices"] / count
        arms.append({**_plain(arm), "gain": gain, "efficiency": efficiency})
        yield {"arms": arms}


def long_policy(name: str, gpu_ms: float) -> TimingPolicy:
    """Calls of CALL_US of the kernel and as much of its anchor, until they are gpu_ms together."""
    blocks = max(2, math.ceil(gpu_ms * 1e3 / (2 * CALL_US)))
    return replace(
        policy_of(name),
        min_blocks=blocks,
        max_blocks=blocks,
        interval_us=CALL_US,
        budget_s=60.0,
        slower=math.inf,  # nothing stops early
    )


@contextmanager
def one_shape(task: Task, size: int) -> Iterator[Path]:
    """The task with one benchmark shape, of size in every dim, and a small one held out."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / task.name
        shutil.copytree(task.folder, copy)
        file = copy / "task.yaml"
        values = yaml.safe_load(file.read_text())
        values["benchmarks"] = [dict.fromkeys(task.dims, size)]
        values["held_out"] = [dict.fromkeys(task.dims, max(1, size // 2 - 3))]
        file.write_text(yaml.safe_dump(values, sort_keys=False))
        yield copy


def _plain(arm: Arm) -> dict[str, Any]:
    values = asdict(arm)
    del values["sources"]  # thousands of kernels
    return values


def _record(found: dict[str, Any], uri: str) -> None:
    if uri == "none":
        return
    # Imported here: only this needs MLflow, and a GPU's machine may be without.
    from scripts.lib.recording import record_throughput

    record_throughput(found, uri)


def _line(arm: Arm) -> str:
    bound = f", bound by {arm.bound}" if arm.bound else ""
    return (
        f"{arm.path} on {arm.devices}: {arm.candidates_per_hour:,.0f} candidates an hour, "
        f"{arm.device_ms:.0f} ms each, busy {arm.busy:.1%}{bound} {arm.by_status}"
    )


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def tell(found: dict[str, Any]) -> None:
    """The figures that count, on stdout."""
    told: dict[str, Any] = {}
    if "floor" in found:
        told["campaign / bare loop"] = round(found["floor"]["ratio"], 3)
    for part, name in (("scaling", "gain"), ("small", "gain of small ones")):
        for arm in found.get(part, {"arms": []})["arms"]:
            told[f"{name} on {arm['devices']}"] = round(arm["gain"], 2)
    print(json.dumps({**told, "faults": found.get("faults")}))


if __name__ == "__main__":
    sys.exit(main())
