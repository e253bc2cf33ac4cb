"""Plots as SVG: the same bytes for the same data, as a file and as a part of a page."""

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

INK, MUTED, GRID, PAPER = "#1f2329", "#656d77", "#d5dae0", "#ffffff"
ACCENT, FAINT, GOOD, WARN = "#0b5cad", "#94b8dc", "#19793b", "#b0500a"
SERIES = ("#0b5cad", "#b0500a", "#19793b", "#7a4bb5", "#a3305f", "#0f7f8c", "#7d6b00", "#656d77")

_VARIABLES = {
    INK: "ink",
    MUTED: "muted",
    GRID: "grid",
    PAPER: "paper",
    ACCENT: "accent",
    FAINT: "faint",
    GOOD: "good",
    WARN: "warn",
}
"""What a colour is called in the page, where it is another one on a dark screen."""

_STYLE: Mapping[str, Any] = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a $ in a kernel's or a shape's name is a $
    "font.size": 10.0,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.titlesize": 10.0,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    "lines.solid_capstyle": "round",
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
}

MOST_DOTS = 1500
"""Dots of a plot: each takes 100 bytes."""

WIDTH_AT_LEAST = 1.3
"""Of a logarithmic axis: what differs by less looks alike."""

Draw = Callable[[Figure], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """name: of its file, without the ending; says: what it shows, for those who don't see it;
    svg: a whole SVG file."""

    name: str
    says: str
    svg: str

    @property
    def inline(self) -> Markup:
        """As a part of a page: no width of its own, and the page's colours."""
        return Markup(_inlined(self.svg, self.says))


def plot(name: str, says: str, draw: Draw, *, width: float = 12.0, height: float = 3.4) -> Plot:
    """Draw a figure. width, height: inches. No global state of matplotlib is left changed."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # not what a user's own matplotlibrc says
        settings: Any = matplotlib.rcParams
        settings.update(_STYLE)
        settings["svg.hashsalt"] = name
        figure = Figure(figsize=(width, height), layout="constrained")
        draw(figure)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return Plot(name=name, says=says, svg=_slim(file.getvalue()))


def _slim(svg: str) -> str:
    svg = re.sub(r"\s*<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"\s*<!DOCTYPE.*?>", "", svg, count=1, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font-family: [^;\"]*", "font-family: sans-serif", svg)
    # Names that nothing refers to, the same in every plot.
    svg = re.sub(r' id="(?:[a-zA-Z0-9.]+_)+\d+"', "", svg)
    return re.sub(r"\n\s*", "\n", svg)


def _inlined(svg: str, says: str) -> str:
    body = svg[svg.index("<svg") :]
    size = re.search(r'viewBox="[^"]*"', body)
    label = Markup.escape(says)
    head = f'<svg role="img" aria-label="{label}" {size.group() if size else ""}>'
    body = head + body[body.index(">") + 1 :]
    body = re.sub(r"<defs>\s*<style.*?</style>\s*</defs>", "", body, count=1, flags=re.DOTALL)
    body = body.replace("font-family: sans-serif", "")
    for colour, name in _VARIABLES.items():
        body = body.replace(colour, f"var(--{name})")
    return body


def thinned(count: int) -> range:
    """Which of so many dots to draw, evenly: all, or MOST_DOTS at most."""
    return range(0, count, -(-count // MOST_DOTS) if count else 1)


def log_axis(
    axes: Axes, which: str, text: Callable[[float], str] = lambda value: f"{value:.3g}×"
) -> None:
    """A logarithmic axis, whose ticks say "2×", "10×"; it is never so narrow that it has none."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    (axes.set_yscale if which == "y" else axes.set_xscale)("log")
    low, high = axis.get_data_interval()
    if high / low < WIDTH_AT_LEAST:
        middle, half = sqrt(low * high), sqrt(WIDTH_AT_LEAST)
        low, high = middle / half, middle * half
        (axes.set_ylim if which == "y" else axes.set_xlim)(low, high)
    low, high = axis.get_view_interval()
    subs = (1.0, 2.0, 5.0) if high / low < 300 else (1.0,)
    few = high / low < 4
    axis.set_major_locator(MaxNLocator(6) if few else LogLocator(subs=subs))
    axis.set_major_formatter(FuncFormatter(lambda value, _: text(value)))
    axis.set_minor_locator(NullLocator())


def counting_axis(axes: Axes) -> None:
    """The x axis counts: its ticks are whole numbers."""
    axes.xaxis.set_major_locator(MaxNLocator(9, integer=True))
