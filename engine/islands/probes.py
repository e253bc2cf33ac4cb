"""An island's probes: each that a designer asks for is claimed, written, stored and handed on."""

import asyncio

from engine.islands.cycle import Cycle
from engine.islands.setting import Setting
from engine.store.kinds.probes import ProbeWritten
from operators.individual import Individual
from operators.operator import AskedProbe, Declined, Design, ProbesLeft

PROBE = 1_000_000
"""A probe's place in the random key is its number and this: a cycle's slots stay below."""


class Probes:
    """Beside a cycle's experiments; the cycle ends when all of its probes are written."""

    def __init__(self, island: int, setting: Setting) -> None:
        self._island, self._setting = island, setting
        self._writing: dict[int, list[asyncio.Task[None]]] = {}  # by cycle

    async def left(self, cycle: int) -> ProbesLeft | None:
        """What the cycle's designer may ask for; None where nobody asks here."""
        book = self._setting.probes
        return await book.tell(self._island, cycle) if book is not None else None

    def begin(self, cycle: Cycle, design: Design, base: Individual) -> None:
        """Without waiting."""
        if self._setting.probes is None:
            return
        loop = asyncio.get_running_loop()
        tasks = [
            loop.create_task(self._probe(cycle, number, asked, base))
            for number, asked in enumerate(design.probes)
        ]
        for task in tasks:  # a cycle that was stopped waits for none of them
            task.add_done_callback(lambda task: task.cancelled() or task.exception())
        self._writing[cycle.number] = tasks

    async def written(self, cycle: int) -> None:
        """Return when the cycle's are stored. Raises Stopped, and what ends the campaign."""
        await asyncio.gather(*self._writing.pop(cycle, ()))

    async def _probe(self, cycle: Cycle, number: int, asked: AskedProbe, base: Individual) -> None:
        book, prober = self._setting.probes, self._setting.operators.prober
        if book is None or prober is None:
            return
        if not await book.claim(self._island, cycle.number, number, asked):
            return
        context = self._setting.context(self._island, cycle, PROBE + number, f"p{number}")
        text = reason = ""
        try:
            text = await prober.write_probe(asked, base, context)
        except Declined as declined:
            reason = str(declined)
        written = ProbeWritten(
            island=self._island, cycle=cycle.number, number=number, text=text, reason=reason
        )
        if await book.write(written) and text:
            self._setting.measure_probe(written)
