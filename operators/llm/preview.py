"""Prompts outside of a campaign: what a role is sent, with the seed or given kernels shown."""

from collections.abc import Mapping, Sequence

from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task import Task
from operators.individual import Candidate, Experiment, Individual
from operators.llm.designer import AVENUES, EXPERIMENTS
from operators.llm.prompts.render import (
    Scene,
    crossover_prompt,
    designer_prompt,
    repair_prompt,
    selector_prompt,
    writer_prompt,
)
from operators.llm.question import Prompt, Role

EXPERIMENT = Experiment(
    technique="example",
    description="(Here stands what the Designer wants to try, and why.)",
    rubric="(Here stand the steps.)",
    performance=(0.0, 0.0),
    innovation=0,
)


def preview(
    role: Role,
    task: Task,
    device: DeviceInfo,
    individuals: Sequence[Individual] = (),
    *,
    knowledge: str = "",
    profiles: Mapping[str, tuple[str, ...]] | None = None,
) -> Prompt:
    """What role is sent. individuals: of a campaign, best first; none: the naive seed, unmeasured.

    The first is the Base, the second, if there is one, the Reference; for repair the first
    that failed is shown, else a stand-in that says so.
    """
    scene = Scene(task=task, device=device, knowledge=knowledge, profiles=profiles or {})
    shown = list(individuals) or [_seed(task, device, Status.STOPPED_EARLY, "not measured yet")]
    known = {one.id: one for one in shown}
    passed = [one for one in shown if one.evaluation.passed] or shown
    base, reference = passed[0], passed[min(1, len(passed) - 1)]
    if role == "selector":
        return selector_prompt(scene, passed, known)
    if role == "designer":
        return designer_prompt(
            scene, base, reference, known, avenues=AVENUES, experiments=EXPERIMENTS
        )
    if role == "writer":
        return writer_prompt(scene, base, reference, base.experiment or EXPERIMENT, known)
    if role == "crossover":
        return crossover_prompt(scene, base, reference, known)
    broken = (Status.PASSED, Status.STOPPED_EARLY)
    failed = [one for one in shown if one.evaluation.status not in broken]
    stand_in = _seed(task, device, Status.COMPILE_ERROR, "(here stands what went wrong)")
    return repair_prompt(scene, failed[0] if failed else stand_in, known)


def _seed(task: Task, device: DeviceInfo, status: Status, reason: str) -> Individual:
    identity = kernel_id(task.naive)
    return Individual(
        id=identity,
        candidate=Candidate.from_source(task.naive),
        origin="seed",
        evaluation=Evaluation(
            kernel_id=identity,
            task_hash=task.hash,
            device_class=device.device_class,
            status=status,
            reason=reason,
        ),
    )
