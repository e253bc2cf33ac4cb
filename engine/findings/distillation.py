"""Distillation: a campaign's log followed, and made into findings every so many evaluations."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from engine.findings.book import bearer, distilled
from engine.findings.file import Edits, edits_of, findings_text, write_findings
from engine.findings.reader import FindingsError
from engine.findings.record import Record
from engine.store.kinds.findings import Distilled
from engine.store.kinds.sessions import CampaignStarted
from engine.store.replay import Replay
from engine.store.run_folder import FINDINGS
from engine.store.store import Stored, StoreError
from evaluators.device_info import DeviceInfo
from evaluators.measuring.gain import race_spread, spread_on
from evaluators.measuring.intervals import Spread
from evaluators.tasks.task import Task
from operators.catalog.families import families
from operators.finding import Condition, Finding
from operators.individual import Individual
from operators.llm.distiller import Bear

MOST_DRAFTS = 3000
"""That a distillation looks at, the latest: it shall not take minutes."""


def condition_of(whole: Replay, task: Task) -> Condition:
    """Where a campaign's results hold."""
    started = whole.sessions[-1].started if whole.sessions else None
    return Condition(
        task=task.name,
        task_hash=whole.campaign.task_hash,
        backend=str(whole.campaign.config["backend"]),
        device_class=started.device_class if started else "",
    )


def record_of(whole: Replay, task: Task) -> Record:
    """What a campaign measured by now, as claims are made of it. Raises BackendMissing."""
    verdicts = whole.scores.evaluations
    judged = [one for one in whole.drafts.values() if one.kernel_id in verdicts]
    drafts = [one.individual(verdicts[one.kernel_id]) for one in judged[-MOST_DRAFTS:]]
    wanted = {one.id for one in drafts} | {base for one in drafts for base in one.parents}
    wanted.add(whole.campaign.baseline_id)
    known: dict[str, Individual] = {}
    for kernel_id, one in whole.first_drafts.items():
        if kernel_id in wanted and kernel_id in verdicts:
            known[kernel_id] = one.individual(verdicts[kernel_id])
    return Record(
        condition=condition_of(whole, task),
        drafts=drafts,
        known=known,
        families=families(task),
        spread=_spread(whole),
        seed_id=whole.campaign.baseline_id,
        evaluations=whole.scores.asked,
    )


def _spread(whole: Replay) -> Spread:
    """Raises BackendMissing."""
    info = whole.sessions[-1].started.info if whole.sessions else None
    if info is not None:
        return spread_on(info)
    return race_spread(str(whole.campaign.config["backend"]))


@dataclass(frozen=True)
class Draft:
    """A distillation in the making: what a person's edits left of the findings before, and the
    record. dropped: ids that a person took out."""

    number: int
    record: Record
    before: tuple[Finding, ...]
    brought: tuple[Finding, ...]
    dropped: tuple[str, ...]

    @cached_property
    def templates(self) -> tuple[Finding, ...]:
        """The findings without a model's part in them."""
        return self.with_said(())

    @property
    def bear(self) -> Bear:
        return bearer(self.record, self.before)

    def with_said(self, said: Sequence[Finding]) -> tuple[Finding, ...]:
        found = distilled(self.record, self.before, said, self.brought)
        return tuple(one for one in found if one.id not in self.dropped)

    def event(self, said: Sequence[Finding] = (), model: str = "") -> Distilled:
        """model: see Distilled."""
        return Distilled(
            number=self.number,
            evaluations=self.record.evaluations,
            findings=self.with_said(said) if said else self.templates,
            dropped=self.dropped,
            model=model,
        )


class Distillation:
    """Follows a log from its beginning; what is distilled counts once it is in the log."""

    def __init__(self, run_dir: Path, task: Task, *, every: int) -> None:
        """every: evaluations between two distillations."""
        self.position = 0
        """The last event taken in; further ones follow from there."""
        self.trouble = ""
        """What is wrong with the file at present, in one sentence."""
        self._path, self._task, self._every = run_dir / FINDINGS, task, every
        self._whole: Replay | None = None
        self._broken = False
        self._met: bytes | None = None

    def record(self, events: Iterable[Stored]) -> None:
        """Take the next events in. Raises StoreError where they begin with no campaign."""
        for stored in events:
            if self._whole is not None:
                self._whole.apply(stored)
            elif isinstance(stored.event, CampaignStarted):
                self._whole = Replay(stored.event)
            else:
                raise StoreError(f"{self._path.parent}: its store holds no campaign")
            self.position = stored.seq

    @property
    def last(self) -> Distilled | None:
        return self._whole.distilled[-1] if self._whole and self._whole.distilled else None

    @property
    def device(self) -> DeviceInfo | None:
        """As the last session found it; None in stores of before it was kept."""
        sessions = self._whole.sessions if self._whole else []
        return sessions[-1].started.info if sessions else None

    @property
    def evaluated(self) -> int:
        """Since the last."""
        done = self._whole.scores.asked if self._whole else 0
        return done - (self.last.evaluations if self.last else 0)

    @property
    def due(self) -> bool:
        return self.evaluated >= self._every

    @property
    def stale(self) -> bool:
        """Whether anything was evaluated since, or a person may have changed the file."""
        return self.evaluated > 0 or self._path.exists()

    def draft(self, *, edited: bool = True) -> Draft:
        """The next, from all that was taken in. edited: with what a person changed in the file.
        Raises BackendMissing."""
        whole, last = self._whole, self.last
        if whole is None:
            raise StoreError(f"{self._path.parent}: its store holds no campaign")
        self._met = self._content()
        edits = self._edits(whole) if edited else Edits()
        kept_out = (*(last.dropped if last else ()), *edits.dropped)
        back = {one.id for one in edits.kept}
        return Draft(
            number=max(1, last.number + 1) if last else 1,
            record=record_of(whole, self._task),
            before=edits.applied(last.findings if last else ()),
            brought=whole.brought.findings if whole.brought else (),
            dropped=tuple(one for one in dict.fromkeys(kept_out) if one not in back),
        )

    def _edits(self, whole: Replay) -> Edits:
        """A file that can't be read is left alone until it is mended."""
        written = {one.number: one.findings for one in whole.distilled}
        try:
            edits = edits_of(self._path, written)
        except FindingsError as error:
            self._broken = True
            self.trouble = f"findings are not written: {error}; mend the file, or delete it"
            return Edits()
        self._broken, self.trouble = False, ""
        condition = condition_of(whole, self._task)
        return replace(
            edits,
            kept=tuple(
                one if one.condition.task else replace(one, condition=condition)
                for one in edits.kept
            ),
        )

    def write(self, event: Distilled) -> bool:
        """What is stored, into the file. False: a person changed that since the draft, and it is
        left for the next one."""
        if self._whole is None or self._broken:
            return True
        if self._content() != self._met:
            return False
        text = findings_text(
            event.findings,
            campaign=self._path.parent.name,
            evaluations=event.evaluations,
            condition=condition_of(self._whole, self._task),
            distillation=event.number,
        )
        try:
            write_findings(self._path, text)
            self._met = text.encode()
        except OSError as error:
            self.trouble = f"findings can't be written to {self._path} ({error.strerror})"
        return True

    def _content(self) -> bytes | None:
        try:
            return self._path.read_bytes()
        except OSError:
            return None
