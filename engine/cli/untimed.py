"""A verdict from an emulated device as it is printed: what was checked; nothing was timed."""

from collections.abc import Iterator
from math import exp
from typing import Any

from evaluators.evaluation import Evaluation

NOTHING_TIMED = "nothing is timed on an emulated device"
COST = (
    "costs are estimated issue cycles a SIMD, from what was executed on small shapes and from "
    "static resources: they order kernels, and are no times"
)
HELD_OUT = (
    "held-out shapes are checked within the same limits of bytes and arithmetic; what they are is "
    "not told"
)


def shapes_run(evaluation: Evaluation) -> list[str]:
    """Labels of the shapes on which it was checked, of those that its author may know."""
    labels = (key.rpartition("/")[0] for key in evaluation.errors)
    return list(dict.fromkeys((*labels, *evaluation.costs)))


def turns_taken(order: int) -> str:
    """order: see EMULATED_ORDER."""
    if order == 0:
        return "wavefronts ran in order, each up to its next barrier"
    return f"wavefronts took turns at random; --order {order} repeats them"


def untimed_json(evaluation: Evaluation) -> dict[str, Any]:
    """What --json has besides, where nothing is timed."""
    return {
        "timed": False,
        "meaning": f"{NOTHING_TIMED}; {COST}",
        "costs": dict(evaluation.costs),
        "shapes_run": shapes_run(evaluation),
        "shapes_left_out": list(evaluation.left_out),
        "advice": list(evaluation.advice),
    }


def untimed_lines(evaluation: Evaluation) -> Iterator[str]:
    """Of a kernel that passed there."""
    yield f"PASSED  in emulation: {NOTHING_TIMED}"
    yield f"  right on {len(shapes_run(evaluation))} shapes: {', '.join(shapes_run(evaluation))}"
    if evaluation.left_out:
        yield f"  left out, as they take long: {', '.join(evaluation.left_out)}"
    yield f"  {HELD_OUT}"
    width = max(len(label) for label in evaluation.costs)
    for label, cost in evaluation.costs.items():
        gain = evaluation.gains.get(label)
        share = "" if gain is None else f"  {_share(gain)} of the naive seed's cost"
        yield f"  {label:{width}}  cost {cost:11.4g}{share}"
    yield f"  {COST}"


def _share(gain: float) -> str:
    """gain: ln(seed's cost / kernel's cost)."""
    return f"{exp(-gain):.3g}"
