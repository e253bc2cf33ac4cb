"""A reply cut into the events of a stream."""

import json
from collections.abc import Iterator, Mapping
from typing import Any


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
