"""The actor that writes a campaign's report while it runs."""

import asyncio
from pathlib import Path
from typing import Any

from ray.actor import ActorHandle

from engine.actors.followers import stand_aside
from engine.actors.lifeline import Driver
from engine.report.reporter import Reporter
from engine.store.store import decode

REPORTED_AT_ONCE = 500
"""Events that the reporter reads at a time."""


class ReporterActor:
    """Follows the store and writes report.html; nothing waits for it."""

    def __init__(self, driver: Driver, cores: frozenset[int]) -> None:
        stand_aside(driver, cores)
        self._turn = asyncio.Lock()
        self._reporter: Reporter | None = None
        self._writer: Any = None

    async def open(self, run_dir: Path, writer: ActorHandle[Any]) -> None:
        self._reporter, self._writer = Reporter(run_dir), writer

    async def catch_up(self) -> tuple[str, str]:
        """What is wrong with the report, in one sentence, or nothing; and no more."""
        async with self._turn:
            reporter = await self._read()
            reporter.write_if_due()
            return reporter.trouble, ""

    async def finish(self) -> tuple[str, str]:
        """The same answer."""
        async with self._turn:
            reporter = await self._read()
            reporter.write()
            return reporter.trouble, ""

    async def _read(self) -> Reporter:
        reporter = self._reporter
        assert reporter is not None  # opened before anything else
        while rows := await self._writer.read.remote(reporter.position, REPORTED_AT_ONCE):
            reporter.record(decode(rows))
        return reporter
