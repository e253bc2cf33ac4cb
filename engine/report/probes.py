"""What probes measured, and what became of those that have no answer."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.store.kinds.probes import ProbeClaimed, Probed, ProbeLog
from engine.store.replay import Replay


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRow:
    """asked_by: in words; told: what came of it, in sentences; sure: it is an answer."""

    question: str
    asked_by: str
    told: tuple[str, ...]
    sure: bool
    device_s: float = 0.0
    source: str = ""


def probes_of(whole: Replay) -> list[ProbeRow]:
    """Those that designers asked for first, then the shipped ones."""
    log = whole.probes
    answers = sorted(log.answers.values(), key=lambda one: one.shipped)
    return [*(_answered(one, log) for one in answers), *_open(log)]


def _answered(one: Probed, log: ProbeLog) -> ProbeRow:
    answer = one.answer
    claim = log.claims.get(one.asked_by)
    asked_by = _asker(claim) if claim is not None else "every campaign with models"
    if one.shipped and not one.where:
        asked_by += "; kept from an earlier one"
    return ProbeRow(
        question=answer.question or (claim.question if claim else ""),
        asked_by=asked_by,
        told=answer.sentences if answer.passed else (one.outcome,),
        sure=answer.passed,
        device_s=one.device_s,
        source="" if one.shipped else one.source,
    )


def _open(log: ProbeLog) -> Iterator[ProbeRow]:
    """Granted, and without an answer."""
    answered = {one.asked_by for one in log.answers.values()}
    same = {one.source for one in log.answers.values()}
    for claim in log.granted:
        written = log.written.get(claim.key)
        if claim.key in answered or (written is not None and written.text in same):
            continue
        told = "Its file is not written yet."
        if written is not None:
            told = "No device has come to it yet."
            if not written.text:
                told = f"It could not be written: {written.reason.rstrip('.')}."
        yield ProbeRow(question=claim.question, asked_by=_asker(claim), told=(told,), sure=False)


def _asker(claim: ProbeClaimed) -> str:
    return f"island {claim.island} in cycle {claim.cycle}"
