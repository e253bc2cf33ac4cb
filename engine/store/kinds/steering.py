"""What people bring into a campaign, and when they let it rest: events of its log."""

from dataclasses import dataclass
from typing import ClassVar, Literal

Contribution = Literal["kernel", "idea"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Injected:
    """Something that no operator made, for one island. number: from 1, over the campaign.

    name: the file's, or whose kernel it was. text: a kernel file, or an idea's words. base_id: the
    kernel that an idea is tried on. entry: its name in the inbox; "" where it was carried from
    another campaign, or is a further seed of the task.
    """

    kind: ClassVar[str] = "injected"
    number: int
    island: int
    what: Contribution
    name: str
    text: str
    base_id: str = ""
    entry: str = ""

    @property
    def key(self) -> str:
        return str(self.number)

    @property
    def slot(self) -> int:
        """Of a kernel's draft, in cycle 0: no cycle's slot and no mutation's is below 0."""
        return -self.number

    @property
    def draft_key(self) -> str:
        return f"i{self.island}/c0/s{self.slot}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paused:
    """A person let the campaign rest. number: counts the pauses of a session, from 0."""

    kind: ClassVar[str] = "paused"
    session: int
    number: int

    @property
    def key(self) -> str:
        return f"{self.session}/{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class WentOn:
    """The pause of that number is over. A session that ends while it rests leaves none."""

    kind: ClassVar[str] = "went_on"
    session: int
    number: int

    @property
    def key(self) -> str:
        return f"{self.session}/{self.number}"


SteeringEvent = Injected | Paused | WentOn
