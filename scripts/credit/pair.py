"""A pair of scripted models, one good and one useless, and islands that may ask either."""

import asyncio
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from engine.config import CampaignConfig, parse_config
from engine.credit.meter import Meter
from engine.ending import Stopped
from engine.islands.island import Island
from engine.islands.operators import island_operators
from engine.islands.setting import Setting
from engine.store.events import Event
from evaluators.evaluation import Evaluation, Status
from evaluators.kernel.source import kernel_id
from evaluators.tasks.task_file import load_task
from operators.catalog import random_candidate
from operators.individual import Candidate, Individual
from operators.llm.question import Failure, Reply, Request, Unanswered
from operators.operator import Context, Draft
from scripts.scripted_model.answers import answer, listing
from scripts.scripted_model.individuals import DEVICE

TASK = load_task("transpose")
WRITERS = {"writer": "Base", "crossover": "First parent", "repair": "The kernel that failed"}
NAMES = ("first", "second")
CHANGE = 60
"""Calls of those that write, after which the models change places."""
WINDOWS = ((41, 60), (101, 120))
MOST_CALLS = WINDOWS[-1][1]

STEP = 0.25
"""ln of the speed that one level more brings."""
NOISE = 0.05
"""Standard deviation of a measured ln gain about it."""
Chances = Mapping[int | None, float]
"""Change of level -> how often; None: the kernel does not compile."""

GOOD: Mapping[str, Chances] = {
    "often": {+1: 0.75, -1: 0.1, None: 0.15},
    "now and then": {+1: 0.4, 0: 0.25, -1: 0.15, None: 0.2},
}
"""Of good models that gain so often."""
USELESS: Chances = {0: 0.5, -1: 0.25, None: 0.25}
MARK = "level_is"


LLM = {
    "models": {"plain": {"model": "plain"}, **{one: {"model": one} for one in NAMES}},
    "roles": {role: list(NAMES) for role in WRITERS},
    "novelty": None,
}


def settings(seed: int, **changes: Any) -> CampaignConfig:
    """changes: sections in the place of these and of the defaults."""
    values = {
        "task": "transpose",
        "seed": seed,
        "tracking": "none",
        "islands": {"count": 2, "cycles_in_flight": 2},
        "operators": [{"kind": "llm"}],
        "llm": LLM,
        **changes,
    }
    return parse_config(values, where="a scripted pair")


def good_at(number: int) -> str:
    """The good model at a call, counted from 1."""
    return NAMES[number > CHANGE]


def part(asked: Sequence[str], window: tuple[int, int]) -> float:
    """asked: whom each call went to. Of the calls of a window, those that the good model had."""
    first, last = window
    numbered = list(enumerate(asked, start=1))[first - 1 : last]
    return sum(name == good_at(number) for number, name in numbered) / len(numbered)


def written(base: str, model: str, number: int, *, seed: int, gains: str) -> str:
    """What a model replies to call number, told to change base. gains: how often the good does."""
    chances = GOOD[gains] if model == good_at(number) else USELESS
    draw = random.Random(f"{seed}/{number - 1}")
    (step,) = draw.choices(list(chances), list(chances.values()))
    plain = re.sub(rf"^.*{MARK}.*\n", "", base, flags=re.MULTILINE).rstrip()
    state = "broken" if step is None else "sound"
    level = _level(base) + (step or 0)
    kernel = f"{plain}\n// call {number}, {state}: {MARK} = {level};\n"
    return f"```hip\n{kernel}```\n\n## Report\nDone.\n"


def gain_of(source: str) -> float | None:
    """ln of how many times as fast as the naive kernel; None: it does not compile."""
    if f"broken: {MARK}" in source:
        return None
    level = _level(source)
    draw = np.random.default_rng(int(kernel_id(source)[:8], 16))
    return STEP * level + NOISE * float(draw.standard_normal()) if level else 0.0


def _level(source: str) -> int:
    found = re.search(rf"{MARK} = (-?\d+);", source)
    return int(found[1]) if found else 0


class Pair:
    """Islands, two models and verdicts, until MOST_CALLS calls have written. gains: of GOOD."""

    def __init__(self, config: CampaignConfig, gains: str = "often") -> None:
        self._config, self._gains = config, gains
        self.log: list[Event] = []
        self.asked: list[str] = []
        """Of the calls that write, whom they went to."""
        self._islands = [self._island(index) for index in range(config.islands.count)]

    def run(self) -> "Pair":
        asyncio.run(self._run())
        return self

    async def _run(self) -> None:
        naive = Candidate.from_source(TASK.naive)
        first = self._judge(kernel_id(naive.source), naive)
        for island in self._islands:
            await island.begin(naive, first)
        await asyncio.gather(*(island.run() for island in self._islands))

    # --- what islands ask -------------------------------------------------------------------

    async def complete(self, request: Request) -> Reply | Unanswered:
        """Calls that write end the campaign when there were enough of them."""
        for _ in range(3):  # others have their turns meanwhile
            await asyncio.sleep(0)
        number = len(self.asked)
        messages = [{"role": m.role, "content": m.content} for m in request.prompt.messages]
        if request.role not in WRITERS:
            return _reply(answer(messages, number))
        if number >= MOST_CALLS:
            raise Stopped
        self.asked.append(request.model)
        base = listing("\n".join(m["content"] for m in messages), WRITERS[request.role])
        reply = written(base, request.model, number + 1, seed=self._config.seed, gains=self._gains)
        return _reply(reply)

    def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        """Nobody counts."""

    # --- what islands are given -------------------------------------------------------------

    def _island(self, index: int) -> Island:
        config = self._config
        assert config.llm is not None
        meter = Meter(self, config.llm, config.operators_of(index), index)
        setting = Setting(
            config=config,
            task=TASK,
            device=DEVICE,
            operators=island_operators(config, index, TASK, DEVICE, meter),
            random_candidate=_random_candidate,
            journal=self,
            evaluate=self._evaluate,
            send=lambda source, destination, round, elites: self._islands[destination].receive(
                source, round, elites
            ),
            share=partial(self._share, index) if config.shares_memory(index) else None,
            meter=meter,
        )
        return Island(index, setting)

    def post(self, event: Event) -> None:
        self.log.append(event)

    async def commit(self, event: Event) -> None:
        self.log.append(event)
        await asyncio.sleep(0)

    async def _evaluate(
        self, kernel_id: str, candidate: Candidate, held: bool = False
    ) -> Evaluation:
        await asyncio.sleep(0)
        return self._judge(kernel_id, candidate)

    def _judge(self, kernel_id: str, candidate: Candidate) -> Evaluation:
        gain = gain_of(candidate.source)
        failed = Evaluation(
            kernel_id=kernel_id,
            task_hash=TASK.hash,
            device_class=DEVICE.device_class,
            status=Status.COMPILE_ERROR,
            reason="line 1: it was written so",
            seconds={"device": 1.0},
        )
        if gain is None:
            return failed
        return replace(
            failed,
            status=Status.PASSED,
            reason="",
            times_us={"all": 1000.0 / math.exp(gain)},
            gains={"all": gain},
            speedup=math.exp(gain),
        )

    def _share(self, island: int, individual: Individual) -> None:
        for other in self._config.memory_partners(island):
            self._islands[other].hear([individual])


def _reply(text: str) -> Reply:
    return Reply(
        text=text,
        finish="stop",
        model="scripted",
        prompt_tokens=1000,
        completion_tokens=500,
        latency_s=1.0,
    )


async def _random_candidate(context: Context) -> Draft:
    return random_candidate(context.task, context.rng)
