"""Pictures: how much each key matters, and the score by the values of those that matter most."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scripts.population.plan import Interval, Plan
from scripts.population.study import finished, whole

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from optuna import Study

IMPORTANCES, SLICES = "importances.png", "slices.png"
SHOWN = 6
"""Keys whose slices are drawn, the most important ones."""

LONGEST = 18
"""Characters of a choice that are shown."""


def importances(study: "Study") -> dict[str, float]:
    """Of each key, summing to 1; empty where the trials are too few or all alike."""
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances

    if len(finished(study)) < 4 or len({one.value for one in whole(study)}) < 2:
        return {}
    try:
        found = get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=0))
    except (RuntimeError, ValueError):
        return {}
    return {key: round(one, 4) for key, one in found.items()}


def draw(plan: Plan, study: "Study", found: Mapping[str, float], out: Path) -> list[Path]:
    """Importances, and the score by each of the most important keys."""
    if not found:
        return []
    import matplotlib

    matplotlib.use("Agg")
    _draw_importances(found, out / IMPORTANCES)
    _draw_slices(plan, study, list(found)[:SHOWN], out / SLICES)
    return [out / IMPORTANCES, out / SLICES]


def _draw_importances(found: Mapping[str, float], file: Path) -> None:
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(8, 0.4 * len(found) + 1.2), layout="constrained")
    keys = list(found)[::-1]
    bars = axis.barh(keys, [found[key] for key in keys])
    axis.bar_label(bars, fmt="%.2f", padding=3)
    axis.margins(x=0.1)
    axis.set_xlabel("importance (share of the score's variance, fANOVA)")
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def _draw_slices(plan: Plan, study: "Study", keys: Sequence[str], file: Path) -> None:
    from matplotlib import pyplot

    trials = sorted(whole(study), key=lambda one: one.number)
    colours = [one.number for one in trials]
    columns = min(3, len(keys))
    rows = -(-len(keys) // columns)
    size = (4.4 * columns, 3.4 * rows + 0.4)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=size, squeeze=False, sharey=True, layout="constrained"
    )
    for axis, key in zip(axes.flat, keys, strict=False):
        values = _placed(axis, plan, key, [one.params[key] for one in trials])
        axis.scatter(values, [one.value for one in trials], c=colours, s=14, cmap="viridis")
        axis.set_xlabel(key)
        axis.grid(alpha=0.3)
    for axis in list(axes.flat)[len(keys) :]:
        axis.axis("off")
    for row in axes:
        row[0].set_ylabel("score of the trial")
    figure.suptitle("Trials that ran everywhere; later ones are lighter")
    figure.savefig(file, dpi=110)
    pyplot.close(figure)


def _placed(axis: "Axes", plan: Plan, key: str, values: Sequence[Any]) -> list[float]:
    """Where values stand on an axis: choices in the plan's order, ranges as they are tried."""
    from matplotlib.ticker import MaxNLocator, NullFormatter, ScalarFormatter

    searched = plan.search[key]
    if not isinstance(searched, Interval):
        names = [_name(one) for one in searched]
        turn = 25 if max(map(len, names)) * len(names) > 36 else 0
        axis.set_xticks(range(len(names)), names, rotation=turn, ha="right" if turn else "center")
        axis.set_xlim(-0.5, len(names) - 0.5)
        return [float(searched.index(one)) for one in values]
    margin = 0.04
    if searched.log:
        wide = (searched.high / searched.low) ** margin
        axis.set_xlim(searched.low / wide, searched.high * wide)
        axis.set_xscale("log")
        ticks = _ticks(searched)
        axis.set_xticks(ticks)
        axis.xaxis.set_major_formatter(ScalarFormatter() if searched.low >= 0.01 else "{x:g}")
        axis.xaxis.set_minor_formatter(NullFormatter())
        return [float(one) for one in values]
    wide = margin * (searched.high - searched.low)
    axis.set_xlim(searched.low - wide, searched.high + wide)
    if searched.whole:
        axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    return [float(one) for one in values]


def _ticks(searched: Interval) -> list[float]:
    """Few round numbers from end to end."""
    import numpy as np

    spread = np.geomspace(searched.low, searched.high, 5)
    rounded = [float(f"{one:.2g}") for one in spread[1:-1]]
    if searched.whole:
        rounded = [float(round(one)) for one in rounded]
    return sorted({searched.low, *rounded, searched.high})


def _name(value: Any) -> str:
    """As YAML has it."""
    words = {None: "null", True: "true", False: "false"}
    text = words[value] if value is None or isinstance(value, bool) else str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}\u2026"
