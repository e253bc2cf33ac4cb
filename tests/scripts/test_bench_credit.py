"""The pair in a whole campaign: whom its calls went to, as its store says.

python -m tests.scripts.test_bench_credit ARGUMENTS

measures as scripts/bench_credit.py does, with these arguments, without Ray.
"""

import sys

import pytest

from scripts.bench_credit import main
from scripts.credit.pair import CHANGE, MOST_CALLS, WINDOWS, good_at, part
from scripts.credit.served import campaign
from tests.engine.local_ray import local_ray


def test_parts_are_of_the_model_that_is_good_then() -> None:
    asked = [good_at(number) for number in range(1, MOST_CALLS + 1)]
    assert [part(asked, window) for window in WINDOWS] == [1.0, 1.0]
    assert [part(["first"] * MOST_CALLS, window) for window in WINDOWS] == [1.0, 0.0]
    assert asked[CHANGE - 1] != asked[CHANGE]


@pytest.mark.soak
def test_a_campaign_asks_the_good_model_and_again_when_it_is_the_other() -> None:
    """Dealt they would have half; of 20 measured campaigns none was below 75% in a window."""
    asked = campaign(0, gains="often", latency_s=0.01, place=local_ray)
    assert len(asked) >= MOST_CALLS and set(asked) <= {"first", "second"}
    assert all(part(asked, window) >= 0.6 for window in WINDOWS)


if __name__ == "__main__":
    sys.exit(main(place=local_ray))
