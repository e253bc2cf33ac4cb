"""What credit is worth: a good and a useless model that change places; prints JSON.

python -m scripts.bench_credit pair --seeds 10

Whole islands ask, by the engine's own code, without Ray, devices or an endpoint: two models answer
by rule, and what a kernel is worth stands in its text. One of them is good, the other useless, and
at call 60 of those that write they change places. Of the last 20 calls before that, and of calls
101 to 120, this tells which part went to the good one. The catalogue with and without credit is
compared by scripts/ablate.py: --arms catalog,no-credit.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from scripts.credit.pair import CHANGE, WINDOWS, Pair, settings

SHAPES = {
    "one island": {"islands": 1, "lanes": 1, "experiments": 1},
    "one island, two cycles at once, three experiments": {
        "islands": 1,
        "lanes": 2,
        "experiments": 3,
    },
    "two islands, as by default": {"islands": 2, "lanes": 2, "experiments": 3},
}


def pair(seeds: Sequence[int], **shape: int) -> dict[str, Any]:
    """Parts of calls that went to the good model, by window, and each seed's."""
    found = [Pair(settings(seed, **shape)).run() for seed in seeds]
    return {
        name: {
            "mean": round(fmean(parts), 3),
            "worst": round(min(parts), 3),
            "at_least_80%": sum(part >= 0.8 for part in parts),
            "seeds": [round(part, 2) for part in parts],
        }
        for name, parts in (
            (f"calls {first} to {last}", [one.part(first, last) for one in found])
            for first, last in WINDOWS
        )
    }


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench_credit", description=__doc__)
    parser.add_argument("what", choices=("pair",))
    parser.add_argument("--seeds", type=int, default=10)
    given = parser.parse_args(arguments)
    found = {
        "seeds": given.seeds,
        "change_at_call": CHANGE,
        **{name: pair(range(given.seeds), **shape) for name, shape in SHAPES.items()},
    }
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
