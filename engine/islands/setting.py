"""An island's setting: the campaign it belongs to, whom it asks, and how it hears of the end."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from engine.config import CampaignConfig
from engine.islands.cycle import IdeaBook, RandomCandidate
from engine.store.journal import Journal
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.tasks.task import Task
from operators.catalog.search_space import Sweep
from operators.individual import Candidate, Individual
from operators.operator import Operators


class Evaluate(Protocol):
    async def __call__(self, kernel_id: str, candidate: Candidate) -> Evaluation:
        """Raises Stopped."""


Send = Callable[[int, int, int, Sequence[Individual]], None]
"""(source, destination, round, elites): hand elites to another island, without waiting."""

Share = Callable[[Individual], None]
"""Tell the other islands what became of one's own, without waiting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What an island is given besides its place: the campaign, and whom to ask."""

    config: CampaignConfig
    task: Task
    device: DeviceInfo
    operators: Operators
    random_candidate: RandomCandidate
    journal: Journal
    evaluate: Evaluate
    send: Send
    share: Share | None = None  # None: each island has a memory of its own
    ideas: IdeaBook | None = None
    sweep: Sweep | None = None  # for cycles that find nothing new; None: they stay without
