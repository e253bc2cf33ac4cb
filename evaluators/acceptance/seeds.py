"""Shipped seeds, checked and timed as `kernel-scientist evaluate` does it, but quicker."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from evaluators.acceptance.noise import TASKS
from evaluators.acceptance.trial import Broken, Setup, Trial
from evaluators.evaluate import compile_kernel, evaluate_file, opened
from evaluators.measuring.policy import policy_of
from evaluators.tasks.task_file import SHIPPED, load_task

FURTHER = ("linear", "top_k")
"""Beside those whose noise is measured: halves of both kinds, and a task with a check of its own.
All seeds take half an hour (scripts/evaluate_all.py)."""


def evaluated(setup: Setup, file: Path) -> str:
    """Its times by shape; where nothing is timed, on how much it was checked.

    Raises Broken with the verdict when it did not pass.
    """
    policy = replace(policy_of(setup.backend_name), min_blocks=3, max_blocks=5, budget_s=1.0)
    found = evaluate_file(
        file, load_task(file.parents[1]), setup.backend_name, policy=policy, seconds=0
    )
    if not found.passed:
        raise Broken(f"{found.status}: {found.reason}")
    if not found.timed:
        return f"right on the {len(found.errors)} outputs of small shapes; nothing is timed"
    light = found.speed_of_light
    return "; ".join(
        f"{label}: {time_us:,.4g} us"
        + (f" ({light[label]:.1%} of the speed of light)" if label in light else "")
        for label, time_us in found.times_us.items()
    )


def held_out(setup: Setup, file: Path) -> str:
    """Shapes that no search sees. Raises Broken."""
    task = load_task(file.parents[1])
    kernel, compiled = compile_kernel(
        file.read_text(encoding="utf-8"), task, setup.compiler, setup.backend_name
    )
    with opened(task, setup.backend_name) as evaluator:
        verdict = evaluator.verify(kernel, compiled, "held_out")
    if not verdict.passed:
        raise Broken(f"{verdict.status}: {verdict.reason}")
    shapes = len({key.rpartition("/")[0] for key in verdict.errors})
    return f"right on {shapes} held-out shapes"


def trials() -> Sequence[Trial]:
    todo = "compilers or drivers miscompute here: try the pinned versions, then send this report"
    found: list[Trial] = []
    for file in [SHIPPED / task / "seeds" / "naive.hip" for task in (*TASKS, *FURTHER)]:
        name = f"{file.parents[1].name}/{file.stem}"
        found += [
            Trial(name=name, run=lambda setup, file=file: evaluated(setup, file), todo=todo),  # type: ignore[misc]
            Trial(
                name=f"{name}, held out",
                run=lambda setup, file=file: held_out(setup, file),  # type: ignore[misc]
                todo=todo,
            ),
        ]
    return found
