"""What a campaign's log holds of ideas: which experiments were handed to a writer."""

from dataclasses import dataclass
from typing import ClassVar

from operators.llm.ideas import Idea


@dataclass(frozen=True, slots=True, kw_only=True)
class IdeaClaimed:
    """Stored before the writer is asked. number: of the experiment in its cycle."""

    kind: ClassVar[str] = "idea_claimed"
    island: int
    cycle: int
    number: int
    technique: str
    description: str
    rubric: str

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


IdeaEvent = IdeaClaimed
