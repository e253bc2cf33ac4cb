"""What credit is worth: a good and a useless model that change places; prints JSON.

python -m scripts.bench_credit pair --seeds 40
python -m scripts.bench_credit campaign --seeds 10

Two models answer by rule, and what a kernel is worth stands in its text. One of them is good (its
kernels gain often, or now and then), the other useless (its kernels never gain), and at call 60 of
those that write they change places. Of the last 20 calls before that, and of calls 101 to 120, this
tells which part went to the good one, with 95% bootstrap intervals over seeds.

pair: whole islands ask, by the engine's own code, without Ray, devices or an endpoint. campaign:
whole campaigns ask an endpoint by HTTP, and whom they asked is read from their stores; on a device
that measures nothing. The catalogue with and without credit is compared by scripts/ablate.py:
--arms catalog,no-credit.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from scripts.credit.pair import CHANGE, GOOD, WINDOWS, Pair, part, settings
from scripts.credit.served import campaign
from scripts.llm_loop.shared_memory import Place, interval

SHAPES: Mapping[str, tuple[int, int, int]] = {
    "one island": (1, 1, 1),
    "one island, two cycles at once, three experiments": (1, 2, 3),
    "two islands, as by default": (2, 2, 3),
}
"""Islands, cycles at once, experiments of a cycle."""


def pairs(seed: int, gains: str) -> dict[str, list[str]]:
    """Whom the calls went to, by shape."""
    return {name: Pair(_of(seed, shape), gains).run().asked for name, shape in SHAPES.items()}


def _of(seed: int, shape: tuple[int, int, int]) -> Any:
    islands, lanes, experiments = shape
    return settings(
        seed,
        islands={"count": islands, "cycles_in_flight": lanes},
        operators=[{"kind": "llm", "experiments_per_cycle": experiments}],
    )


def told(asked: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Parts of calls that went to the good model, by window, and each seed's."""
    found = {}
    for window in WINDOWS:
        parts = [part(one, window) for one in asked]
        found["calls {} to {}".format(*window)] = {
            **interval(parts),
            "worst": round(min(parts), 3),
            "at_least_80%": sum(part >= 0.8 for part in parts),
            "seeds": [round(part, 2) for part in parts],
        }
    return found


def main(arguments: Sequence[str] | None = None, *, place: Place = nullcontext) -> int:
    """place: entered for each campaign; the tests give one without Ray."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("pair", "campaign"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--latency", type=float, default=0.05, help="mean seconds to a reply")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    given = parser.parse_args(arguments)
    found: dict[str, Any] = {
        "seeds": given.seeds,
        "first_seed": given.first,
        "change_at_call": CHANGE,
    }
    for gains in GOOD:
        asked: dict[str, list[list[str]]] = {}
        for seed in range(given.first, given.first + given.seeds):
            if given.what == "pair":
                one = pairs(seed, gains)
            else:
                whole = campaign(seed, gains=gains, latency_s=given.latency, place=place)
                one = {"whole campaigns, two islands": whole}
            for shape, names in one.items():
                asked.setdefault(shape, []).append(names)
                parts = [part(names, window) for window in WINDOWS]
                print(gains, seed, shape, parts, file=sys.stderr, flush=True)
        found[f"the good model gains {gains}"] = {s: told(one) for s, one in asked.items()}
    text = json.dumps(found, indent=1)
    if given.out is not None:
        given.out.write_text(text + "\n")
    print(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
