"""The page: every section's data gathered, and put into the templates."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from engine.history.brought import brought_into, counted
from engine.history.campaigns import State
from engine.history.history import History
from engine.history.revisions_told import demoted_text, withdrawn_text, wrong_text
from engine.report import texts
from engine.report.ancestry import rungs
from engine.report.belief import belief, won_contest
from engine.report.best_plot import ancestry_plot, best_plot
from engine.report.credit import credit_of, credit_plot
from engine.report.devices import device_use
from engine.report.findings import findings_told
from engine.report.islands import islands_of, islands_plot, migrations_of
from engine.report.machine import machine_facts, node_rows, session_rows
from engine.report.models import costs_of
from engine.report.next_steps import go_on, take_home
from engine.report.plots import Plot
from engine.report.predictions import designers_of, predictions, predictions_plot
from engine.report.probes import probes_of
from engine.report.settings import settings_of
from engine.report.shapes import shapes_of, shapes_plot
from engine.report.sources import kernel_listing
from engine.report.verdicts import verdicts_of
from engine.store.lineage import Step, lineage, technique
from engine.store.ratios import ratio_text, standing
from engine.store.summary import TO_MEASURE, Summary, summarise
from evaluators.measuring.arithmetic import whose_light
from evaluators.measuring.launch_cost import launching_lines

MOST_ROWS = 30
"""Of a table that grows with the campaign."""

_FILTERS = {
    "short": texts.short,
    "times": texts.times,
    "between": texts.between,
    "percent": texts.percent,
    "microseconds": texts.microseconds,
    "duration": texts.duration,
    "moment": texts.moment,
    "count": texts.count,
    "line": texts.first_line,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """html: the whole of it; plots: the same plots as files."""

    html: str
    plots: tuple[Plot, ...]


def make_page(history: History, run_dir: Path, *, state: State, made_at: float) -> Page:
    """made_at: seconds since 1970."""
    summary = summarise(history.replay, run_dir)
    found = {
        **_first_screen(history, summary, run_dir, state),
        **_best(history, summary),
        **_search(history),
        "findings": findings_told(history.replay, run_dir),
        **_circumstances(history, run_dir, state),
        "made_at": made_at,
    }
    template = _environment(timed=summary.timed).get_template("report.html.j2")
    drawn = (*found["plots"].values(), found["islands_plot"], found["credit_plot"])
    plots = [one for one in drawn if one is not None]
    return Page(html=template.render(found), plots=tuple(plots))


def _environment(*, timed: bool) -> Environment:
    """timed: whether ratios to the naive seed are of times."""
    environment = Environment(
        loader=PackageLoader("engine.report"),
        autoescape=True,  # names, reasons and sources are written by models
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(_FILTERS)
    if not timed:
        environment.filters["times"] = partial(ratio_text, timed=False)
    return environment


def _first_screen(
    history: History, summary: Summary, run_dir: Path, state: State
) -> Mapping[str, Any]:
    run = texts.run_name(run_dir)
    best = summary.best
    if best is not None and best.id == summary.baseline["id"]:
        best = None
    return {
        "summary": summary,
        "run": run,
        "name": run_dir.name,
        "task": texts.task_name(summary.task),
        "state": state,
        "best": best,
        "final": history.replay.scores.best is not None and history.replay.scores.best.final,
        "has_file": (run_dir / "best.hip").is_file(),
        "belief": belief(history, summary, state, run),
        "take_home": take_home(history.replay, run_dir),
        "to_measure": list(_to_measure(history, summary)),
        "shape_costs": _costs(history, summary),
        "sessions": session_rows(history.replay, running=state == "running"),
    }


def _to_measure(history: History, summary: Summary) -> Iterator[tuple[str, str, str]]:
    """File, kernel id and cost of each kernel to take to a real device, where nothing was timed."""
    for place, kernel_id in enumerate(summary.to_measure):
        cost = standing(history.replay.scores.evaluations[kernel_id])
        yield f"{TO_MEASURE}/{place + 1}.hip", kernel_id, cost


def _costs(history: History, summary: Summary) -> list[tuple[str, float, float | None]]:
    """By label: the best's, and the naive seed's, where nothing was timed."""
    seed = history.replay.scores.evaluations.get(summary.baseline["id"])
    known = seed.costs if seed else {}
    costs = summary.best.costs if summary.best else {}
    return [(label, cost, known.get(label)) for label, cost in costs.items()]


def _best(history: History, summary: Summary) -> Mapping[str, Any]:
    """Everything about the one kernel, and how it came about."""
    whole, best = history.replay, summary.best
    evaluation = whole.scores.evaluations.get(best.id) if best else None
    steps: list[Step] = lineage(whole, best.id) if best else []
    shapes = shapes_of(summary, evaluation)
    made = predictions(whole)
    plots = {
        "best": best_plot(history),
        "shapes": shapes_plot(shapes),
        "ancestry": ancestry_plot(whole, steps),
        "predictions": predictions_plot(made),
    }
    drafted = steps[-1].drafted if steps else None
    return {
        "evaluation": evaluation,
        "steps": len(steps),
        "rungs": rungs(whole, steps),
        "made_by": technique(drafted) if drafted else "",
        "listing": kernel_listing(drafted.candidate.source) if drafted else None,
        "shapes": shapes,
        "launching": list(_launching(summary)),
        "longest": max(shapes, key=lambda one: one.best_us, default=None) if best else None,
        "light": whose_light(best.arithmetic) if best and best.arithmetic else "",
        "contest": won_contest(history, best.id) if best else None,
        "final_measurement": whole.scores.titles.final,
        "predictions": made,
        "plots": plots,
        "end": history.trajectory.end,
    }


def _launching(summary: Summary) -> Iterator[str]:
    """Of the best, the shapes that are too small."""
    if summary.best is not None:
        yield from launching_lines(summary.best.launching_us, summary.best.times_us)


def _search(history: History) -> Mapping[str, Any]:
    whole = history.replay
    islands = islands_of(whole)
    return {
        "islands": islands[:MOST_ROWS],
        "all_islands": len(islands),
        "migrations": migrations_of(history),
        "islands_plot": islands_plot(islands),
        "verdicts": verdicts_of(whole.scores),
        "contests": history.contests[-MOST_ROWS:],
        "contests_won": sum(one.outcome == "won" for one in history.contests),
        "all_contests": len(history.contests),
        "brought": list(brought_into(whole))[-MOST_ROWS:],
        "all_brought": counted(whole),
        "costs": costs_of(history.calls),
        "forecasts": whole.forecasts,
        "credit": credit_of(whole),
        "designers": designers_of(whole),
        "credit_plot": credit_plot(whole),
        "spending": whole.calls.totals.spending(),
        "revisions": list(_revisions(history)),
        "faults": history.faults[-MOST_ROWS:],
        "all_faults": len(history.faults),
        "profiles": history.profiles[-MOST_ROWS:],
        "all_profiles": len(history.profiles),
        "probes": probes_of(whole),
    }


def _revisions(history: History) -> Iterator[str]:
    scores = history.replay.scores
    yield from map(withdrawn_text, scores.withdrawn[-MOST_ROWS:])
    yield from map(demoted_text, scores.titles.demotions[-MOST_ROWS:])
    yield from map(wrong_text, scores.titles.wrong[-MOST_ROWS:])


def _circumstances(history: History, run_dir: Path, state: State) -> Mapping[str, Any]:
    whole = history.replay
    return {
        "devices": device_use(history),
        "nodes": node_rows(history)[-MOST_ROWS:],
        "machine": machine_facts(whole),
        "settings": settings_of(whole),
        "go_on": tuple(go_on(whole, run_dir, state)),
        "versions": whole.campaign.versions,
    }
