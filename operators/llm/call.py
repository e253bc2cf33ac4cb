"""One call's outside: its options, what is sent, what a refusal names, what it may cost."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

from operators.llm.question import Failure, Message, Reply, Request

CHARACTERS_A_TOKEN = 3.0
"""Of code and English, low on purpose: an estimate should not fall short."""

FEWEST_CHARACTERS_A_TOKEN = 2.0
"""What a reservation reckons with."""

MESSAGE_CHARACTERS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """One model as it is to be called. Options that are None are not sent."""

    model: str
    max_tokens: int
    stream: bool
    timeout_s: float
    use_schema: bool | None = None  # None: found out at the first refusal
    temperature: float | None = None
    top_p: float | None = None
    reasoning_effort: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)


class NoReply(Exception):
    """A call that brought no reply. reason: one sentence without the key."""

    def __init__(self, kind: Failure, reason: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(kind, reason, retry_after_s)
        self.kind = kind
        self.reason = reason
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return self.reason


class ApiKey:
    """A secret that does not print. Absent (an endpoint without keys): an empty one."""

    __slots__ = ("_value",)

    def __init__(self, value: str = "") -> None:
        self._value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiKey) and self._value == other._value

    def __hash__(self) -> int:
        return hash(self._value)

    def reveal(self) -> str:
        return self._value

    def redact(self, text: str) -> str:
        return text.replace(self._value, "[key]") if self._value else text

    def __repr__(self) -> str:
        return "ApiKey([key])"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("an ApiKey stays in the process that read it")


def body_of(request: Request, options: ModelOptions, left_out: set[str]) -> dict[str, Any]:
    """The request's JSON. left_out: what the model has refused before."""
    body: dict[str, Any] = {
        "model": options.model,
        "messages": _messages(request.prompt.messages, system="system" not in left_out),
        "stream": options.stream,
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "top_p": options.top_p,
        "reasoning_effort": options.reasoning_effort,
    }
    if options.stream:
        body["stream_options"] = {"include_usage": True}
    if request.schema is not None and options.use_schema is not False:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": request.role, "strict": True, "schema": request.schema},
        }
    if "max_tokens" in left_out:
        body["max_completion_tokens"] = body.pop("max_tokens")
    return {k: v for k, v in body.items() if v is not None and k not in left_out}


def refused_option(said: str, body: Mapping[str, Any]) -> str:
    """Which of the options sent a 400 or 422 complains of; empty when it names none."""
    text = said.lower()
    for option, pattern in _OPTIONS.items():
        if option in body and re.search(pattern, text):
            return option
    messages = body.get("messages") or [{}]
    return "system" if messages[0].get("role") == "system" and "system" in text else ""


def context_too_long(said: str) -> bool:
    return bool(_CONTEXT.search(said))


_CONTEXT = re.compile(
    r"context.{0,30}(length|window|size)|maximum context|too many tokens|prompt is too long"
    r"|(input|prompt).{0,40}(longer than|exceeds?)",
    re.IGNORECASE,
)
_OPTIONS = {
    "response_format": r"response_format|json_schema|json schema|guided|structured output",
    "stream_options": r"stream_options",
    "reasoning_effort": r"reasoning_effort|reasoning effort",
    "temperature": r"temperature",
    "top_p": r"top_p",
    "max_tokens": r"max_tokens.{0,80}(max_completion_tokens|not supported|unsupported)",
}


def estimated_tokens(messages: tuple[Message, ...]) -> int:
    """Tokens of a prompt by its characters."""
    return round(sum(len(m.content) for m in messages) / CHARACTERS_A_TOKEN) + 8 * len(messages)


def most_tokens(messages: tuple[Message, ...]) -> int:
    """Tokens of a prompt at most, for a reservation."""
    return round(sum(len(m.content) for m in messages) / FEWEST_CHARACTERS_A_TOKEN) + 100


def hides_tokens(reply: Reply) -> bool:
    """Whether more was generated than was shown: reasoning that an endpoint keeps to itself."""
    shown = len(reply.text) + reply.reasoning_characters + len(reply.refusal)
    return not reply.estimated and reply.completion_tokens > shown / FEWEST_CHARACTERS_A_TOKEN + 100


def _messages(messages: tuple[Message, ...], *, system: bool) -> list[dict[str, str]]:
    plain = [{"role": m.role, "content": m.content} for m in messages]
    if not system and len(plain) > 1 and plain[0]["role"] == "system":
        first, second, *rest = plain
        joined = first["content"] + "\n\n" + second["content"]
        return [{"role": "user", "content": joined}, *rest]
    return plain


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from Retry-After in seconds or as a date; None when there is none."""
    value = headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_CHARACTERS else line[:MESSAGE_CHARACTERS] + "..."
