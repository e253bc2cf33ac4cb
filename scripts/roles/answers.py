"""Answers and verdicts as lines of a file, which a later run of the same goes on with."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from pydantic import TypeAdapter, ValidationError

from evaluators.evaluation import Status
from operators.llm.question import Role
from scripts.roles.situations import Ratio, SituationError

Key = tuple[str, int, int]
"""Situation, repeat, and which of a design's experiments; 0 where there is one kernel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What became of one question.

    usable: a reply could be used, if not at_first then after it went back once or twice with what
    was wrong. why: what was wrong in the end; failures: of all its calls and replies, by kind.
    tokens, dollars: of all calls, those that failed among them; seconds: a reply takes on average.
    said: what the role said, as it was read; beside: what others got of the situation, see
    scripts.roles.quantities.
    """

    situation: str
    role: Role
    repeat: int
    usable: bool
    at_first: bool
    why: str = ""
    failures: tuple[str, ...] = ()
    calls: int = 0
    replies: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    dollars: float = 0.0
    seconds: float | None = None
    said: Mapping[str, Any] = field(default_factory=dict)
    beside: Mapping[str, float] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        return self.situation, self.repeat, 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What the evaluator said of a kernel that an answer led to.

    gain: over the Base, in a race beside it; None: it was not timed. base_failed: why the Base
    itself was no anchor here.
    """

    situation: str
    role: Role
    repeat: int
    slot: int
    kernel_id: str
    compiled: bool
    status: Status
    reason: str = ""
    gain: Ratio | None = None
    predicted: tuple[float, float] | None = None
    base_failed: str = ""

    @property
    def key(self) -> Key:
        return self.situation, self.repeat, self.slot


_ANSWER, _JUDGED = TypeAdapter(Answer), TypeAdapter(Judged)


class Answers:
    """asked: what was asked of whom, which stands in the file's first line; the same must be asked
    to go on with it. answers, verdicts: by key."""

    def __init__(self, asked: Mapping[str, Any]) -> None:
        self.asked = dict(asked)
        self.answers: dict[Key, Answer] = {}
        self.verdicts: dict[Key, Judged] = {}
        self._file: Path | None = None

    @classmethod
    def kept(cls, file: Path, asked: Mapping[str, Any]) -> Self:
        """Those of the file, to be gone on with; a new file where there is none.

        Raises SituationError.
        """
        made = cls(json.loads(json.dumps(asked)))
        if file.exists() and file.stat().st_size:
            earlier = cls.read(file)
            if differing := _differing(earlier.asked, made.asked):
                raise SituationError(
                    f"{file} holds answers to another question ({differing}); name another --out"
                )
            made.asked = _joined(earlier.asked, made.asked)
            made.answers, made.verdicts = earlier.answers, earlier.verdicts
        made._file = file
        made._write([made._head(), *made.answers.values(), *made.verdicts.values()])
        return made

    @classmethod
    def read(cls, file: Path) -> Self:
        """Raises SituationError. A last line that a kill cut off is left out."""
        try:
            *lines, last = file.read_text().split("\n")
        except OSError as error:
            raise SituationError(f"{file} can't be read: {error.strerror}") from None
        except UnicodeDecodeError:
            lines, last = [], ""
        try:
            made = cls(json.loads(lines[0])["asked"])
            for line in lines[1:]:
                made._take(line)
            if last:
                made._take_whole(last)
        except (LookupError, TypeError, ValueError) as error:
            said = "" if isinstance(error, ValidationError | IndexError) else f" ({error})"
            raise SituationError(
                f"{file} holds no answers of bench_roles{said}; name what `ask --out` wrote"
            ) from None
        return made

    def _take(self, line: str) -> None:
        tree = json.loads(line)
        if tree["kind"] == "answer":
            answer = _ANSWER.validate_python({k: v for k, v in tree.items() if k != "kind"})
            self.answers[answer.key] = answer
        elif tree["kind"] == "judged":
            judged = _JUDGED.validate_python({k: v for k, v in tree.items() if k != "kind"})
            self.verdicts[judged.key] = judged
        else:
            raise ValueError(f"a line is of kind {tree['kind']!r}")

    def _take_whole(self, line: str) -> None:
        try:
            json.loads(line)
        except ValueError:
            return  # cut off: it is asked again
        self._take(line)

    def add(self, one: Answer | Judged) -> None:
        """Kept at once, so that nothing that was paid for is lost."""
        if isinstance(one, Answer):
            self.answers[one.key] = one
        else:
            self.verdicts[one.key] = one
        if self._file is not None:
            with self._file.open("a") as file:
                file.write(_line(one))

    def _head(self) -> Mapping[str, Any]:
        return {"asked": self.asked}

    def _write(self, lines: Iterable[Mapping[str, Any] | Answer | Judged]) -> None:
        """Anew and whole: what a kill cut off is gone then."""
        assert self._file is not None
        fresh = self._file.with_name(f"{self._file.name}.new")
        try:
            fresh.write_text("".join(map(_line, lines)))
            fresh.replace(self._file)
        except OSError as error:
            raise SituationError(f"{self._file} can't be written: {error.strerror}") from None


def _line(one: Mapping[str, Any] | Answer | Judged) -> str:
    if isinstance(one, Answer | Judged):
        kind = "answer" if isinstance(one, Answer) else "judged"
        return json.dumps({"kind": kind, **asdict(one)}, default=dict) + "\n"
    return json.dumps(one) + "\n"


def _joined(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
    """Both: roles that were asked then, and those that are asked now."""
    return {
        key: {**earlier[key], **value} if isinstance(value, Mapping) else value
        for key, value in now.items()
    }


def _differing(earlier: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What of it, in words; empty where nothing does."""
    for key in sorted(earlier.keys() | now.keys()):
        theirs, mine = earlier.get(key), now.get(key)
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            # A role that was not asked then may be asked now.
            both = mine.keys() & theirs.keys()
            mine, theirs = ({one: tree[one] for one in sorted(both)} for tree in (mine, theirs))
        if mine != theirs:
            return f"{key}: {json.dumps(theirs)} there, and {json.dumps(mine)} now"
    return ""
