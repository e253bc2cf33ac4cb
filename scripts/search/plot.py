"""Curves of searches on tables: the best so far by evaluation, beside random search."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evaluators.spelling import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Style = Mapping[str, Any]
"""Of a line, as matplotlib takes it."""

COLUMNS = 3
COLOURS = 10
OURS = ("-", "-.", (0, (8, 1, 1, 1, 1, 1)), (0, (1, 1)))
"""Of our arms: the next when the colours are used up."""
THEIRS = ("--", (0, (2, 2)))
"""Of Kernel Tuner's strategies."""
EXPECTED = "random, expected"

COLUMN_INCHES, ROW_INCHES, LINE_INCHES = 5.0, 3.4, 0.22
MOST_INCHES = 500.0
"""Of a picture's height: matplotlib draws 2^16 pixels at most."""
DOTS_PER_INCH = 110
TITLE, WORD = 46, 24
"""Characters in a line of a title and in one of the legend."""


def draw(found: Mapping[str, Any], path: Path) -> None:
    """found: as bench_search prints it. Raises OSError."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    tables = found["tables"]
    columns = min(len(tables), COLUMNS)
    rows = -(-len(tables) // columns)
    styles = _styles(found)
    width = max(COLUMN_INCHES * columns, 1.4 * COLUMN_INCHES)
    across = _legend_columns(styles, width)
    height = ROW_INCHES * rows + LINE_INCHES * -(-len(styles) // across) + 0.3
    size = (width, min(height, MOST_INCHES))
    figure, axes = pyplot.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    places = list(axes.flat)
    for place, axis in enumerate(places):
        if place >= len(tables):
            axis.axis("off")
            continue
        _draw_table(axis, tables[place], styles)
        if place + columns >= len(tables):  # nothing stands below it
            axis.set_xlabel("evaluations")
        if place % columns == 0:
            axis.set_ylabel("best so far,\nshare of the optimum")
    _draw_legend(figure, styles, across)
    figure.savefig(path, dpi=DOTS_PER_INCH)
    pyplot.close(figure)


def _styles(found: Mapping[str, Any]) -> dict[str, Style]:
    """By arm, over all tables, random search's expected curve first."""
    arms = list(dict.fromkeys(arm for table in found["tables"] for arm in table["curves"]))
    styles: dict[str, Style] = {EXPECTED: {"color": "black", "linestyle": ":", "zorder": 3}}
    for place, arm in enumerate(sorted(arms, key=lambda arm: arm not in found["arms"])):
        ours = arm in found["arms"]
        dashes = OURS if ours else THEIRS
        styles[arm] = {
            "color": f"C{place % COLOURS}",
            "linestyle": dashes[place // COLOURS % len(dashes)],
            # Of curves that are the same the later ones are the thinner ones.
            "linewidth": max(1.3, 2.6 - 0.4 * place) if ours else 1.0,
        }
    return styles


def _draw_table(axis: "Axes", table: Mapping[str, Any], styles: Mapping[str, Style]) -> None:
    from matplotlib.ticker import MaxNLocator, ScalarFormatter

    curves = {EXPECTED: table["random_curve"], **table["curves"]}
    count = len(table["random_curve"])
    for arm, curve in curves.items():
        marker = "o" if count == 1 else ""
        axis.plot(range(1, 1 + count), curve, marker=marker, **styles[arm])
    points = f"{table['points']} point{'s' if table['points'] > 1 else ''}"
    axis.set_title(_lines(f"{table['table']} ({points})", TITLE), fontsize=10)
    axis.set_ylim(*_limits([*curves.values()]))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10]))
    axis.yaxis.set_major_formatter(ScalarFormatter(useOffset=False))
    axis.grid(alpha=0.3)


def _limits(curves: Sequence[Sequence[float]]) -> tuple[float, float]:
    """From the lowest curve, after a twentieth of the evaluations, to the optimum."""
    low = min(curve[len(curve) // 20] for curve in curves)
    span = max(1.0 - low, 0.02)
    return max(-0.03, 1.0 - 1.06 * span), 1.0 + 0.04 * span


def _legend_columns(styles: Mapping[str, Style], width: float) -> int:
    """As many as stand side by side."""
    longest = min(WORD, max(map(len, styles)))
    return max(1, min(len(styles), 6, int(width / (0.085 * longest + 0.6))))


def _draw_legend(figure: "Figure", styles: Mapping[str, Style], columns: int) -> None:
    from matplotlib.lines import Line2D

    figure.legend(
        [Line2D([], [], **style) for style in styles.values()],
        [_lines(arm, WORD) for arm in styles],
        loc="outside lower center",
        ncols=columns,
        fontsize=9,
        handlelength=3,
    )


def _lines(text: str, width: int) -> str:
    """On as many lines as it needs, and no formula."""
    return "\n".join(textwrap.wrap(printable(text), width)).replace("$", r"\$")
