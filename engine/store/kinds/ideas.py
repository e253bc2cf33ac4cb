"""What a campaign's log holds of ideas: which experiments went to a writer, which were repeats."""

from dataclasses import dataclass
from typing import ClassVar

from operators.individual import Idea


@dataclass(frozen=True, slots=True, kw_only=True)
class IdeaCompared:
    """Stored before the writer is asked. number: of the experiment in its cycle; repeats: the key
    of the earlier idea that it repeats, and so is not written; "": it may be written."""

    kind: ClassVar[str] = "idea_compared"
    island: int
    cycle: int
    number: int
    technique: str
    description: str
    rubric: str
    repeats: str = ""

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}/e{self.number}"

    @property
    def idea(self) -> Idea:
        return Idea(
            key=self.key,
            technique=self.technique,
            description=self.description,
            rubric=self.rubric,
            island=self.island,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class IdeasTold:
    """How many of the ideas that may be written a cycle's designer was told of: the first so
    many of all islands."""

    kind: ClassVar[str] = "ideas_told"
    island: int
    cycle: int
    count: int

    @property
    def key(self) -> str:
        return f"i{self.island}/c{self.cycle}"


IdeaEvent = IdeaCompared | IdeasTold
