"""Probes as a campaign's log keeps them: who asked, what was written, what came of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from evaluators.evaluation import Status
from evaluators.probes.probe import Answer
from evaluators.spelling import shortened

SHIPPED = "shipped"
"""In place of who asked: the set that every campaign with models begins with."""


MOST_TOLD = 700
"""Characters of an answer in a prompt; the report has all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeClaimed:
    """A designer asked for a probe; stored before a writer is paid for it. number: of the probe
    in its cycle.

    repeats: the key of the earlier one with the same words. became: whether it is to be written,
    was asked before, or came when no probe was left.
    """

    kind: ClassVar[str] = "probe_claimed"
    island: int
    cycle: int
    number: int
    question: str
    rubric: str
    became: Literal["granted", "repeated", "refused"]
    repeats: str = ""

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}/p{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbesTold:
    """What a cycle's designer was told: how many probes are left, and the questions of the first
    so many that were granted."""

    kind: ClassVar[str] = "probes_told"
    island: int
    cycle: int
    left: int
    count: int

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeWritten:
    """The file that a writer made for a probe. text: empty where none could be used; reason: why
    not, one sentence."""

    kind: ClassVar[str] = "probe_written"
    island: int
    cycle: int
    number: int
    text: str
    reason: str = ""

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}/p{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A probe's answer, once for each probe. asked_by: the key of its claim, or SHIPPED.

    source: its file. where: the device; empty where the answer was kept from before or no device
    was needed. device_s: how long the device was held.
    """

    kind: ClassVar[str] = "probed"
    session: int
    asked_by: str
    source: str
    answer: Answer
    where: str = ""
    device_s: float = 0.0

    @property
    def key(self) -> str:
        return self.answer.probe_id

    @property
    def shipped(self) -> bool:
        return self.asked_by == SHIPPED

    @property
    def told(self) -> str:
        """For a prompt, in one line: the question, and what came of it; of a probe that was asked
        for no more than there is room for beside others. What a model's question supposes was not
        measured, so it is told as a question of one."""
        if self.shipped:
            return " ".join(filter(None, [self.answer.question, self.outcome]))
        asked = f'A designer asked: "{self.answer.question}"' if self.answer.question else ""
        return shortened(" ".join(filter(None, [asked, self.outcome])), MOST_TOLD)

    @property
    def outcome(self) -> str:
        """What came of it."""
        answer = self.answer
        said = " ".join(" ".join(answer.sentences).split())
        if answer.passed:
            return said
        why = f"{FAILED[answer.status]}: {' '.join(answer.reason.split()).rstrip('.')}."
        return f"{why} {said}".strip()


FAILED: Mapping[Status, str] = {
    Status.INVALID: "No answer, as the probe file is invalid",
    Status.UNSUPPORTED: "This device does not take it",
    Status.COMPILE_ERROR: "It does not compile here",
    Status.LAUNCH_ERROR: "It could not be launched",
    Status.WRONG: "No answer, as the probe went wrong",
    Status.FORBIDDEN: "It is forbidden",
    Status.CRASHED: "It crashed",
    Status.TIMEOUT: "It did not end in time",
    Status.STOPPED_EARLY: "It was ended early",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeHeard:
    """An island was told a probe's answer: what its later cycles ask shows it."""

    kind: ClassVar[str] = "probe_heard"
    island: int
    probe_id: str

    @property
    def key(self) -> str:
        return f"i{self.island}/{self.probe_id}"


ProbeEvent = ProbeClaimed | ProbesTold | ProbeWritten | Probed | ProbeHeard


@dataclass(slots=True)
class ProbeLog:
    """All of a campaign's probes; the same from a replay as live.

    claims, written: by key, in order; answers: by probe id; told: by the cycle's key.
    """

    claims: dict[str, ProbeClaimed] = field(default_factory=dict)
    told: dict[str, ProbesTold] = field(default_factory=dict)
    written: dict[str, ProbeWritten] = field(default_factory=dict)
    answers: dict[str, Probed] = field(default_factory=dict)

    def apply(self, event: ProbeEvent) -> None:
        match event:
            case ProbeClaimed():
                self.claims[event.key] = event
            case ProbesTold():
                self.told[event.key] = event
            case ProbeWritten():
                self.written[event.key] = event
            case Probed():
                self.answers[event.key] = event
            case ProbeHeard():
                pass  # of the island alone

    @property
    def granted(self) -> list[ProbeClaimed]:
        return [one for one in self.claims.values() if one.became == "granted"]

    @property
    def unanswered(self) -> list[ProbeWritten]:
        """Files that no device has answered, nor refused."""
        answered = {one.asked_by for one in self.answers.values()}
        return [one for one in self.written.values() if one.text and one.key not in answered]
