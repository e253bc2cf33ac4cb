"""What may be wrong with a scripted endpoint's calls and replies."""

import re
from typing import Any

CALL_FAULTS = ("rate_limited", "server_error", "dropped", "timeout")
STREAM_FAULTS = ("stalled", "cut", "error")
"""In the middle of a streamed reply: silence, the end of the connection, an error message."""

REPLY_FAULTS = (
    "malformed_json",
    "prose_only",
    "truncated",
    "missing_fields",
    "unknown_ids",
    "refusal",
    "only_reasoning",
)


def spoilt(fault: str, text: str, role: str) -> tuple[str, dict[str, Any], str]:
    """A reply with something wrong with it: text, further fields, finish reason."""
    match fault:
        case "malformed_json":
            # In a kernel file it is the front matter that breaks.
            return text.replace("args: [", "args: ", 1).replace('":', '"', 1), {}, "stop"
        case "prose_only":
            return (
                "One could tile this kernel, and that would surely help a great deal.",
                {},
                "stop",
            )
        case "truncated":
            return text[: len(text) * 2 // 3], {}, "length"
        case "missing_fields":
            if role == "selector":
                return re.sub(r'"rationale": .*"', '"why": ""', text), {}, "stop"
            if role == "designer":
                return text.replace('"rubric"', '"plan"'), {}, "stop"
            return re.sub(r"/\*---.*?---\*/", "", text, flags=re.DOTALL), {}, "stop"
        case "unknown_ids":
            return re.sub(r"\b[0-9a-f]{16}\b", "feedfacefeedface", text), {}, "stop"
        case "refusal":
            return "", {"refusal": "I can't help with that."}, "stop"
        case "only_reasoning":
            return "", {"reasoning_content": "Let me think about the tiles. " * 20}, "stop"
    raise ValueError(f"no fault is called {fault!r}")
