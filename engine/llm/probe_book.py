"""The book of probes: what designers asked of devices, and what of the budget is left."""

import re
from itertools import islice

from engine.store.journal import Journal
from engine.store.kinds.probes import ProbeClaimed, ProbeLog, ProbesTold, ProbeWritten
from operators.operator import AskedProbe, ProbesLeft


class ProbeBook:
    """Of a whole campaign. What was said of a probe once is said again after a kill."""

    def __init__(self, journal: Journal, *, most: int = 0, log: ProbeLog | None = None) -> None:
        """most: probes that may be written, over all sessions; log: empty, or replayed."""
        self._journal, self._most = journal, most
        self._log = ProbeLog() if log is None else log

    async def tell(self, island: int, cycle: int) -> ProbesLeft:
        """What a cycle's designer may know; on the same question the same again."""
        granted = self._log.granted
        left = max(0, self._most - len(granted))
        event = ProbesTold(island=island, cycle=cycle, left=left, count=len(granted))
        if event.key not in self._log.told:
            self._log.apply(event)
            await self._journal.commit(event)
        told = self._log.told[event.key]
        asked = tuple(one.question for one in islice(granted, told.count))
        return ProbesLeft(count=told.left, asked=asked)

    async def claim(self, island: int, cycle: int, number: int, asked: AskedProbe) -> bool:
        """Whether a probe is to be written: it is within the budget, and was not asked before."""
        repeats = self._earlier(asked.question)
        spent = len(self._log.granted) >= self._most
        event = ProbeClaimed(
            island=island,
            cycle=cycle,
            number=number,
            question=asked.question,
            rubric=asked.rubric,
            became="repeated" if repeats else "refused" if spent else "granted",
            repeats=repeats,
        )
        if event.key not in self._log.claims:
            self._log.apply(event)
            await self._journal.commit(event)
        return self._log.claims[event.key].became == "granted"

    async def write(self, event: ProbeWritten) -> bool:
        """Store a probe's file before a device is given it. False: an earlier session did."""
        if event.key in self._log.written:
            return False
        self._log.apply(event)
        await self._journal.commit(event)
        return True

    def _earlier(self, question: str) -> str:
        """The key of the probe that asks the same in the same words; "" where there is none."""
        words = _words(question)
        same = (one.key for one in self._log.granted if _words(one.question) == words)
        return next(same, "")


def _words(question: str) -> list[str]:
    return re.findall(r"\w+", question.lower())
