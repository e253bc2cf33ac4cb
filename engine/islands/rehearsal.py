"""Rehearsal: an island taken up from its log, without a device or a model, to see what it asks."""

import asyncio
import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from engine.config import CampaignConfig
from engine.ending import Stopped
from engine.islands.island import Island
from engine.islands.operators import island_operators
from engine.islands.setting import Setting
from engine.llm.idea_book import IdeaBook
from engine.llm.probe_book import ProbeBook
from engine.store.events import CycleFinished, CycleStarted, Event
from engine.store.kinds.calls import CallReplied, GivenUp
from engine.store.replay import History, Replay
from engine.store.store import Stored
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation
from evaluators.tasks.task import Task
from operators.catalog import random_candidate
from operators.individual import Candidate, Experiment
from operators.llm.question import Failure, Part, Reply, Request, Unanswered
from operators.operator import AskedProbe, Context, Draft

STAND_IN = Experiment(
    technique="example",
    avenue="example",
    description="(Here stands what the Designer wants to try, and why.)",
    rubric="(Here stand the steps.)",
    performance=(0.0, 0.0),
    innovation=0,
)
STAND_IN_PROBE = AskedProbe(
    question="(Here stands what the Designer wants to know.)",
    rubric="(Here stand the steps.)",
)
MOST_CYCLES = 200
"""After so many without a question to a role, it is not asked."""

Outcomes = Mapping[str, Reply | Unanswered]


def stored_outcomes(events: Iterable[Stored]) -> Outcomes:
    """What became of each question of a campaign, by its key."""
    outcomes: dict[str, Reply | Unanswered] = {}
    for stored in events:
        match stored.event:
            case CallReplied() as replied:
                outcomes[replied.request] = replied.reply
            case GivenUp() as given:
                outcomes[given.request] = given.outcome
    return outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsal:
    """An island of a stored campaign. The code that asks is the campaign's own."""

    whole: Replay
    outcomes: Outcomes
    config: CampaignConfig
    task: Task
    device: DeviceInfo
    island: int = 0

    def cycle(self, number: int) -> list[Request]:
        """All that a cycle which was started asked, as it is asked today."""
        history = self.whole.history(self.island)
        starts = [event for event, _ in history if isinstance(event, CycleStarted)]
        started = next((event for event in starts if event.cycle == number), None)
        if started is None:
            return []
        known = history[: 1 + [event for event, _ in history].index(started)]
        # Of others under way, what they were told counts, no more.
        aside = [(one, ()) for one in self._open_cycles(known) if one.cycle != number]
        return self._asked([*known, *aside], None, cycles=1)

    def next(self, role: Part) -> tuple[Request | None, bool]:
        """What the role is asked next, as a resumed campaign would; None: it is not.

        The second: whether cycles under way had to be left aside, which wait for a verdict or
        for an answer to somebody else.
        """
        history = self.whole.history(self.island)
        aside = [*history, *((closed, ()) for closed in self._open_cycles(history))]
        for known, left_aside in ((history, False), (aside, True)):
            for request in self._asked(known, role, cycles=MOST_CYCLES):
                if request.part == role and request.key not in self.outcomes:
                    return request, left_aside
        return None, True

    def _open_cycles(self, history: History) -> list[CycleFinished]:
        started = {event.cycle for event, _ in history if isinstance(event, CycleStarted)}
        finished = {event.cycle for event, _ in history if isinstance(event, CycleFinished)}
        return [
            CycleFinished(island=self.island, cycle=cycle) for cycle in sorted(started - finished)
        ]

    def _asked(self, history: History, wanted: Part | None, *, cycles: int) -> list[Request]:
        model = _Answers(self.outcomes, wanted)
        journal = _Cycles(cycles)
        shared = self.config.shares_memory(self.island)
        # Of stored designs: once, ideas were not compared, and an example is none.
        known = self.config.compares_ideas and self.whole.ideas
        compared = known and (wanted is None or self._open_cycles(history))
        lone = self.config.islands.model_copy(update={"cycles_in_flight": 1})
        config = self.config.model_copy(update={"islands": lone})
        setting = Setting(
            config=config,
            task=self.task,
            device=self.device,
            operators=island_operators(config, self.island, self.task, self.device, model),
            random_candidate=self._random_candidate,
            journal=journal,
            evaluate=self._evaluate,
            evaluate_idle=self._evaluate if self.config.tunes(self.island) else None,
            send=lambda source, destination, round, elites: None,
            probes=self._probes(journal, wanted),
            ideas=IdeaBook(journal, shared=shared, earlier=self.whole.ideas) if compared else None,
        )
        island = Island(self.island, setting)
        island.restore(history)
        if wanted is not None and shared:  # a cycle of before knows what it was told
            island.hear(self.whole.unheard(self.island, self.config.memory_partners(self.island)))
        asyncio.run(island.run())
        return model.asked

    async def _random_candidate(self, context: Context) -> Draft:
        techniques = self.config.operators_of(self.island).techniques
        return random_candidate(context.task, context.rng, context.device, techniques)

    def _probes(self, journal: "_Cycles", wanted: Part | None) -> ProbeBook | None:
        """None where designers were told of none: there was a time before probes."""
        log = copy.deepcopy(self.whole.probes)
        asks = self.config.asks_probes(self.island) and (wanted is not None or log.told)
        return ProbeBook(journal, most=self.config.probes.most, log=log) if asks else None

    async def _evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        if kernel_id not in self.whole.scores.evaluations:
            raise Stopped
        return self.whole.scores.first(kernel_id)


class _Answers:
    """Stored answers; without one, an example of what others than the wanted role may say."""

    def __init__(self, outcomes: Outcomes, wanted: Part | None) -> None:
        self.asked: list[Request] = []
        self._outcomes = outcomes
        self._wanted = wanted

    async def complete(self, request: Request) -> Reply | Unanswered:
        self.asked.append(request)
        if request.key in self._outcomes:
            return self._outcomes[request.key]
        if self._wanted in (None, request.part):
            raise Stopped
        if request.role != "designer":
            return Unanswered(kind=Failure.CANCELLED, reason="nobody is asked")
        said = {
            "avenues": [STAND_IN.avenue],
            "experiments": [asdict(STAND_IN)],
            "probes": [asdict(STAND_IN_PROBE)] if self._wanted == "prober" else [],
        }
        return Reply(
            text=json.dumps(said),
            finish="stop",
            model="",
            prompt_tokens=0,
            completion_tokens=0,
            latency_s=0.0,
        )

    def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        """Counted when it happened."""


class _Cycles:
    """A journal that keeps nothing, and ends after so many cycles."""

    def __init__(self, most: int) -> None:
        self._left = most

    def post(self, event: Event) -> None:
        """Nothing is stored."""

    async def commit(self, event: Event) -> None:
        if isinstance(event, CycleFinished):
            self._left -= 1
        if self._left <= 0:
            raise Stopped
