"""The book of findings: how new results make rules, bear them out, and bring them down."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from engine.findings.claims import claims
from engine.findings.evidence import BECOMES, Evidence, united
from engine.findings.record import Claim, Record
from operators.finding import About, Finding, Kind, best_founded, identity, number_text
from operators.llm.distiller import Bear, Rule

LEAST_GAIN = math.log(1.05)
"""A rule that is worth less is not made."""

MOST = 100
"""Findings that are kept, the best founded; and as many of those that fell, the latest."""


Brought = Mapping[str, Finding]
"""Rules of other campaigns, by id, with the numbers that they came with."""


def distilled(
    record: Record,
    before: Sequence[Finding] = (),
    said: Sequence[Finding] = (),
    brought: Sequence[Finding] = (),
) -> tuple[Finding, ...]:
    """The findings after the record, the best founded first and those that fell last.

    before: as they stood, a person's and other campaigns' among them; said: what a model makes of
    the record, whose numbers are computed here as all are; brought: other campaigns', as they came.
    """
    made = {claim.about.key: claim for claim in claims(record)}
    came = {one.id: one for one in brought}
    found = {one.id: _judged(one, made, record, came) for one in _joined(before, said)}
    standing = {
        one.about.key
        for one in found.values()
        if not one.fallen and not (one.origin and one.about.moves)
    }
    for claim in made.values():
        own = _of_claim(claim, record)
        if own is not None and own.id not in found and claim.about.key not in standing:
            found[own.id] = own
    return _kept(found.values())


def _joined(before: Iterable[Finding], said: Iterable[Finding]) -> Iterator[Finding]:
    """What a model says anew of a rule of its own takes its place."""
    renewed = {one.id: one for one in said}
    for one in before:
        newer = renewed.pop(one.id, None)
        yield newer if newer is not None and one.by == "model" else one
    yield from renewed.values()


def _kept(found: Iterable[Finding]) -> tuple[Finding, ...]:
    ranked = best_founded(found)
    kept = [one for place, one in enumerate(ranked) if place < MOST or one.by == "person"]
    return (*kept, *[one for one in found if one.fallen][-MOST:])


def _judged(one: Finding, made: Mapping[str, Claim], record: Record, came: Brought) -> Finding:
    """The finding with its number after the record; fallen where results no longer bear it out."""
    if one.about.key:
        claim = made.get(one.about.key)
        if claim is not None and one.origin and one.about.moves and claim.about != one.about:
            return one  # of another best
        if claim is not None:
            return _weighed(one, claim, record, came)
        if one.origin or one.fallen or one.by == "person":
            return one  # nothing here says anything of it
        return _fell(one, record, "no result bears it out any more")
    if one.origin or one.by != "model":
        return one
    return _of_kernels(one, record)


# --- rules that can be looked up ----------------------------------------------------------------


def _of_claim(claim: Claim, record: Record) -> Finding | None:
    """The rule that a claim amounts to by itself; None: it shows nothing."""
    if claim.of_failures:
        if len(claim.passed) > len(claim.failed):
            return None
        return _failing(_new("trap", claim, record), claim)
    if len(claim.pairs) < claim.least:
        return None
    own = Evidence.of(claim.pairs)
    kind: Kind = "win" if own.ln_ratio > 0 else "trap"
    made = _numbered(_new(kind, claim, record), own, claim)
    shown = abs(own.ln_ratio) >= LEAST_GAIN and own.shows(BECOMES)
    return made if shown and len(made.shown_by) >= len(made.against) else None


def _new(kind: Kind, claim: Claim, record: Record) -> Finding:
    condition = replace(record.condition, shapes=claim.shapes)
    rule = claim.win if kind == "win" else claim.trap
    return Finding(
        id=identity(kind, claim.about, rule, condition),
        kind=kind,
        rule=rule,
        about=claim.about,
        condition=condition,
    )


def _weighed(one: Finding, claim: Claim, record: Record, came: Brought) -> Finding:
    """A rule of before beside what the record says of the same. Another campaign's number counts
    beside one's own; but where one's own say the opposite, they decide."""
    if claim.of_failures:
        after = _failing(one, claim)
        if len(after.against) > after.failures:
            many = len(after.against)
            return _fell(after, record, f"{many} kernels pass, and {after.failures} fail so")
        return replace(after, fallen="")
    own = Evidence.of(claim.pairs) if claim.pairs else None
    if own is None:
        return one
    first = came.get(one.id)
    total = own
    if first is not None and first.ratio is not None:
        total = united([Evidence.of_ratio(first.ratio, first.kernels), own])
    after = _reworded(_numbered(one, total, claim, first), claim)
    if one.fallen:
        again = _same(total, one.kind) and total.shows(BECOMES)
        return replace(after, fallen="") if again else one
    outweighed = len(after.against) > len(after.shown_by)
    opposite = first is not None and own.shows() and not _same(own, one.kind)
    if _same(total, one.kind) and total.shows() and not outweighed and not opposite:
        return after
    own_text = _ratio_text(own)
    was = f", and it was {number_text(one)}" if one.ratio else ""
    where = f" by {one.origin}" if one.origin else ""
    return _fell(after, record, f"{len(claim.pairs)} kernels here say {own_text}{was}{where}")


def _same(evidence: Evidence, kind: Kind) -> bool:
    return (evidence.ln_ratio > 0) is (kind == "win")


def _reworded(one: Finding, claim: Claim) -> Finding:
    """A point moves, and descriptions change; a person's words stay."""
    if one.by != "template" or one.origin:
        return one
    rule = claim.win if one.kind == "win" else claim.trap
    condition = replace(one.condition, shapes=claim.shapes)
    return replace(one, about=claim.about, rule=rule, condition=condition)


