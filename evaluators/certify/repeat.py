"""repeat(): a certificate's checks and measurement made again, and whether each claim holds."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluators.certify.certificate import Certificate
from evaluators.certify.certify import Refused, certify
from evaluators.evaluation import Beside
from evaluators.measuring.headline import interval_text, times
from evaluators.tasks.task import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One of a certificate's. holds: None where it can't be told here."""

    what: str
    then: str
    now: str
    holds: bool | None


def repeat(certificate: Certificate, task: Task) -> tuple[Claim, ...]:
    """On this machine. Raises what certify() raises, but Refused."""
    return tuple(_claims(certificate, task))


def holds(claims: tuple[Claim, ...]) -> bool:
    """Whether none of them fails, and one was tried."""
    told = [claim.holds for claim in claims if claim.holds is not None]
    return bool(told) and all(told)


def _claims(old: Certificate, task: Task) -> Iterator[Claim]:
    same_task = task.hash == old.task_hash
    yield Claim(what="the task", then=old.task_hash, now=task.hash, holds=same_task)
    if not same_task:
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.hip"
        file.write_text(old.source, encoding="utf-8")
        try:
            new = certify(file, task, old.backend, seconds=old.seconds)
        except Refused as refused:
            now = str(refused).removeprefix(f"{file}: ")
            yield Claim(what="right on every shape", then=_checks(old), now=now, holds=False)
            return
    yield Claim(
        what="the kernel",
        then=old.kernel_id,
        now=new.kernel_id,
        holds=new.kernel_id == old.kernel_id,
    )
    yield Claim(what="right on every shape", then=_checks(old), now=_checks(new), holds=True)
    yield _speed(old, new)
    yield from _over_baselines(old, new)
    yield from _changed(old, new)


def _speed(old: Certificate, new: Certificate) -> Claim:
    """The interval is to hold a later measurement, on such a device."""
    low, high = old.comparison.ci95
    alike = old.fingerprint.device_class == new.fingerprint.device_class
    now = f"{new.comparison.speedup:.3g}x"
    return Claim(
        what="speedup over the naive seed",
        then=f"{old.comparison.speedup:.3g}x, 95% interval {low:.3g} to {high:.3g}",
        now=now if alike else f"{now} on another device, so not compared",
        holds=low <= new.comparison.speedup <= high if alike else None,
    )


def _over_baselines(old: Certificate, new: Certificate) -> Iterator[Claim]:
    """Each that was measured then; where it can't be measured now, nothing can be told."""
    alike = old.fingerprint.device_class == new.fingerprint.device_class
    for name, then in old.comparison.baselines.items():
        if then.ratio is None:
            continue
        again = new.comparison.baselines.get(name, Beside(refused="is no baseline of the task now"))
        now = again.refused if again.ratio is None else times(again.ratio[0])
        holds = None
        if alike and again.ratio is not None:
            holds = then.ratio[1] <= again.ratio[0] <= then.ratio[2]
        yield Claim(
            what=f"speedup over {name}",
            then=f"{times(then.ratio[0])}, {interval_text(then.ratio)}",
            now=now if alike or again.ratio is None else f"{now} on another device",
            holds=holds,
        )


def _changed(old: Certificate, new: Certificate) -> Iterator[Claim]:
    """What differs between the two machines is told, and fails nothing."""
    then, now = old.fingerprint, new.fingerprint
    for what in ("device", "compiler", "harness", "system", "python"):
        before, after = getattr(then, what), getattr(now, what)
        if before != after:
            yield Claim(what=what, then=before, now=after, holds=None)
    for name in sorted({*then.versions, *now.versions}):
        before, after = then.versions.get(name, "missing"), now.versions.get(name, "missing")
        if before != after:
            yield Claim(what=name, then=before, now=after, holds=None)


def _checks(certificate: Certificate) -> str:
    rounds = {check.round for check in certificate.checks}
    shapes = sum(check.shapes for check in certificate.checks if check.round == min(rounds))
    worst = max(check.worst for check in certificate.checks)
    return (
        f"{shapes} shapes in {len(rounds)} rounds of new inputs, errors up to {worst:.2f} of the "
        "limit"
    )
