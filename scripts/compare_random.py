"""Compares evolution with random search at equal evaluations, over seeds; prints JSON.

Random search draws uniformly over the valid families of the task, then over the parameters of the
family. Both arms run as campaigns of the same engine, one seed after the other, in turn first.
The area under best-so-far is the mean, over evaluations, of ln(best speedup so far over the naive
seed): exp(difference of areas) says how many times faster evolution's best was, on average over
the search. A comparison that was interrupted goes on where it was.
"""

import json
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engine.campaign import resume_campaign, run_campaign
from engine.config import parse_config
from engine.store.events import Evaluated
from engine.store.replay import replay
from engine.store.run_folder import STORE
from engine.store.scoreboard import Scoreboard
from engine.store.store import read_events
from evaluators.tasks.task_file import load_task

ARMS: Mapping[str, list[dict[str, str]]] = {
    "evolution": [{"kind": "catalog"}],
    "random": [{"kind": "random"}],
}
RESAMPLES = 10_000


def main() -> int:
    arguments = _parser().parse_args()
    pairs, devices = _joined(arguments.join)
    first = arguments.first_seed
    for seed in () if arguments.join else range(first, first + arguments.seeds):
        order = sorted(ARMS, reverse=bool(seed % 2))  # neither arm always meets the cooler machine
        stores = {arm: _run(arguments, arm, seed) for arm in order}
        curves = {arm: _curve(store, arguments.evaluations) for arm, store in stores.items()}
        pairs.append({"seed": seed, **{arm: _figures(curves[arm]) for arm in sorted(ARMS)}})
        areas = ", ".join(f"{arm} {pairs[-1][arm]['area']:.3f}" for arm in sorted(ARMS))
        print(f"seed {seed}: area {areas}", file=sys.stderr, flush=True)
        devices.add(replay(stores["evolution"]).sessions[-1].started.device_class)
    result = {
        "task": arguments.task,
        "backend": arguments.backend,
        "device": ", ".join(sorted(devices)),
        "evaluations": len(pairs[0]["random"]["best_so_far"]),
        "seeds": len(pairs),
        **_compared(pairs),
        "pairs": pairs,
    }
    text = json.dumps(result, indent=2) + "\n"
    if arguments.output is not None:
        arguments.output.write_text(text)
    print(text, end="")
    return 0


def _parser() -> ArgumentParser:
    parser = ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--task", default="sgemm")
    parser.add_argument("--backend", default="cpu")
    parser.add_argument("--seeds", type=_positive, default=20)
    parser.add_argument("--first-seed", type=int, default=0, help="to share seeds over machines")
    parser.add_argument("--evaluations", type=_positive, default=60, help="of each campaign")
    parser.add_argument("--runs-dir", type=Path, default=Path("runs/compare"))
    parser.add_argument("--output", type=Path, help="also write the JSON there")
    parser.add_argument("--join", type=Path, nargs="+", default=[], help="outputs, run nothing")
    return parser


def _joined(paths: Sequence[Path]) -> tuple[list[dict[str, Any]], set[str]]:
    """Pairs of earlier outputs, and the device classes they were measured on."""
    results = [json.loads(path.read_text()) for path in paths]
    return [pair for r in results for pair in r["pairs"]], {r["device"] for r in results}


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _run(arguments: Namespace, arm: str, seed: int) -> Path:
    """The store of a finished campaign."""
    run_dir = arguments.runs_dir.resolve() / f"{arm}-{seed}"
    store: Path = run_dir / STORE
    values = {
        "task": arguments.task,
        "backend": arguments.backend,
        "name": run_dir.name,
        "runs_dir": str(run_dir.parent),
        "seed": seed,
        "budgets": {"evaluations": arguments.evaluations},
        "operators": ARMS[arm],
        "tracking": "none",
    }
    config = parse_config(values, where="the command line")
    if not store.exists():
        run_campaign(config)
        return store
    before = replay(store)
    task_hash = load_task(config.task).hash
    if (before.campaign.config, before.campaign.task_hash) != (
        config.model_dump(mode="json"),
        task_hash,
    ):
        sys.exit(f"{run_dir} holds another comparison's campaign; choose another --runs-dir")
    if not before.sessions or before.sessions[-1].finished is None:
        resume_campaign(run_dir)
    return store


def _curve(store: Path, evaluations: int) -> list[float]:
    """Best speedup after each evaluation; a campaign that ended sooner keeps its last."""
    scores, best = Scoreboard(), []
    for stored in read_events(store):
        before = scores.by_status.total()
        scores.apply(stored.event)
        if isinstance(stored.event, Evaluated) and scores.by_status.total() > before:
            best.append(scores.best.speedup if scores.best else 1.0)
    best = best[:evaluations]
    return best + [best[-1]] * (evaluations - len(best))


def _figures(curve: list[float]) -> dict[str, Any]:
    return {
        "area": float(np.log(curve).mean()),
        "final_speedup": curve[-1],
        "best_so_far": [round(value, 4) for value in curve],
    }


def _compared(pairs: list[dict[str, Any]]) -> dict[str, Any]:
    def differences(figure: str) -> np.ndarray[Any, np.dtype[np.float64]]:
        values = {arm: np.array([pair[arm][figure] for pair in pairs]) for arm in ARMS}
        if figure == "final_speedup":
            values = {arm: np.log(value) for arm, value in values.items()}
        difference: np.ndarray[Any, np.dtype[np.float64]] = values["evolution"] - values["random"]
        return difference

    area, final = differences("area"), differences("final_speedup")
    return {
        "area_difference": _estimate(area),
        "speedup_ratio_over_the_search": _exp(_estimate(area)),
        "speedup_ratio_at_the_end": _exp(_estimate(final)),
        "seeds_won_by_area": int((area > 0).sum()),
    }


def _estimate(differences: np.ndarray[Any, np.dtype[np.float64]]) -> dict[str, float]:
    """The mean of paired differences, and a bootstrap percentile interval over the seeds."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(differences), size=(RESAMPLES, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), (0.025, 0.975))
    return {"mean": float(differences.mean()), "low95": float(low), "high95": float(high)}


def _exp(estimate: Mapping[str, float]) -> dict[str, float]:
    return {key: float(np.exp(value)) for key, value in estimate.items()}


if __name__ == "__main__":
    sys.exit(main())