def _numbered(
    one: Finding, evidence: Evidence, claim: Claim, first: Finding | None = None
) -> Finding:
    """first: the rule as it came from another campaign, whose kernels count too."""
    ahead = [pair.kernel_id for pair in claim.pairs if pair.ln_ratio > 0]
    behind = [pair.kernel_id for pair in claim.pairs if pair.ln_ratio <= 0] + [*claim.slower]
    shown, against = (ahead, behind) if one.kind == "win" else (behind, ahead)
    if first is not None:
        shown, against = [*shown, *first.shown_by], [*against, *first.against]
    agree = len(shown) / max(1, len(shown) + len(against))
    return replace(
        one,
        ratio=evidence.ratio,
        shown_by=tuple(dict.fromkeys(shown)),
        against=tuple(dict.fromkeys(against)),
        standing=round(evidence.standing * agree, 3),
    )


def _failing(one: Finding, claim: Claim) -> Finding:
    failed, passed = len(claim.failed), len(claim.passed)
    return replace(
        one,
        failures=failed,
        shown_by=claim.failed,
        against=claim.passed,
        standing=round(failed / max(1, failed + passed), 3),
    )


def _fell(one: Finding, record: Record, why: str) -> Finding:
    if one.fallen or one.by == "person":
        return one
    return replace(one, fallen=f"fell at evaluation {record.evaluations}: {why}", standing=0.0)


def _ratio_text(evidence: Evidence) -> str:
    estimate, low, high = (f"{value:.3g}" for value in evidence.ratio)
    return f"{estimate}x ({low} to {high})"


# --- rules in a model's words --------------------------------------------------------------------


def bearer(record: Record, before: Sequence[Finding]) -> Bear:
    """What turns a model's rule into a finding. before: as they stand; a model's own of them may be
    renewed."""
    own = {one.id for one in before if one.by == "model" and not one.origin}

    def bear(rule: Rule) -> Finding | str:
        condition = record.condition
        named = rule.renews if rule.renews in own else ""
        judged = _of_kernels(
            Finding(
                id=named or identity(rule.kind, About(), rule.rule, condition),
                kind=rule.kind,
                rule=rule.rule,
                condition=condition,
                shown_by=rule.shown_by,
                against=rule.against,
                by="model",
            ),
            record,
        )
        return judged.fallen.partition(": ")[2] or judged

    return bear


def _of_kernels(one: Finding, record: Record) -> Finding:
    ids = [kernel for kernel in (*one.shown_by, *one.against) if kernel in record.known]
    kernels = [record.known[kernel] for kernel in ids]
    pairs = [pair for kernel in kernels if (pair := record.pair_over_base(kernel))]
    if not pairs:
        failed = [kernel.id for kernel in kernels if not kernel.evaluation.passed]
        if one.kind == "trap" and failed:
            return replace(one, ratio=None, failures=len(failed), shown_by=tuple(failed))
        return _fell(one, record, "none of its kernels has a gain")
    claim = Claim(about=one.about, win=one.rule, trap=one.rule, pairs=tuple(pairs))
    evidence = Evidence.of(pairs)
    after = _numbered(one, evidence, claim)
    if not after.shown_by:
        return _fell(after, record, f"none of its kernels shows a {one.kind}")
    outweighed = len(after.against) > len(after.shown_by)
    if evidence.shows() and _same(evidence, one.kind) and not outweighed:
        return replace(after, fallen="")
    number = _ratio_text(evidence)
    return _fell(after, record, f"its kernels say {number}, which bears out no {one.kind}")
