"""Whether a call was paid twice: by the store's account, and by the endpoint's."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved
from scripts.llm_loop.log import Log


def digest(messages: Iterable[Mapping[str, str]]) -> str:
    shown = [[one["role"], one["content"]] for one in messages]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def calls(log: Log) -> dict[str, Any]:
    """No question may be answered twice once its reply is stored: neither by the store's account,
    nor by the endpoint's, which knows bodies only."""
    stored = Counter(event.request for _, event in log.of(CallReplied))
    reserved = {event.key: event for _, event in log.of(CallReserved)}
    settled = {e.key for _, e in log.of(CallReplied)} | {e.key for _, e in log.of(CallFailed)}
    bodies: Counter[str] = Counter(
        digest({"role": m.role, "content": m.content} for m in event.prompt)
        for event in reserved.values()
    )
    answered = Counter(digest(one.body["messages"]) for one in log.calls if one.answered)
    return {
        "reserved": len(reserved),
        "replied": sum(stored.values()),
        "lost_in_the_kill": len(reserved.keys() - settled),
        "questions_answered_twice": [key for key, count in stored.items() if count > 1],
        "bodies_answered_more_often_than_reserved": sum(
            count > bodies[body] for body, count in answered.items()
        ),
        "asked_again_after_its_reply_was_stored": _again(log),
        "faults": dict(Counter(one.fault for one in log.calls if one.fault)),
    }


def _again(log: Log) -> list[str]:
    """Questions reserved once more after a reply to them was stored."""
    done: set[str] = set()
    found: list[str] = []
    for one in log.events:
        if isinstance(one.event, CallReplied):
            done.add(one.event.request)
        elif isinstance(one.event, CallReserved) and one.event.request in done:
            found.append(one.event.key)
    return found
