"""What experiments were to bring, beside what they brought."""

from dataclasses import dataclass
from math import exp, sqrt

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from engine.credit.calibration import CATALOGUE, predictions_in
from engine.report.plots import FAINT, GOOD, MOST_DOTS, MUTED, WARN, Plot, log_axis, plot
from engine.report.texts import count, percent
from engine.store.events import CycleFinished, Drafted
from engine.store.replay import Replay
from evaluators.evaluation import Evaluation
from evaluators.measuring.gain import gains_over_seed
from evaluators.weights import over_shapes
from operators.calibration import Calibration, Prediction

SLOWEST = 0.05
"""Times as fast as its Base: what is slower stands at the edge of the plot."""


def gain_percent(kernel: Evaluation, base: Evaluation) -> float | None:
    """By how many percent faster, paired through their anchors; None: not comparable."""
    mine, theirs = gains_over_seed(kernel), gains_over_seed(base)
    shared = {label: mine[label] - theirs[label] for label in mine if label in theirs}
    return 100 * (exp(over_shapes(shared, kernel.weights)) - 1) if shared else None


def predicted(drafted: Drafted) -> tuple[float, float] | None:
    """The range that its experiment promised, in percent; None: nobody promised anything."""
    experiment = drafted.experiment
    if experiment is None or experiment.by_a_person or drafted.origin == "mutation":
        return None
    low, high = experiment.performance
    return low, high


@dataclass(frozen=True, slots=True, kw_only=True)
class Predictions:
    """Of experiments that passed, as did their Bases. low, high, measured: percent; unmeasured:
    experiments whose kernel failed."""

    low: tuple[float, ...]
    high: tuple[float, ...]
    measured: tuple[float, ...]
    unmeasured: int

    @property
    def sentence(self) -> str:
        """How often predictions hold; "" where there are none."""
        total = len(self.measured)
        if not total:
            return ""
        inside = sum(map(_inside, self.low, self.measured, self.high))
        below = sum(value < low for low, value in zip(self.low, self.measured, strict=True))
        failed = f" Of {count(self.unmeasured, 'more experiment')} the kernel failed or was "
        return (
            f"Of {count(total, 'experiment')} with a prediction and a measured gain, "
            f"{percent(inside / total)} brought what was predicted, {percent(below / total)} less "
            f"and {percent((total - inside - below) / total)} more."
            + (failed + "stopped early." if self.unmeasured else "")
        )


def _inside(low: float, value: float, high: float) -> bool:
    return low <= value <= high


def predictions(replay: Replay) -> Predictions:
    known = replay.scores.evaluations
    made: list[tuple[float, float, float]] = []
    unmeasured = 0
    for drafted in replay.first_drafts.values():
        range_, kernel = predicted(drafted), known.get(drafted.kernel_id)
        base = known.get(drafted.parents[0]) if drafted.parents else None
        if range_ is None or kernel is None or base is None:
            continue
        gain = gain_percent(kernel, base)
        if gain is None:
            unmeasured += 1
        else:
            made.append((*range_, gain))
    low, high, measured = zip(*made, strict=True) if made else ((), (), ())
    return Predictions(low=low, high=high, measured=measured, unmeasured=unmeasured)


@dataclass(frozen=True, slots=True, kw_only=True)
class Designer:
    """name: of a model, or the catalogue."""

    name: str
    calibration: Calibration


def designers_of(replay: Replay) -> tuple[Designer, ...]:
    """How the predictions of each came out, over all islands, as its own prompts tell it."""
    made: dict[str, list[Prediction]] = {}
    for index in replay.islands:
        for event, _ in replay.history(index):
            if isinstance(event, CycleFinished):
                name = event.asked.get("designer", CATALOGUE)
                made.setdefault(name, []).extend(predictions_in(event.earned))
    return tuple(
        Designer(name=name, calibration=Calibration.of(of_name))
        for name, of_name in sorted(made.items())
        if of_name
    )


def predictions_plot(made: Predictions) -> Plot | None:
    """Measured against predicted; each line spans one prediction."""
    total = len(made.measured)
    if not total:
        return None
    low, high, measured = (
        [_ratio(one) for one in values] for values in (made.low, made.high, made.measured)
    )
    some = range(0, total, 1 + 2 * total // MOST_DOTS)  # a line and a dot each

    def draw(figure: Figure) -> None:
        panel = figure.subplots()
        sides = [(measured[p] > high[p]) - (measured[p] < low[p]) for p in range(total)]
        for what, colour, side in (
            ("as predicted", GOOD, 0),
            ("less", WARN, -1),
            ("more", MUTED, 1),
        ):
            chosen = [place for place in some if sides[place] == side]
            if not chosen:
                continue
            x, y = [sqrt(low[p] * high[p]) for p in chosen], [measured[p] for p in chosen]
            ranges = [low[p] for p in chosen], [high[p] for p in chosen]
            panel.hlines(y, *ranges, color=FAINT, linewidth=0.5, alpha=0.5)
            panel.plot(x, y, "o", markersize=3.4, markeredgewidth=0, color=colour, label=what)
        _equal_axes(panel)
        panel.set_xlabel("predicted: times as fast as the Base, range and middle")
        panel.set_ylabel("measured")
        panel.legend(loc="lower right", ncols=3, bbox_to_anchor=(1.0, 1.0))

    return plot("predictions", made.sentence, draw, width=8.4, height=3.9)


def _ratio(gain: float) -> float:
    """Of percent; what would be no speed at all stands at the edge of the plot."""
    return max(SLOWEST, 1 + gain / 100)


def _equal_axes(panel: Axes) -> None:
    """The diagonal is a prediction that held."""
    panel.set_xscale("log")
    panel.set_yscale("log")
    low = min(panel.get_xlim()[0], panel.get_ylim()[0])
    high = max(panel.get_xlim()[1], panel.get_ylim()[1])
    panel.plot([low, high], [low, high], color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
    log_axis(panel, "x")
    log_axis(panel, "y")
