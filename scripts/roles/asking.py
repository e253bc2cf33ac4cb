"""Questions asked as a campaign asks them: its operators, prompts and parsers over its gateway."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from statistics import fmean
from typing import Any

import numpy as np

from engine.config import CampaignConfig
from engine.islands.operators import island_operators
from engine.llm.config import Llm, LlmModel
from engine.llm.gateway import Gateway
from engine.llm.idea_book import IdeaBook
from engine.store.events import Event
from engine.store.kinds.calls import CallEvent, CallFailed, CallReplied, CallReserved, TurnedAway
from engine.store.kinds.ideas import IdeaCompared
from evaluators.tasks.task import Task
from operators.individual import Experiment, Individual
from operators.llm.question import Role
from operators.operator import (
    Context,
    Declined,
    Design,
    InVain,
    Operators,
    choose_experiments,
)
from scripts.roles.answers import Answer, Answers
from scripts.roles.quantities import beside, regret
from scripts.roles.situations import Situation

TASKS = Mapping[str, Task]
"""By hash."""

Told = Callable[[str, int, int], None]
"""("asked" or "judged", how many, of how many)."""


_WENT_WRONG = (CallFailed, TurnedAway)


class Calls:
    """A journal of calls that keeps them by question: what each took, and how it went."""

    def __init__(self) -> None:
        self._of: defaultdict[str, list[CallEvent]] = defaultdict(list)

    def post(self, event: CallEvent) -> None:
        # A question's key is its context's, the role, and which attempt it is.
        self._of[event.request.rsplit("/", 2)[0]].append(event)

    async def commit(self, event: CallEvent) -> None:
        self.post(event)

    def told(self, key: str) -> dict[str, Any]:
        """What an Answer says of calls."""
        events = self._of[key]
        replies = [one.reply for one in events if isinstance(one, CallReplied)]
        failed = [one for one in events if isinstance(one, CallFailed)]
        spoilt = [one for one in events if isinstance(one, TurnedAway)]
        return {
            "at_first": bool(replies) and not spoilt,
            "failures": tuple(str(one.failure) for one in events if isinstance(one, _WENT_WRONG)),
            "calls": sum(isinstance(one, CallReserved) for one in events),
            "replies": len(replies),
            # Of a call that failed nobody knows which part of its tokens was sent.
            "prompt_tokens": sum(one.prompt_tokens for one in replies),
            "completion_tokens": sum(one.completion_tokens for one in replies)
            + sum(one.tokens for one in failed),
            "dollars": sum(one.dollars for one in replies) + sum(one.dollars for one in failed),
            "seconds": round(fmean(one.latency_s for one in replies), 3) if replies else None,
        }


class _NoJournal:
    """Ideas are compared within one question."""

    def post(self, event: Event) -> None: ...

    async def commit(self, event: Event) -> None: ...


class Questioner:
    """Asks situations; the answers go into `answers`.

    config: a campaign's, of which islands that ask models and the section llm count. models: who
    is asked as which role. follow: how many experiments of a design are written, by the model of
    that role.
    """

    def __init__(
        self,
        config: CampaignConfig,
        models: Mapping[Role, LlmModel],
        tasks: TASKS,
        answers: Answers,
        *,
        follow: int = 0,
    ) -> None:
        """Raises ModelUnavailable: a key is missing."""
        assert config.llm is not None
        llm = asked_alone(config.llm, models)
        self._config = config.model_copy(update={"llm": llm})
        self._island = asking_island(config)
        self._tasks, self._answers, self._follow = tasks, answers, follow
        self._calls = Calls()
        self._gateway = Gateway(llm, config.budgets.of_calls, self._calls)
        self._operators: dict[int, Operators] = {}  # by the campaign that a situation is of

    async def ask(self, wanted: Iterable[tuple[Situation, int]], told: Told) -> None:
        """Every (situation, repeat), as many at once as the section llm allows; answers are kept.

        Raises ModelUnavailable, CallsOver.
        """
        left = list(wanted)
        done = 0

        async def one(situation: Situation, repeat: int) -> None:
            nonlocal done
            self._answers.add(await self._answer(situation, repeat))
            done += 1
            told("asked", done, len(left))

        asking = [asyncio.ensure_future(one(*pair)) for pair in left]
        try:
            await asyncio.gather(*asking)
        finally:
            for each in asking:
                each.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
            await self._gateway.close()

    async def _answer(self, situation: Situation, repeat: int) -> Answer:
        key = f"{situation.id}/{repeat}"
        said: Mapping[str, Any] = {}
        why = ""
        try:
            said = await self._said(situation, key)
        except InVain as vain:
            why = vain.reason
        except Declined as declined:
            why = str(declined)
        return Answer(
            situation=situation.id,
            role=situation.role,
            repeat=repeat,
            usable=not why,
            why=why,
            said=said,
            beside=beside(situation),
            **self._calls.told(key),
        )

    async def _said(self, situation: Situation, key: str) -> dict[str, Any]:
        """Raises Declined: nothing of use."""
        operators, told = self._operators_of(situation), self._context(situation, key)
        match situation.role:
            case "selector":
                chosen = await operators.selector.select(situation.tournament, told)
                if chosen.decided_by != "model":
                    raise InVain("selector", chosen.in_vain)
                return {**asdict(chosen), "regret": regret(situation, chosen.base_id)}
            case "designer":
                return await self._design(situation, operators, told)
            case "writer":
                assert situation.asked.experiment is not None
                return await self._write(situation, operators, situation.asked.experiment, told)
            case _:
                assert operators.repairer is not None
                failed = situation.failed
                assert failed is not None
                draft = await operators.repairer.repair(failed, told)
                return {"source": draft.candidate.source, "report": draft.report}

    async def _design(
        self, situation: Situation, operators: Operators, told: Context
    ) -> dict[str, Any]:
        base, reference = situation.base, situation.reference
        assert base is not None
        assert reference is not None
        design = await operators.designer.design(base, reference, told)
        repeats = await _repeats(situation, design)
        said = [
            {**asdict(experiment), "repeats": earlier}
            for experiment, earlier in zip(design.experiments, repeats, strict=True)
        ]
        chosen = choose_experiments(design.experiments, self._follow)
        keys = [f"{told.key}+{slot}" for slot in range(len(chosen))]
        written = await asyncio.gather(
            *(
                self._written(situation, operators, one, replace(told, key=key))
                for one, key in zip(chosen, keys, strict=True)
            )
        )
        return {"avenues": list(design.avenues), "experiments": said, "written": written}

    async def _written(
        self, situation: Situation, operators: Operators, experiment: Experiment, told: Context
    ) -> dict[str, Any]:
        """One of a design's experiments as the writer made it, and what that took."""
        made: dict[str, Any] = {"predicted": experiment.performance}
        try:
            made |= await self._write(situation, operators, experiment, told)
        except Declined as declined:
            made["why"] = str(declined)
        taken = self._calls.told(told.key)
        return made | {name: taken[name] for name in ("calls", "completion_tokens", "dollars")}

    async def _write(
        self, situation: Situation, operators: Operators, experiment: Experiment, told: Context
    ) -> dict[str, Any]:
        base, reference = situation.base, situation.reference
        assert base is not None
        assert reference is not None
        draft = await operators.writer.write(base, reference, experiment, told)
        return {"source": draft.candidate.source, "report": draft.report}

    def _operators_of(self, situation: Situation) -> Operators:
        campaign = situation.campaign
        if id(campaign) not in self._operators:
            self._operators[id(campaign)] = island_operators(
                self._config,
                self._island,
                self._tasks[campaign.task_hash],
                campaign.device,
                self._gateway,
            )
        return self._operators[id(campaign)]

    def _context(self, situation: Situation, key: str) -> Context:
        asked, campaign = situation.asked, situation.campaign
        return Context(
            task=self._tasks[campaign.task_hash],
            device=campaign.device,
            rng=np.random.default_rng(0),  # only who stands in for a model draws
            island=asked.island,
            cycle=asked.cycle,
            key=key,
            individuals=situation.known,
            profiles=asked.profiles,
            rationale=asked.rationale if asked.role == "designer" else "",
            tuned=situation.tuned if self._config.tunes(self._island) else None,
        )


