"""How a kernel came about: the steps from a seed to it, as text and as JSON."""

from typing import Any

from engine.store.events import Drafted
from engine.store.replay import Replay
from evaluators.evaluation import Evaluation


def lineage(replay: Replay, kernel_id: str) -> list[tuple[Drafted, Evaluation]]:
    """From the seed to the kernel, along the Base of each step."""
    known = replay.scores.evaluations
    steps = reversed(replay.lineage(kernel_id))
    return [(step, known[step.kernel_id]) for step in steps if step.kernel_id in known]


def technique(step: Drafted) -> str:
    """What made the step, in a word."""
    return step.experiment.technique if step.experiment else step.origin


def lineage_json(replay: Replay, kernel_id: str) -> list[dict[str, Any]]:
    """One mapping a step, with the kernel's source; the seed first."""
    return [
        {
            "id": step.kernel_id,
            "parents": list(step.parents),
            "origin": step.origin,
            "technique": technique(step),
            "report": step.report,
            "island": step.island,
            "cycle": step.cycle,
            "speedup": evaluation.speedup,
            "ci95": evaluation.ci95,
            "times_us": dict(evaluation.times_us),
            "source": step.candidate.source,
        }
        for step, evaluation in lineage(replay, kernel_id)
    ]


def lineage_text(replay: Replay, kernel_id: str) -> str:
    """One line a step; the seed first."""
    lines = []
    for step, evaluation in lineage(replay, kernel_id):
        speedup = f"{evaluation.speedup:8.2f}x" if evaluation.speedup else evaluation.status
        lines.append(f"{speedup}  {step.kernel_id}  {technique(step)}: {step.report or 'the seed'}")
    return "\n".join(lines) + "\n"
