"""A kernel beside the naive seed, in words: a ratio of times, or of costs; never mixed."""

from evaluators.evaluation import Evaluation

NOTHING_TIMED = "nothing was timed, the device was emulated"
COSTS = (
    "costs are estimated by what was executed on small shapes and by static resources; they order "
    "kernels, and are no times"
)


def ratio_text(over_seed: float, *, timed: bool) -> str:
    """ "3.64x", or where nothing was timed "0.275 of the seed's cost"."""
    if timed:
        return f"{over_seed:.2f}x"
    return f"{1 / over_seed:.3g} of the seed's cost" if over_seed else "no cost"


def axis_text(*, timed: bool) -> str:
    """What an axis of such ratios shows."""
    return "times the naive seed" if timed else "naive seed's cost / its cost (nothing timed)"


def standing(evaluation: Evaluation) -> str:
    """ "3.64x" over the naive seed, or its cost; of a kernel that failed its verdict."""
    found = evaluation.over_seed
    return ratio_text(found, timed=evaluation.timed) if found else str(evaluation.status)
