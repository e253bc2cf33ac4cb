"""Times by shape: of the naive seed, of the best, and what the machine allows."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

from matplotlib.figure import Figure

from engine.report.plots import ACCENT, GRID, INK, MUTED, WARN, Plot, log_axis, plot
from engine.report.texts import microseconds
from engine.store.summary import Summary
from evaluators.evaluation import Evaluation
from evaluators.measuring.gain import gains_over_seed

MOST_SHAPES = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """times in µs; ratio: the seed's time over the best's, paired, in the search; light: what the
    roofline allows as a share of the best's time. None: not known."""

    label: str
    seed_us: float | None
    best_us: float
    ratio: float | None
    light: float | None

    @property
    def light_us(self) -> float | None:
        return self.best_us * self.light if self.light else None


def shapes_of(summary: Summary, evaluation: Evaluation | None) -> tuple[Shape, ...]:
    """evaluation: of the best, in the search; None: there is none."""
    if summary.best is None or evaluation is None:
        return ()
    gains = gains_over_seed(evaluation)
    return tuple(
        Shape(
            label=label,
            seed_us=summary.baseline["times_us"].get(label),
            best_us=time_us,
            ratio=exp(gains[label]) if label in gains else None,
            light=summary.best.speed_of_light.get(label),
        )
        for label, time_us in summary.best.times_us.items()
    )


def shapes_plot(shapes: Sequence[Shape]) -> Plot | None:
    shown = shapes[:MOST_SHAPES]
    if not shown:
        return None

    def draw(figure: Figure) -> None:
        panel = figure.subplots()
        for place, one in enumerate(shown):
            known = [t for t in (one.seed_us, one.best_us, one.light_us) if t]
            panel.plot([min(known), max(known)], [place, place], color=GRID, linewidth=3, zorder=1)
        for what, marker, colour, values in (
            ("naive seed", "o", MUTED, [one.seed_us for one in shown]),
            ("best", "D", ACCENT, [one.best_us for one in shown]),
            ("speed of light", "|", WARN, [one.light_us for one in shown]),
        ):
            points = [(value, place) for place, value in enumerate(values) if value]
            if points:
                panel.plot(
                    [value for value, _ in points],
                    [place for _, place in points],
                    marker,
                    color=colour,
                    markersize=12 if marker == "|" else 7,
                    markeredgewidth=3 if marker == "|" else 0,
                    label=what,
                    zorder=2,
                )
        log_axis(panel, "x", microseconds)
        panel.set_yticks(range(len(shown)), [one.label for one in shown], color=INK)
        panel.set_ylim(len(shown) - 0.5, -0.5)
        panel.grid(False, axis="y")
        panel.legend(loc="lower center", ncols=3, bbox_to_anchor=(0.5, 1.0))

    says = "Times by shape: " + "; ".join(
        f"{one.label}: {microseconds(one.best_us)}"
        + (f", the naive seed {microseconds(one.seed_us)}" if one.seed_us else "")
        for one in shown[:8]
    )
    return plot("times_by_shape", says + ".", draw, height=0.9 + 0.36 * len(shown))
