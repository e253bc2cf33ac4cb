"""A reply cut into the events of a stream, and waiting until nobody reads it."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from aiohttp import web


def pieces(text: str, count: int) -> Iterator[str]:
    size = max(1, len(text) // count) if count else 4
    yield from (text[i : i + size] for i in range(0, len(text), size))


def event(body: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None) -> bytes:
    chunk = {
        "id": "chatcmpl-0",
        "object": "chat.completion.chunk",
        "model": body["model"],
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


async def until_left(request: web.Request, seconds: float) -> None:
    """Until whoever asked has gone away, for at most so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and request.transport and not request.transport.is_closing():
        await asyncio.sleep(0.01)
