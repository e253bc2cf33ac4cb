"""What Ray runs on processors: compile tasks, and the watch for races, on the nodes of a fleet."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import ray

from engine.actors.journal import reply
from engine.actors.lifeline import Driver
from engine.actors.nodes.evaluator import compile_probe_file, compile_source, watch_kernel
from engine.actors.nodes.home import Home
from engine.dispatch.workbench import Broken, Built, Workbench
from evaluators.device_info import DeviceInfo
from evaluators.evaluation import Evaluation, Verdict
from evaluators.probes.probe import Answer, BuiltProbe

_T = TypeVar("_T")

COMPILES_PER_PROCESS = 5000
"""A compile process is replaced after so many, whatever a compiler may leak."""

LOOK_AGAIN_S = 1.0
"""While no node compiles."""


class HostTasks:
    """Each runs on the node where there is most room; Blameless where its node is lost."""

    def __init__(
        self,
        workbench: Workbench,
        info: DeviceInfo,
        driver: Driver,
        to_compile: Callable[[], Home | None],
    ) -> None:
        self._to_compile = to_compile

        # What all tasks share goes with the function, once, and not with each call.
        @ray.remote(num_cpus=1, max_retries=0, max_calls=COMPILES_PER_PROCESS)
        def compile_task(source: str, cores: frozenset[int]) -> Built | Evaluation:
            return compile_source(workbench, info, source, driver, cores)

        @ray.remote(num_cpus=1, max_retries=0, max_calls=COMPILES_PER_PROCESS)
        def probe_task(text: str, cores: frozenset[int]) -> BuiltProbe | Answer:
            return compile_probe_file(workbench, info, text, driver, cores)

        # The host watches for races in turns with compiling, so that no device waits for it.
        @ray.remote(num_cpus=1, max_retries=0, max_calls=1)
        def watch_task(built: Built, turn: int, cores: frozenset[int]) -> Verdict:
            return watch_kernel(workbench, info, built, turn, driver, cores)

        self._compile, self._probe, self._watch = compile_task, probe_task, watch_task

    def warm(self, source: str, count: int) -> None:
        """Have so many processes for compile tasks started, by compiling what compiles: the first
        kernels are asked for all at once, and would wait for them. Nobody waits for these."""
        self._warming = [
            asyncio.ensure_future(self._run(self._compile, source)) for _ in range(count)
        ]
        for one in self._warming:
            one.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def compile(self, source: str) -> Built | Evaluation:
        """See setting.Compile."""
        made: Built | Evaluation = await self._run(self._compile, source)
        return made

    async def compile_probe(self, text: str) -> BuiltProbe | Answer:
        """See setting.CompileProbe."""
        made: BuiltProbe | Answer = await self._run(self._probe, text)
        return made

    async def watch(self, built: Built, turn: int) -> Verdict:
        """See setting.Watch."""
        seen: Verdict = await self._run(self._watch, built, turn)
        return seen

    async def _run(self, task: Any, *arguments: Any) -> Any:
        home = self._to_compile()
        while home is None:
            await asyncio.sleep(LOOK_AGAIN_S)
            home = self._to_compile()
        there = task.options(scheduling_strategy=home.node.strategy) if home.node.id else task
        with home.compiling():
            call: Awaitable[Any] = there.remote(*arguments, home.plan.compile_cores)
            try:
                return await reply(call)
            except Broken as error:
                raise await home.blame(error) from error
