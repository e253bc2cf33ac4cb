"""Prompts outside of a campaign: what a role is sent, with the naive seed shown."""

from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task import Task
from operators.individual import Candidate, Experiment, Individual
from operators.llm.designer import AVENUES, EXPERIMENTS
from operators.llm.prompts.distilling import distiller_prompt
from operators.llm.prompts.render import (
    Scene,
    crossover_prompt,
    designer_prompt,
    probe_prompt,
    repair_prompt,
    selector_prompt,
    writer_prompt,
)
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Part, Prompt
from operators.operator import AskedProbe

EXPERIMENT = Experiment(
    technique="example",
    description="(Here stands what the Designer wants to try, and why.)",
    rubric="(Here stand the steps.)",
    performance=(0.0, 0.0),
    innovation=0,
)

PROBE = AskedProbe(
    question="(Here stands what the Designer wants to know.)",
    rubric="(Here stand the steps.)",
)


def preview(role: Part, task: Task, device: DeviceInfo) -> Prompt:
    """What role is sent of the naive seed, which is not measured; for repair it says it failed."""
    scene = Scene(
        task=task, device=device, tokens=PROMPT_TOKENS["writer" if role == "prober" else role]
    )
    seed = _seed(task, device, Status.STOPPED_EARLY, "not measured yet")
    known = {seed.id: seed}
    match role:
        case "selector":
            return selector_prompt(scene, [seed], known)
        case "designer":
            return designer_prompt(
                scene, seed, seed, known, avenues=AVENUES, experiments=EXPERIMENTS
            )
        case "writer":
            return writer_prompt(scene, seed, seed, EXPERIMENT, known)
        case "prober":
            return probe_prompt(scene, PROBE, seed, known)
        case "crossover":
            return crossover_prompt(scene, seed, seed, known)
        case "distiller":
            return distiller_prompt(scene, known, ())
        case "repair":
            failed = _seed(task, device, Status.COMPILE_ERROR, "(here stands what went wrong)")
            return repair_prompt(scene, failed, {})


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
