"""Curves of searches on tables: the best so far by evaluation, beside random search."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

COLUMNS = 3


def draw(found: Mapping[str, Any], path: Path) -> None:
    """found: as bench_search prints it."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    tables = found["tables"]
    rows = -(-len(tables) // COLUMNS)
    columns = min(len(tables), COLUMNS)
    figure, axes = pyplot.subplots(
        rows, columns, figsize=(5 * columns, 3.6 * rows), squeeze=False, sharex=True
    )
    arms = list(dict.fromkeys(arm for table in tables for arm in table["curves"]))
    colours = {arm: f"C{number % 10}" for number, arm in enumerate(arms)}
    for place, table in enumerate(tables):
        axis = axes[place // COLUMNS][place % COLUMNS]
        x = range(1, 1 + len(table["random_curve"]))
        axis.plot(x, table["random_curve"], "k:", label="random, expected")
        for number, (arm, curve) in enumerate(table["curves"].items()):
            ours = number < len(found["arms"])
            axis.plot(
                x,
                curve,
                color=colours[arm],
                linewidth=1.8 if ours else 1.0,
                linestyle="-" if ours else "--",
                label=arm,
            )
        axis.set_title(f"{table['table']} ({table['points']} points)", fontsize=10)
        low = min(value for value in table["random_curve"][4:] or [0.0])
        axis.set_ylim(max(0.0, low - 0.05), 1.01)
        axis.grid(alpha=0.3)
    for place in range(len(tables), rows * columns):
        axes[place // COLUMNS][place % COLUMNS].axis("off")
    for axis in axes[-1]:
        axis.set_xlabel("evaluations")
    for row in axes:
        row[0].set_ylabel("best so far, share of the optimum")
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncol=6, fontsize=9)
    figure.tight_layout(rect=(0, 0.06 + 0.04 / rows, 1, 1))
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
