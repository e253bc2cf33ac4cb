"""A campaign's description in MLflow, in Markdown: its result, and whether to believe it."""

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from engine.store.lineage import lineage
from engine.store.ratios import COSTS, ratio_text
from engine.store.replay import Replay
from engine.store.summary import BestFound, Summary, summarise
from engine.tracking.experiments import table_of
from evaluators.weights import whole_text

STEPS_SHOWN = 12
CHARACTERS = 7500
"""MLflow cuts a tag at 8000, wherever that is."""


def description(replay: Replay, run_dir: Path, *, state: str, experiment: str) -> str:
    """experiment: its id."""
    summary = summarise(replay, run_dir)
    sections = [
        _result(summary, state),
        *_of_best(summary, replay),
        "\n".join(_commands(summary, run_dir, experiment)),
    ]
    text = ""
    for section in sections:
        if len(text) + len(section) < CHARACTERS:
            text += section + "\n\n"
    return text


def plain(text: str) -> str:
    """On one line, and never Markdown or HTML: a model may have written it."""
    return re.sub(
        r"([\\`*_{}\[\]()#+!|~<>-])", r"\\\1", escape(" ".join(text.split()), quote=False)
    )


def _result(summary: Summary, state: str) -> str:
    total = summary.evaluations["total"]
    how = "running" if state == "running" else plain(summary.ended)
    spent = f"{total} evaluations in {summary.elapsed_s:.0f} s on {plain(summary.device)} ({how})."
    best = summary.best
    if best is None or best.id == summary.baseline["id"]:
        return f"**Nothing faster than the naive seed**, after {spent}"
    if not summary.timed:
        return (
            f"**Nothing was timed**, the device was emulated: the best has "
            f"{ratio_text(best.speedup, timed=False)}, after {spent}\n\n{plain(COSTS)}."
        )
    interval = f" (95% interval {best.ci95[0]:.2f} to {best.ci95[1]:.2f})" if best.ci95 else ""
    head = f"**{best.headline}**{interval if best.fastest is None else ''}, after {spent}"
    about = [plain(one) for one in (best.mean, *_whole(best), *best.baseline_lines) if one]
    belief = f"{_belief(best)} {plain(best.meaning[:1].upper() + best.meaning[1:])}."
    told = [f"{'; '.join(about)}."] if about else []
    return "\n\n".join([head, *told, belief])


def _whole(best: BestFound) -> list[str]:
    return [] if best.whole is None else [whole_text(best.whole)]


def _belief(best: BestFound) -> str:
    """Whether to, in one sentence."""
    if not best.shown_faster:
        return "**Don't believe it yet**: the interval holds 1, the naive seed's own speed."
    if best.busy:
        return f"**Measure it again**: {plain(best.busy)}."
    if best.sittings == 0:
        return "**Wait with believing it**: one race of the search is all there is."
    return "**Believe it**: it was measured again in new processes, on new inputs."


def _of_best(summary: Summary, replay: Replay) -> Iterator[str]:
    best = summary.best
    if best is None:
        return
    if best.times_us:
        yield "\n".join(_shapes(best, summary))
    steps = lineage(replay, best.id)
    lines = [f"- {one.speedup} `{one.drafted.kernel_id[:12]}` {plain(one.line)}" for one in steps]
    left_out = len(lines) - STEPS_SHOWN
    first = [f"- {left_out} earlier steps are in `lineage.txt`"] if left_out > 0 else []
    yield "\n".join(["**How it came about**", "", *first, *lines[-STEPS_SHOWN:]])


def _shapes(best: BestFound, summary: Summary) -> Iterator[str]:
    yield "| shape | naive seed, µs | best, µs | speedup | of the speed of light |"
    yield "| :-- | --: | --: | --: | --: |"
    for label, time_us in best.times_us.items():
        seed_us = summary.baseline["times_us"].get(label)
        light = best.speed_of_light.get(label)
        cells = (
            plain(label),
            f"{seed_us:.1f}" if seed_us else "",
            f"{time_us:.1f}",
            f"{seed_us / time_us:.2f}x" if seed_us else "",
            f"{100 * light:.0f}%" if light is not None else "",
        )
        yield f"| {' | '.join(cells)} |"


def _commands(summary: Summary, run_dir: Path, experiment: str) -> Iterator[str]:
    # Relative to where campaigns are started from, so that it is no path of one machine.
    run = f"{run_dir.parent.name}/{run_dir.name}"
    yield f"[All campaigns on this task]({table_of(experiment)[1:]})"
    yield ""
    yield "```"
    yield f"kernel-scientist resume {run}"
    if summary.best is not None:
        yield (
            f"kernel-scientist evaluate {run}/best.hip --task {summary.task} "
            f"--backend {summary.backend}"
        )
    yield "```"
