"""A journal of call events in memory, and a gateway over it."""

import asyncio
from collections.abc import Iterable
from typing import Any

from engine.llm.config import Llm
from engine.llm.gateway import Gateway
from engine.store.kinds.calls import CallEvent
from engine.store.spending import CallBudget, CallHistory
from operators.llm.question import Message, Prompt, Request
from scripts.scripted_model.server import MODEL, ScriptedServer


class MemoryJournal:
    """Keeps events in order. A commit takes a moment, as a disk does."""

    def __init__(self, events: Iterable[CallEvent] = ()) -> None:
        self.events: list[CallEvent] = list(events)

    def post(self, event: CallEvent) -> None:
        self.events.append(event)

    async def commit(self, event: CallEvent) -> None:
        self.events.append(event)
        await asyncio.sleep(0)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def section(base_url: str, **changes: Any) -> Llm:
    model = {
        "model": MODEL,
        "stream": False,
        "max_tokens": 1000,
        "dollars_per_million_prompt": 1.0,
        "dollars_per_million_completion": 10.0,
    }
    model |= {key: changes.pop(key) for key in list(changes) if key in LLM_MODEL_KEYS}
    return Llm(base_url=base_url, models={"main": model}, **{"timeout_s": 5, **changes})


LLM_MODEL_KEYS = ("model", "stream", "max_tokens", "temperature", "structured")


def gateway(
    server: ScriptedServer,
    journal: MemoryJournal,
    budget: CallBudget | None = None,
    **changes: Any,
) -> Gateway:
    return Gateway(section(server.base_url, **changes), budget or CallBudget(), journal, {})


def history(events: Iterable[CallEvent]) -> CallHistory:
    """What a resumption makes of a log."""
    found = CallHistory()
    for event in events:
        found.take(event)
    return found


def question(number: int = 0, text: str = "What next?") -> Request:
    return Request(
        key=f"i0/c{number}/s0/writer/0",
        role="writer",
        island=0,
        cycle=number,
        prompt=Prompt(messages=(Message(role="user", content=text),), template="t"),
    )
