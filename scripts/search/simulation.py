"""Simulation: a whole campaign over a table, with the engine's islands and no Ray, no waiting."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from engine.config import CampaignConfig, parse_config
from engine.ending import Stopped
from engine.islands.island import Island
from engine.islands.operators import island_operators
from engine.islands.setting import Setting
from engine.store.events import Event
from evaluators.evaluation import Evaluation
from evaluators.kernel.source import kernel_id
from operators.catalog import random_candidate
from operators.catalog.search_space import Sweep, search_space
from operators.individual import Candidate, Individual
from operators.operator import Context, Draft
from scripts.search.problem import Problem

Settings = Mapping[str, Any]
"""Keys of a campaign's configuration, as in a file."""


@dataclass(slots=True)
class Trace:
    """shares: of the optimum, by evaluation in their order; 0.0 where a kernel failed.

    unknown: kernels that the table has not.
    """

    shares: list[float] = field(default_factory=list)
    unknown: int = 0

    def curve(self, count: int) -> list[float]:
        """Best so far after 1 .. count evaluations; one that ended early stays where it was."""
        best = np.maximum.accumulate(np.array(self.shares[:count] or [0.0]))
        return [*best.tolist(), *[float(best[-1])] * (count - len(best))]


def simulate(problem: Problem, settings: Settings, *, evaluations: int, seed: int) -> Trace:
    """One campaign; nothing of it is stored. Raises ConfigError."""
    values = {
        **settings,
        "task": "table",
        "seed": seed,
        "tracking": "none",
        "budgets": {"evaluations": evaluations},
    }
    config = parse_config(values, where="a simulated campaign")
    # A table holds points of spaces, and no edited code.
    operators = [one.model_copy(update={"techniques": "families"}) for one in config.operators]
    config = config.model_copy(update={"operators": tuple(operators)})
    return asyncio.run(_Campaign(problem, config).run())


class _Campaign:
    """What stands for dispatcher, store and devices: one verdict after another."""

    def __init__(self, problem: Problem, config: CampaignConfig) -> None:
        self._problem, self._config = problem, config
        self._task = problem.task_of(config.seed)
        self._verdicts: dict[str, Evaluation] = {}
        self._waiting: dict[str, asyncio.Future[Evaluation]] = {}
        self._queue: asyncio.Queue[tuple[str, Candidate]] = asyncio.Queue()
        self._trace = Trace()
        self._asked = 0
        self._islands = [self._island(index) for index in range(config.islands.count)]

    async def run(self) -> Trace:
        naive = Candidate.from_source(self._task.naive)
        device = asyncio.create_task(self._measure())
        first = await self._evaluate(kernel_id(naive.source), naive)
        for island in self._islands:
            await island.begin(naive, first)
        await asyncio.gather(*(island.run() for island in self._islands))
        device.cancel()
        return self._trace

    def post(self, event: Event) -> None:
        """Nothing is stored."""

    async def commit(self, event: Event) -> None:
        await asyncio.sleep(0)

    # --- what an island is given ---------------------------------------------------------------

    def _island(self, index: int) -> Island:
        rng = np.random.default_rng((self._config.seed, index))
        setting = Setting(
            config=self._config,
            task=self._task,
            device=self._problem.info,
            operators=island_operators(self._config, index, self._task, self._problem.info, None),
            random_candidate=_random_candidate,
            journal=self,
            evaluate=self._evaluate,
            send=self._send,
            share=partial(self._share, index) if self._config.shares_memory(index) else None,
            sweep=Sweep(search_space(self._task), rng),
        )
        return Island(index, setting)

    async def _evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        if kernel_id in self._verdicts:
            return self._verdicts[kernel_id]
        if kernel_id not in self._waiting:
            budget = self._config.budgets.evaluations
            if budget is not None and self._asked >= budget:
                raise Stopped
            self._asked += 1
            self._waiting[kernel_id] = asyncio.get_running_loop().create_future()
            self._queue.put_nowait((kernel_id, candidate))
        return await asyncio.shield(self._waiting[kernel_id])

    async def _measure(self) -> None:
        """One device: a verdict each time that all others have had a turn."""
        while True:
            kernel_id, candidate = await self._queue.get()
            evaluation = self._problem.judge(kernel_id, candidate)
            self._trace.shares.append(self._problem.share(evaluation))
            self._trace.unknown += evaluation.reason == "the table has no such point"
            self._verdicts[kernel_id] = evaluation
            self._waiting.pop(kernel_id).set_result(evaluation)
            await asyncio.sleep(0)

    def _send(
        self, source: int, destination: int, round: int, elites: Sequence[Individual]
    ) -> None:
        self._islands[destination].receive(source, round, elites)

    def _share(self, island: int, individual: Individual) -> None:
        for other in self._config.memory_partners(island):
            self._islands[other].hear([individual])


async def _random_candidate(context: Context) -> Draft:
    return random_candidate(context.task, context.rng)
