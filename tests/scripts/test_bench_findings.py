"""What findings save, measured on few seeds.

python -m tests.scripts.test_bench_findings ARGUMENTS

measures as scripts/bench_findings.py does, with these arguments, without Ray.
"""

import json
import sys

import pytest

from scripts.bench_findings import main
from scripts.scripted_model.mind import found, ideas, tried
from tests.engine.local_ray import local_ray

WON, LOST = ideas()[3][0][0], ideas()[7][1][0]
PROMPT = f"""
# What this search and earlier ones found
- {WON} on a kernel without it (It helps.): 1.31x (1.2 to 1.4), shown by 1 kernel
- trap: {LOST} on a kernel without it (It does not.) makes it slower: 0.9x (0.8 to 0.95)

# The kernels
"""


def test_a_mind_reads_wins_and_traps_and_takes_neither_for_tried() -> None:
    assert found(PROMPT) == ({3: 1.31}, {7})
    assert tried(PROMPT) == set()


@pytest.mark.soak
def test_campaign_two_needs_fewer_calls_and_foreign_findings_are_not_used(
    capsys: pytest.CaptureFixture[str],
) -> None:
    few = ["--seeds", "1", "--evaluations", "30", "--every", "1000", "--latency", "0"]
    assert main(few, place=local_ray) == 0
    said = json.loads(capsys.readouterr().out)["every 1000"]
    (run,) = said["runs"]
    assert run["with"]["reached"] and run["with"]["calls"] < run["one"]["calls"]
    assert run["with"]["brought"] > 0 and not run["with"]["refused"]
    assert run["foreign"]["brought"] == said["foreign_brought"] == 0
    (why,) = said["foreign_says"]
    assert "another simulated GPU" in why and why.endswith("not used")


if __name__ == "__main__":
    sys.exit(main(place=local_ray))
