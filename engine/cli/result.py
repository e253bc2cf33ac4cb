"""What a campaign says when it ends: what was found, where it is, how to look at it."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from engine.cli.figures import calls_text, verdicts
from engine.commands import command, resume_command, shown
from engine.history.revisions_told import demoted_text, withdrawn_text, wrong_text
from engine.inbox import waiting
from engine.searching import EXHAUSTED_SPACE
from engine.stopping.targets import reached_by
from engine.store.budget import figure, spent
from engine.store.kept_task import find_task
from engine.store.lineage import lineage
from engine.store.ratios import COSTS, NOTHING_TIMED, standing
from engine.store.replay import Replay
from engine.store.run_folder import RAY_LOG, REPORT
from engine.store.summary import TO_MEASURE, BestFound, Summary
from engine.store.toolchain import toolchain_of
from evaluators.measuring.arithmetic import whose_light
from evaluators.measuring.launch_cost import launching_lines
from evaluators.weights import whole_text

STEPS_SHOWN = 12

OWN_SERVER = "http://127.0.0.1:5000"
"""Where `mlflow ui` listens, unless told otherwise."""


def result_lines(
    summary: Summary,
    replay: Replay,
    tracking_uri: str | None,
    trouble: str = "",
    tracking_page: str = "",
    copy_trouble: str = "",
) -> Iterator[str]:
    """tracking_uri: None when nothing was tracked; trouble: what kept MLflow from being told;
    tracking_page: the campaign's, after the server's address; copy_trouble: why the last copy in
    snapshots.folder lacks something."""
    evaluations = summary.evaluations
    idle = evaluations["in_idle_time"]
    tuned = f", {idle} of them mutations in idle device time" if idle else ""
    yield (
        f"{summary.campaign}: {summary.ended}; {evaluations['total']} evaluations "
        f"({verdicts(evaluations['by_status'])}){tuned} in {summary.elapsed_s:.0f} s "
        f"({summary.searched_s:.0f} s of them search) on {summary.device}, busy for "
        f"{100 * summary.device_busy_fraction:.0f}% of the time"
    )
    if summary.calls:
        yield f"models: {calls_text(summary.calls)}"
    if summary.faults:
        yield f"{summary.faults} faults of infrastructure; they are in the store's table faults"
    run_dir = Path(summary.run_dir)
    if (run_dir / RAY_LOG).is_file():
        yield f"what Ray said of lost processes is in {shown(run_dir / RAY_LOG)}"
    yield from _outcome(summary, replay)
    yield from _revisions(replay)
    yield ""
    if (run_dir / REPORT).is_file():
        yield f"report     {shown(run_dir / REPORT)} (open it in a browser)"
    yield f"results    {shown(run_dir)}/ (best.hip, summary.json, store.sqlite)"
    over = spent(replay, replay.budgets)
    resume = resume_command(run_dir, over or reached_by(replay))
    # A campaign that tried every kernel there is has nothing to go on with.
    if not summary.ended.startswith(EXHAUSTED_SPACE) and (over is None or not over.of_calls):
        yield f"go on      {resume}"
        if wait := sum(1 for _ in waiting(run_dir)):
            yield f"inbox      holds {wait} file{'s' * (wait > 1)}, for when it goes on"
    if trouble:
        yield f"MLflow     was not told everything: {trouble}; later, tell it with"
        yield f"           {command('kernel-scientist', 'track', shown(run_dir))}"
    elif tracking_uri is not None:
        first, *others = tracking_lines(tracking_uri, tracking_page)
        yield f"MLflow     {first}"
        yield from (f"           {line}" for line in others)
    if copy_trouble:
        yield f"copy       lacks what came last: {copy_trouble}"
    if (run_dir / "best.hip").is_file():
        yield (
            "look at the best kernel, measured afresh:"
            if summary.timed
            else "time the best kernel, on a machine with a real MI300:"
        )
        best = shown(run_dir / "best.hip")
        task = find_task(replay, run_dir)
        task = shown(Path(task)) if Path(task).is_dir() else task
        backend = summary.backend
        yield (
            "           "
            + command("kernel-scientist", "evaluate", best, "--task", task, "--backend", backend)
        )
    if over is not None and over.of_calls:
        yield (
            f"the budget of {figure(over.limit)} {over.name} is spent; go on with twice that by "
            f"{resume}"
        )


def _outcome(summary: Summary, replay: Replay) -> Iterator[str]:
    best = summary.best
    if not summary.timed:
        yield from _untimed(summary, replay)
    elif best is None or best.id == summary.baseline["id"]:
        yield "nothing faster than the naive seed was found"
    elif not best.shown_faster:
        low, high = best.ci99 or best.ci95 or (0.0, 0.0)
        yield (
            f"nothing was shown to be faster than the naive seed: the best, {best.id[:12]}, is "
            f"{best.speedup:.2f}x as fast, and the interval, {low:.2f} to {high:.2f}, holds 1"
        )
    else:
        yield from _found(summary, best, replay)


def _revisions(replay: Replay) -> Iterator[str]:
    """What does not count any more, or was made with another toolchain than the best."""
    yield from map(withdrawn_text, replay.scores.withdrawn)
    yield from map(demoted_text, replay.scores.titles.demotions)
    yield from map(wrong_text, replay.scores.titles.wrong)
    toolchains = [toolchain_of(session.started) for session in replay.sessions]
    for before, now in pairwise(toolchains):
        if before != now:
            yield (
                f"the toolchain changed from {before} to {now}: seed and best were measured "
                "again, and earlier times are not compared with later ones"
            )


def _found(summary: Summary, best: BestFound, replay: Replay) -> Iterator[str]:
    interval = f" (95% interval {best.ci95[0]:.2f} to {best.ci95[1]:.2f})" if best.ci95 else ""
    yield f"found {best.id[:12]}: {best.headline}{interval if best.fastest is None else ''}"
    if best.mean:
        yield f"  {best.mean}"
    if best.whole is not None:
        yield f"  {whole_text(best.whole)}"
    yield f"  {best.meaning}"
    yield from (f"  {line}" for line in (best.engines, best.busy) if line)
    yield from (f"  {line}" for line in best.baseline_lines)
    yield from _beside(best, replay)
    yield from (f"  {line}" for line in launching_lines(best.launching_us, best.times_us))
    width = max(len(label) for label in best.times_us)
    for label, time_us in best.times_us.items():
        seed_us = summary.baseline["times_us"].get(label)
        if seed_us is None:
            continue
        light = best.speed_of_light.get(label)
        of_light = f"  {100 * light:.0f}% of the speed of light" if light is not None else ""
        yield (f"  {label:{width}}  {seed_us:11.1f} µs -> {time_us:10.1f} µs{of_light}")
    for label, speedup in best.beyond.items():
        yield f"  {label}  {speedup:.2f}x the naive seed, not timed in the search"
    if best.arithmetic:
        yield f"  {whose_light(best.arithmetic)}"
    profiled = replay.scores.profiles.get(best.id)
    if profiled:
        yield "what a profiler says of it, on the largest shape:"
        yield from (f"  {sentence}" for sentence in profiled.advice)
    yield "how it came about:"
    steps = lineage(replay, best.id)
    if len(steps) > STEPS_SHOWN:
        yield f"  {len(steps) - STEPS_SHOWN} earlier steps are in the store's view lineage"
    for step in steps[-STEPS_SHOWN:]:
        yield f"  {step.speedup:>9}  {step.drafted.kernel_id[:12]}  {step.line}"


def _untimed(summary: Summary, replay: Replay) -> Iterator[str]:
    """What an emulated device tells: an order by costs, and kernels to take to a real one."""
    best = summary.best
    if best is None or not summary.to_measure:
        yield f"{NOTHING_TIMED}; no kernel that costs less than the naive seed was found"
        return
    yield f"{NOTHING_TIMED}; the best kernel by cost is {best.id[:12]}"
    yield f"  {COSTS}"
    yield "to take to a real MI300, which alone can say how fast they are:"
    for place, kernel_id in enumerate(summary.to_measure):
        cost = standing(replay.scores.evaluations[kernel_id])
        yield f"  {TO_MEASURE}/{place + 1}.hip  {kernel_id[:12]}  {cost}"
    yield "  the first is right on small held-out shapes too; of the others these were not tried"
    yield "how the first came about:"
    for step in lineage(replay, best.id)[-STEPS_SHOWN:]:
        yield f"  {step.speedup:>26}  {step.drafted.kernel_id[:12]}  {step.line}"


def _beside(best: BestFound, replay: Replay) -> Iterator[str]:
    """The search's own figure, and the runners-up."""
    low, high = best.search["ci95"] or (0.0, 0.0)
    if best.search["speedup"]:
        yield (
            f"  the search itself had found {best.search['speedup']:.2f}x "
            f"({low:.2f} to {high:.2f}), in one race"
        )
    final = replay.scores.titles.final
    if final is None or final.kernel_id != best.id:
        return
    for kernel_id, (estimate, low, high) in final.rivals.items():
        yield (
            f"  beside {kernel_id[:12]} it was {estimate:.2f}x as fast "
            f"(95% interval {low:.2f} to {high:.2f})"
        )


def tracking_lines(uri: str, page: str = "") -> Iterator[str]:
    """How to look at what was tracked. page: the campaign's, after the server's address."""
    if uri.startswith(("http://", "https://")):
        yield f"open {uri.rstrip('/')}{page}"
        return
    yield command("mlflow", "ui", "--backend-store-uri", uri)
    yield f"then open {OWN_SERVER}{page}"
