"""Campaigns read from MLflow: the best so far from the metrics over time."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from engine.compare.campaign import Campaign, CompareError
from engine.compare.folders import named_apart
from engine.compare.settings import search_settings
from engine.history.brought import INJECTED
from engine.history.campaigns import State
from engine.history.trajectory import Moment, Trajectory
from engine.store.scoreboard import Best
from engine.store.toolchain import Toolchain
from engine.tracking.reading import (
    Measured,
    TrackedCampaign,
    TrackingError,
    read_best,
    read_campaigns,
)
from engine.tracking.tags import BROUGHT_TAG

METRICS = (
    *("best_speedup", "best_speedup_low", "best_speedup_high"),
    *("best_found_at", "device_s", "dollars", "evaluations"),
)

STATES: Mapping[str, State] = {"FINISHED": "ended", "RUNNING": "running", "SCHEDULED": "starting"}

FINAL = "timed against the naive seed itself"
"""How the tag best_speedup_means begins where the best was measured at the end."""


def read_experiment(*, uri: str, experiment: str, wanted: str) -> list[Campaign]:
    """Raises CompareError."""
    try:
        found = read_campaigns(uri, experiment, wanted, METRICS)
    except TrackingError as error:
        raise CompareError(str(error)) from error
    if not found:
        searched = f" by {wanted}" if wanted else ""
        raise CompareError(
            f"MLflow at {uri}: no campaign was found{searched} in the experiment {experiment!r}"
        )
    return list(named_apart(_campaign(uri, one) for one in found))


def _campaign(uri: str, found: TrackedCampaign) -> Campaign:
    tags, params = found.tags, found.params
    device_class, toolchain = _device(tags)
    try:
        return Campaign(
            name=found.name,
            identity=found.identity,
            task=params["task"],
            task_hash=tags["kernel_scientist.task_hash"],
            backend=params["backend"],
            device=tags.get("device", ""),
            device_class=device_class,
            toolchain=str(toolchain),
            seed=int(params["seed"]),
            settings=search_settings({**params, **_budgets(tags)}),
            config_hash=tags.get("config_hash", ""),
            began_at=found.began_ms / 1000,
            state=STATES.get(found.status, "killed"),
            ended=tags.get("ended", ""),
            trajectory=_trajectory(found),
            source=lambda: _source(uri, found.run_id),
            steered=INJECTED in tags.get(BROUGHT_TAG, ""),
        )
    except KeyError as missing:
        raise CompareError(
            f"MLflow at {uri}: the run {found.name} has no {missing}; bring it up to date with "
            "kernel-scientist track"
        ) from None


def _budgets(tags: Mapping[str, str]) -> dict[str, str]:
    """As the campaign ended, which parameters can't tell."""
    return {key: value for key, value in tags.items() if key.startswith("budgets.")}


def _device(tags: Mapping[str, str]) -> tuple[str, Toolchain]:
    """Class and toolchain; early campaigns had the compiler as the end of the class."""
    device_class, compiler = tags.get("device_class", "not known"), tags.get("compiler", "")
    if not compiler:
        device_class, _, compiler = device_class.rpartition("/")
    return device_class, Toolchain(harness=tags.get("harness", "1"), compiler=compiler)


def _source(uri: str, run_id: str) -> str:
    try:
        return read_best(uri, run_id)
    except TrackingError as error:
        raise CompareError(str(error)) from error


def _trajectory(found: TrackedCampaign) -> Trajectory:
    """A kernel is known by the number of evaluations with which it was found. The last measurement
    changes what is known of the best, and nothing comes after it."""
    samples = list(_samples(found.metrics))
    if not samples:
        nothing = _sample(Measured(step=0, at_ms=found.began_ms, value=1.0), {}, best=None)
        return Trajectory(moments=(), searched=nothing, end=nothing)
    last = samples[-1]
    final = found.tags.get("best_speedup_means", "").startswith(FINAL)
    if not final or last.best is None:
        return Trajectory(moments=tuple(_changes(samples)), searched=last, end=last)
    before = [one for one in samples if one.best != last.best]
    return Trajectory(
        moments=tuple(_changes(samples)),
        searched=before[-1] if before else last,
        end=replace(last, best=replace(last.best, final=True)),
    )


def _samples(metrics: Mapping[str, Sequence[Measured]]) -> Iterator[Moment]:
    """All metrics are logged together."""
    at = {
        name: {(one.at_ms, one.step): one.value for one in measured}
        for name, measured in metrics.items()
    }
    for one in metrics.get("best_speedup", ()):
        beside = {name: values.get((one.at_ms, one.step), 0.0) for name, values in at.items()}
        low, high = beside.get("best_speedup_low"), beside.get("best_speedup_high")
        best = Best(
            kernel_id=f"#{beside.get('best_found_at', one.value):g}",
            speedup=one.value,
            ci95=(low, high) if low and high else None,
        )
        yield _sample(one, beside, best=best)


def _sample(one: Measured, beside: Mapping[str, float], *, best: Best | None) -> Moment:
    return Moment(
        seq=0,
        at=one.at_ms / 1000,
        best=best,
        evaluations=one.step,
        device_s=beside.get("device_s", 0.0),
        searched_s=0.0,
        dollars=beside.get("dollars", 0.0),
        tokens=0,
    )


def _changes(samples: Sequence[Moment]) -> Iterator[Moment]:
    best: Best | None = None
    for one in samples:
        if one.best != best:
            yield one
        best = one.best