def asked_alone(llm: Llm, models: Mapping[Role, LlmModel]) -> Llm:
    """The section with one model a role, whatever island asks."""
    named: Mapping[str, LlmModel] = {str(role): model for role, model in models.items()}
    return llm.model_copy(update={"models": named, "roles": {role: role for role in models}})


def asking_island(config: CampaignConfig) -> int:
    """The first whose operators ask models; they are as configured there."""
    islands = range(config.islands.count)
    return next(one for one in islands if config.operators_of(one).kind == "llm")


async def _repeats(situation: Situation, design: Design) -> list[str]:
    """Of each experiment, the technique of the earlier one that it repeats without saying what is
    new; "" where there is none. As a campaign compares them, before it pays a writer."""
    tried = [one for one in situation.known.values() if one.experiment is not None]
    island = situation.asked.island
    # A cycle of its own, as the designer was told of all that were tried.
    book = IdeaBook(_NoJournal(), earlier=[_compared(one, n) for n, one in enumerate(tried)])
    await book.tell(island, situation.asked.cycle)
    found = []
    for number, experiment in enumerate(design.experiments):
        earlier = await book.claim(island, situation.asked.cycle, number, experiment, again=False)
        found.append(earlier.technique if earlier is not None else "")
    return found


def _compared(one: Individual, number: int) -> IdeaCompared:
    assert one.experiment is not None
    return IdeaCompared(
        island=-1,  # no key of the design's own
        cycle=one.cycle,
        number=number,
        technique=one.experiment.technique,
        description=one.experiment.description,
        rubric=one.experiment.rubric,
    )
