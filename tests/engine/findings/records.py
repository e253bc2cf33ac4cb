"""Records made by hand: kernels of sgemm that differ in name and number, on a quiet GPU."""

from collections.abc import Sequence
from dataclasses import replace

from engine.findings.record import Record
from evaluators.evaluation import Evaluation, Status
from evaluators.measuring.sittings import GPU_SPREAD
from operators.catalog.families import families
from operators.finding import Condition
from operators.individual import Individual
from scripts.scripted_model.individuals import DEVICE, EXPERIMENT, SEED, SGEMM, individual

HERE = Condition(
    task=SGEMM.name, task_hash=SGEMM.hash, backend="cpu", device_class=DEVICE.device_class
)


def made(
    technique: str,
    number: int,
    gain: float,
    base: Individual = SEED,
    description: str = "It helps.",
) -> Individual:
    """A kernel of a technique, so many times as fast as its Base."""
    return individual(
        f"{SGEMM.naive}// {technique} {number}\n",
        speedup=(base.evaluation.speedup or 1.0) * gain,
        parents=(base.id,),
        origin="experiment",
        experiment=replace(EXPERIMENT, technique=technique, description=description),
    )


def failed(technique: str, number: int, status: Status, reason: str) -> Individual:
    one = made(technique, number, 1.0)
    evaluation = Evaluation(
        kernel_id=one.id,
        task_hash=SGEMM.hash,
        device_class=DEVICE.device_class,
        status=status,
        reason=reason,
    )
    return replace(one, evaluation=evaluation)


def record(*kernels: Individual, evaluations: int = 0) -> Record:
    drafts: Sequence[Individual] = [SEED, *kernels]
    return Record(
        condition=HERE,
        drafts=drafts,
        known={one.id: one for one in drafts},
        families=families(SGEMM),
        spread=GPU_SPREAD,
        seed_id=SEED.id,
        evaluations=evaluations or len(drafts),
    )
