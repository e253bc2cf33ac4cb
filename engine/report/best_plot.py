"""The best so far against evaluations, device time and dollars, and all kernels behind it."""

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from engine.history.history import History
from engine.history.trajectory import AXES, Axis, Trajectory
from engine.report.plots import (
    ACCENT,
    FAINT,
    GOOD,
    INK,
    Plot,
    counting_axis,
    log_axis,
    plot,
    thinned,
)
from engine.report.texts import short, times
from engine.store.lineage import Step
from engine.store.ratios import axis_text, ratio_text
from engine.store.replay import Replay

LABELS: dict[Axis, str] = {
    "evaluations": "evaluations",
    "device_s": "device seconds",
    "dollars": "dollars for models",
}


def best_plot(history: History) -> Plot | None:
    """None before the naive seed is measured."""
    way = history.trajectory
    moments = [moment for moment in way.moments if moment.best is not None]
    if not moments:
        return None
    axes = [one for one in AXES if one != "dollars" or way.end.dollars > 0]

    def draw(figure: Figure) -> None:
        # Typed for checkers that know no numpy.
        panels: Sequence[Axes] = figure.subplots(1, len(axes), sharey=True, squeeze=False)[0]
        for panel, axis in zip(panels, axes, strict=True):
            _best_so_far(panel, way, axis)
            panel.set_xlabel(LABELS[axis])
            panel.set_xlim(left=0)
            if axis == "evaluations":
                counting_axis(panel)
        log_axis(panels[0], "y")
        panels[0].set_ylabel(axis_text(timed=history.replay.timed))
        panels[0].legend(loc="lower right")

    last = way.end.best
    says = f"Best so far: it rises in {len(moments)} steps"
    timed = history.replay.timed
    to = f"{times(last.speedup)} the naive seed" if last and timed else ""
    if last and not timed:
        to = f"{ratio_text(last.speedup, timed=False)} (nothing was timed)"
    says += f" to {to}." if to else "."
    return plot("best_so_far", says, draw, height=3.6)


def _best_so_far(panel: Axes, way: Trajectory, axis: Axis) -> None:
    """As it was known then: by contests; the final measurement is a point of its own."""
    moments = [moment for moment in way.moments if moment.best is not None]
    known = [(moment, moment.best) for moment in moments if moment.best is not None]
    spent = [moment.spent(axis) for moment, _ in known] + [way.end.spent(axis)]
    values = [best.speedup for _, best in known]
    lows = [(best.ci95 or (best.speedup, 0.0))[0] for _, best in known]
    highs = [(best.ci95 or (0.0, best.speedup))[1] for _, best in known]
    for heights in (values, lows, highs):
        heights.append(heights[-1])
    band = {"step": "post", "color": FAINT, "alpha": 0.35, "linewidth": 0}
    panel.fill_between(spent, lows, highs, **band, label="its 95% interval")  # type: ignore[arg-type]
    panel.step(spent, values, where="post", color=ACCENT, linewidth=1.8, label="best so far")
    last = way.end.best
    if last is not None and last.final:
        low, high = last.ci95 or (last.speedup, last.speedup)
        error = [[last.speedup - low], [high - last.speedup]]
        panel.errorbar(
            [way.end.spent(axis)],
            [last.speedup],
            yerr=error,
            fmt="D",
            markersize=6,
            color=GOOD,
            capsize=4,
            label="final measurement",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Dots:
    """Kernels that passed. numbers: how many had a verdict then; speedups: as first measured."""

    numbers: Sequence[int]
    speedups: Sequence[float]

    @classmethod
    def of(cls, replay: Replay) -> "Dots":
        passed = [
            (number, one.over_seed)
            for number, one in enumerate(replay.scores.evaluations.values(), start=1)
            if one.passed and one.over_seed
        ]
        return cls(
            numbers=[number for number, _ in passed], speedups=[value for _, value in passed]
        )


def ancestry_plot(replay: Replay, steps: Sequence[Step]) -> Plot | None:
    """Every kernel by when it was measured, and the way from the seed to the best among them."""
    dots = Dots.of(replay)
    if len(dots.numbers) < 2:
        return None
    number_of = {one: place for place, one in enumerate(replay.scores.evaluations, start=1)}
    way = [
        (number_of[step.drafted.kernel_id], step.evaluation.over_seed)
        for step in steps
        if step.evaluation.over_seed
    ]

    def draw(figure: Figure) -> None:
        panel = figure.subplots()
        some = thinned(len(dots.numbers))
        panel.plot(
            [dots.numbers[place] for place in some],
            [dots.speedups[place] for place in some],
            "o",
            markersize=2.6,
            markeredgewidth=0,
            color=FAINT,
            label="kernels that passed" + (f" (every {some.step}th)" if some.step > 1 else ""),
        )
        panel.plot(
            [number for number, _ in way],
            [value for _, value in way],
            "o-",
            markersize=5,
            color=ACCENT,
            linewidth=1.4,
            label="from the seed to the best" if len(way) > 1 else "the best",
        )
        for place, (number, value) in enumerate(way):
            if len(way) <= 25 or place in (0, len(way) - 1):
                panel.annotate(
                    str(place),
                    (number, value),
                    xytext=(-4, 5),
                    textcoords="offset points",
                    fontsize=8.5,
                    color=INK,
                    ha="right",
                )
        log_axis(panel, "y")
        panel.set_xlabel("evaluations")
        panel.set_ylabel(axis_text(timed=replay.timed))
        panel.set_xlim(left=-0.02 * dots.numbers[-1])
        counting_axis(panel)
        panel.legend(loc="lower right", ncols=2, bbox_to_anchor=(1.0, 1.0))

    best = steps[-1] if steps else None
    says = f"{len(dots.numbers)} kernels that passed, by when they were measured"
    if best is not None and len(steps) > 1:
        says += f"; {len(steps) - 1} steps lead from the seed to {short(best.drafted.kernel_id)}"
    return plot("lineage", says + ".", draw, height=3.8)
