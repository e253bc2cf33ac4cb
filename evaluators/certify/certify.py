"""certify(): checks in several rounds, a final measurement, and who measured with what."""

import platform
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from evaluators.acceptance.versions import found_versions
from evaluators.certify.certificate import (
    Certificate,
    CertificateError,
    Check,
    Comparison,
    Fingerprint,
)
from evaluators.device import backend, times
from evaluators.evaluate import compile_kernel, evaluate_file, opened
from evaluators.evaluation import Evaluation, Rejected
from evaluators.kernel.source import kernel_id
from evaluators.measuring.policy import policy_of
from evaluators.tasks.arguments import SUITES
from evaluators.tasks.task import Task

ROUNDS = 3
"""Of checks over all shapes, each in a new process with a new secret, so on new inputs."""

SECONDS = 60.0
"""For the sittings of the comparison."""


class Refused(CertificateError):
    """The kernel failed: there is nothing to certify."""


def certify(path: Path, task: Task, backend_name: str, *, seconds: float = SECONDS) -> Certificate:
    """Check and measure a kernel file as its certificate will say.

    Raises Refused, and what evaluate_file raises.
    """
    if not times(backend_name):
        raise Refused("nothing is timed on an emulated device: certify it on a real one")
    evaluation = evaluate_file(path, task, backend_name, seconds=seconds)
    if not evaluation.passed:
        raise Refused(f"{path}: {evaluation.status}: {evaluation.reason}")
    source = path.read_text(encoding="utf-8")
    return Certificate(
        kernel_id=evaluation.kernel_id,
        source=source,
        task=task.name,
        task_hash=task.hash,
        backend=backend_name,
        made_at=datetime.now(UTC).isoformat(timespec="seconds"),
        seconds=seconds,
        checks=tuple(checked(source, task, backend_name)),
        comparison=_comparison(evaluation, task),
        resources=evaluation.resources,
        fingerprint=_fingerprint(evaluation),
    )


def checked(source: str, task: Task, backend_name: str) -> Iterator[Check]:
    """Every suite in every round. Raises Refused, BackendMissing, DeviceFault."""
    for number in range(1, ROUNDS + 1):
        policy = replace(policy_of(backend_name), thorough=True)
        with opened(task, backend_name, policy=policy) as evaluator:
            compiler = backend(backend_name).compiler(arch=evaluator.device.info.arch)
            try:
                kernel, compiled = compile_kernel(source, task, compiler, backend_name)
            except Rejected as rejected:
                raise Refused(f"the kernel is {rejected}") from None
            for suite in SUITES:
                verdict = evaluator.verify(kernel, compiled, suite)
                if not verdict.passed:
                    raise Refused(
                        f"round {number}, {suite}: the kernel is {verdict.status}: {verdict.reason}"
                    )
                yield Check(
                    round=number,
                    suite=suite,
                    shapes=len({key.rpartition("/")[0] for key in verdict.errors}),
                    worst=max(verdict.errors.values(), default=0.0),
                )


def _comparison(evaluation: Evaluation, task: Task) -> Comparison:
    assert evaluation.speedup is not None and evaluation.ci95 is not None  # it passed
    return Comparison(
        seed_id=evaluation.anchor_id or kernel_id(task.naive),
        speedup=evaluation.speedup,
        ci95=evaluation.ci95,
        sittings=evaluation.sittings,
        times_us=dict(evaluation.times_us),
        speed_of_light=dict(evaluation.speed_of_light),
        busy=evaluation.busy,
        weights=dict(evaluation.weights),
        whole=evaluation.whole,
        baselines=dict(evaluation.baselines),
        launching_us=dict(evaluation.launching_us),
    )


def _fingerprint(evaluation: Evaluation) -> Fingerprint:
    return Fingerprint(
        device=evaluation.device,
        device_class=evaluation.device_class,
        engine=evaluation.engine,
        compiler=evaluation.compiler,
        harness=evaluation.harness,
        system=f"{platform.system()} {platform.release()} {platform.machine()}",
        python=platform.python_version(),
        versions=found_versions().shown(),
    )
