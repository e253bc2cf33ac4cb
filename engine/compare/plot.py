"""The best so far of every campaign and configuration, over what was spent."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.compare.amounts import UNITS
from engine.compare.arms import Arm
from engine.compare.campaign import Campaign, CompareError
from engine.compare.comparison import Comparison
from engine.compare.statistics import Values
from engine.history.trajectory import AXES, Axis
from evaluators.measuring.intervals import t_quantile

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".svg", ".png", ".pdf")

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999")
"""Told apart also by who sees fewer colours (Okabe and Ito, Color Universal Design, 2008)."""

MOST_TASKS = 6
POINTS, RESAMPLES = 160, 2000
LONGEST = 90
"""Characters of a name in the legend."""

EXPLAINED = "measured at the end, with its 95% interval"
MEANS = "bold: geometric mean of several campaigns, with its 95% band, to where all are compared"


def draw(comparison: Comparison, file: Path) -> None:
    """A panel for each task and axis. Raises CompareError where the file can't be written."""
    import matplotlib
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    require_suffix(file)
    tasks = list(comparison.tasks)[:MOST_TASKS]
    axes = [axis for axis in AXES if any(axis in comparison.amounts[task] for task in tasks)]
    names = len(comparison.arms)
    size = (5.2 * len(axes), 3.4 * len(tasks) + 1.0 + 0.22 * names)
    with matplotlib.rc_context({"svg.hashsalt": "compare", "svg.fonttype": "none"}):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        panels = figure.subplots(len(tasks), len(axes), squeeze=False)
        for task, row in zip(tasks, panels, strict=True):
            for axis, panel in zip(axes, row, strict=True):
                _panel(panel, comparison, task, axis)
            row[0].set_ylabel("best so far over the naive seed")
        _legend(figure, comparison.arms)
        partial = file.with_name(f".{os.getpid()}.{file.name}")
        try:
            figure.savefig(partial, dpi=120, metadata=_metadata(file))
            partial.replace(file)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise CompareError(
                f"{file}: the plot can't be written ({error.strerror}); name another by --plot"
            ) from None


def require_suffix(file: Path) -> None:
    """Raises CompareError."""
    if file.suffix not in SUFFIXES:
        raise CompareError(f"{file}: a plot's name ends in one of {', '.join(SUFFIXES)}")


def _panel(panel: "Axes", comparison: Comparison, task: str, axis: Axis) -> None:
    amount = comparison.amounts[task].get(axis)
    for number, arm in enumerate(comparison.arms):
        members, colour = arm.of_task(task), COLOURS[number % len(COLOURS)]
        for one in members:
            _curve(panel, one, axis, colour, faint=len(members) > 1)
        if len(members) > 1 and amount is not None:
            _mean(panel, members, axis, amount, colour)
    panel.set_yscale("log")
    panel.yaxis.set_major_formatter(lambda value, _: f"{value:g}x")
    panel.yaxis.set_minor_formatter(lambda value, _: _minor(value, panel.get_ylim()))
    panel.set_xlim(left=0)
    if amount is not None:
        panel.axvline(amount, color="#888888", linewidth=0.8, linestyle=":")
    panel.set_xlabel(UNITS[axis])
    panel.set_title(comparison.tasks[task], parse_math=False, fontsize="medium")
    panel.grid(visible=True, which="major", linewidth=0.4, alpha=0.5)


def _minor(value: float, limits: tuple[float, float]) -> str:
    """Labels at 2 and 5 where a panel spans less than two decades."""
    low, high = limits
    leading = round(value / 10 ** math.floor(math.log10(value) + 1e-9), 6)
    return f"{value:g}x" if high < 100 * low and leading in (2.0, 3.0, 5.0, 7.0) else ""


def _curve(panel: "Axes", one: Campaign, axis: Axis, colour: str, *, faint: bool) -> None:
    """A campaign's steps to where its search ended, and there its final measurement."""
    end = one.spent(axis)
    steps = [(0.0, 1.0), *one.trajectory.steps(axis)]
    steps = [(spent, value) for spent, value in steps if spent <= end]
    amounts, speedups = zip(*steps, (end, steps[-1][1]), strict=True)
    panel.plot(
        amounts,
        speedups,
        drawstyle="steps-post",
        color=colour,
        linewidth=0.8 if faint else 1.8,
        alpha=0.35 if faint else 1.0,
    )
    best = one.best
    if best is not None and best.final and best.ci95 is not None:
        low, high = best.ci95
        panel.errorbar(
            [end],
            [best.speedup],
            yerr=[[best.speedup - low], [high - best.speedup]],
            fmt="o",
            color=colour,
            markersize=3,
            capsize=2,
            linewidth=0.8,
            alpha=0.6 if faint else 1.0,
        )


def _mean(
    panel: "Axes", members: Sequence[Campaign], axis: Axis, amount: float, colour: str
) -> None:
    """The geometric mean, and its 95% band at each amount by itself."""
    grid = np.linspace(0, amount, POINTS)
    logs = np.array([[math.log(one.trajectory.best_at(axis, x)) for x in grid] for one in members])
    low, high = _band(logs)
    panel.fill_between(
        grid, np.exp(low), np.exp(high), step="post", color=colour, alpha=0.15, linewidth=0
    )
    middle = np.exp(logs.mean(axis=0))
    panel.plot(grid, middle, drawstyle="steps-post", color=colour, linewidth=2.2)


def _band(logs: Values) -> tuple[Values, Values]:
    """As engine.compare.statistics.mean_interval(), of all amounts at once."""
    n = len(logs)
    drawn = np.random.default_rng(0).integers(n, size=(RESAMPLES, n))
    counts = np.zeros((RESAMPLES, n))
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], drawn), 1 / n)
    wider = math.sqrt(n / (n - 1)) * t_quantile(0.975, n - 1) / 1.959964
    deviations = wider * (counts @ (logs - logs.mean(axis=0)))
    low, high = np.quantile(deviations, [0.025, 0.975], axis=0)
    return logs.mean(axis=0) + low, logs.mean(axis=0) + high


def _legend(figure: "Figure", arms: Sequence[Arm]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=COLOURS[number % len(COLOURS)], linewidth=2.2)
        for number in range(len(arms))
    ]
    labels = [_label(arm) for arm in arms]
    handles.append(Line2D([], [], color="#888888", marker="o", markersize=3, linewidth=0.8))
    labels.append(EXPLAINED)
    handles.append(Line2D([], [], color="#888888", linewidth=0.8, linestyle=":"))
    several = any(len(arm.campaigns) > 1 for arm in arms)
    labels.append(MEANS if several else "where all are compared")
    legend = figure.legend(
        handles, labels, loc="outside lower center", frameon=False, fontsize="small"
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


def _label(arm: Arm) -> str:
    count = f" ({len(arm.campaigns)} campaigns)" if len(arm.campaigns) > 1 else ""
    name = arm.name if len(arm.name) <= LONGEST else f"{arm.name[: LONGEST - 1]}…"
    return f"{arm.letter}  {name}{count}"


def _metadata(file: Path) -> dict[str, Any]:
    return {"Date": None} if file.suffix == ".svg" else {}
