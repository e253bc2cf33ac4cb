"""A few lines on a kernel: measured first, then what to change, then facts; never too many."""

from dataclasses import dataclass
from typing import Any

from operators.llm.prompts.diagnosis import MEASURED, diagnosis


@dataclass(frozen=True)
class Built:
    resources: tuple[dict[str, Any], ...]


SPILLS = "12 registers spilled to memory."
NUMBERS = "128 VGPRs; 4 of 8 waves a SIMD."


def test_what_was_measured_comes_first_and_facts_last() -> None:
    built = Built(({"kernel": "gemm<64>", "advice": [SPILLS], "facts": [NUMBERS]},))
    assert diagnosis(built, ["bound by latency."]) == (
        f"{MEASURED}bound by latency.",
        SPILLS,
        f"gemm<64>: {NUMBERS}",
    )


def test_there_are_at_most_as_many_lines_as_asked_for_with_room_for_one_fact() -> None:
    many = tuple(
        {"kernel": "k", "advice": [f"advice {i}", "the same"], "facts": [f"fact {i}"]}
        for i in range(30)
    )
    lines = diagnosis(Built(many), [f"measured {i}" for i in range(3)], 6)
    assert lines == (
        *(f"{MEASURED}measured {i}" for i in range(3)),
        "advice 0",
        "the same",
        "k: fact 0",
    )
    assert len(diagnosis(Built(many), [f"measured {i}" for i in range(30)], 6)) == 6


def test_old_stores_and_strange_ones_are_read() -> None:
    """Advice without facts, as before there were any; nothing; one line of a long sentence."""
    assert diagnosis(Built(({"kernel": "k", "vgprs": 3},))) == ()
    assert diagnosis(Built(({"advice": ["old"]},))) == ("old",)
    (line,) = diagnosis(Built(({"advice": ["word \n" * 1000]},)))
    assert "\n" not in line and len(line) < 500
