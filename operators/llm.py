"""The client of OpenAI-compatible endpoints: messages in, a Reply or a CallFailed out."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2
import openai

from operators.question import Failure, Message, Reply, Request
from operators.sse import Completion, completion_of

CHARACTERS_A_TOKEN = 3.0
"""Of code and English, low on purpose: an estimate should not fall short."""

FEWEST_CHARACTERS_A_TOKEN = 2.0
"""What a reservation reckons with."""

CONNECT_S = 15.0
MESSAGE_CHARACTERS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """One model as it is to be called. Options that are None are not sent."""

    base_url: str
    model: str
    max_tokens: int
    stream: bool
    timeout_s: float
    use_schema: bool | None = None  # None: found out at the first refusal
    temperature: float | None = None
    top_p: float | None = None
    reasoning_effort: str | None = None
    extra_body: Mapping[str, Any] = field(default_factory=dict)


class CallFailed(Exception):
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


class Endpoint:
    """One base URL and one client for the whole life. Remembers what its models don't take."""

    def __init__(self, base_url: str, key: ApiKey) -> None:
        self.base_url = base_url
        self._key = key
        # The gateway does the waiting and the trying again, with Retry-After.
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=key.reveal() or "none", max_retries=0
        )
        self._left_out: dict[str, set[str]] = {}  # by model: options that it refused

    def __repr__(self) -> str:
        return f"Endpoint({self.base_url!r})"

    def has_key(self, key: ApiKey) -> bool:
        return self._key == key

    async def close(self) -> None:
        await self._client.close()

    async def call(self, request: Request, options: ModelOptions) -> Reply:
        """One HTTP request. Raises CallFailed."""
        body = self._body(request, options)
        began = time.monotonic()
        try:
            async with asyncio.timeout(options.timeout_s):
                completion = await self._completion(body, options)
        except TimeoutError:
            failed = CallFailed(
                Failure.TIMEOUT, f"no reply within timeout_s = {options.timeout_s:g} seconds"
            )
        except (openai.OpenAIError, httpx2.TransportError, CallFailed) as error:
            failed = self._failed(error, options, body)
        else:
            return _reply(completion, request, options, time.monotonic() - began)
        raise failed

    async def models(self) -> list[str] | None:
        """The ids the endpoint lists; None when it has no such list. Raises CallFailed."""
        try:
            async with asyncio.timeout(CONNECT_S):
                page = await self._client.models.list()
            return [model.id for model in page.data]
        except (openai.NotFoundError, openai.PermissionDeniedError):
            return None
        except TimeoutError:
            failed = CallFailed(Failure.TIMEOUT, "no answer to GET /models")
        except (openai.OpenAIError, httpx2.TransportError) as error:
            failed = self._failed(error, None, {})
        if failed.kind in (Failure.BAD_REQUEST, Failure.UNKNOWN_MODEL, Failure.SERVER_ERROR):
            return None  # the list is optional; the first call will tell
        raise failed

    # --- sending ------------------------------------------------------------------------------

    def _body(self, request: Request, options: ModelOptions) -> dict[str, Any]:
        out = self._left_out.setdefault(options.model, set())
        body: dict[str, Any] = {
            "model": options.model,
            "messages": _messages(request.prompt.messages, system="system" not in out),
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
        if "max_tokens" in out:
            body["max_completion_tokens"] = body.pop("max_tokens")
        return {k: v for k, v in body.items() if v is not None and k not in out}

    async def _completion(self, body: Mapping[str, Any], options: ModelOptions) -> Completion:
        # Raw lines: parsed chunks cost the client 13 times the CPU (1,000 chunks: 323 ms, 25 ms).
        timeout = openai.Timeout(options.timeout_s, connect=CONNECT_S)
        async with self._client.chat.completions.with_streaming_response.create(
            **body, extra_body=dict(options.extra_body) or None, timeout=timeout
        ) as response:
            if options.stream:
                return await _streamed(response.iter_lines())
            return _whole(await response.read())

    # --- what went wrong ------------------------------------------------------------------------

    def _failed(
        self, error: Exception, options: ModelOptions | None, body: Mapping[str, Any]
    ) -> CallFailed:
        match error:
            case CallFailed():
                return CallFailed(error.kind, self._key.redact(error.reason))
            case openai.APITimeoutError() | httpx2.TimeoutException():
                return CallFailed(Failure.TIMEOUT, f"{self.base_url} did not answer in time")
            case openai.APIStatusError():
                return self._refused(error, options, body)
            case openai.APIConnectionError() if isinstance(error.__cause__, httpx2.ConnectError):
                return CallFailed(
                    Failure.UNREACHABLE,
                    f"nothing answers at {self.base_url}; start the server there, or set "
                    "llm.base_url",
                )
            case openai.APIConnectionError() | httpx2.TransportError():
                return CallFailed(
                    Failure.DROPPED, f"{self.base_url} ended the connection before its reply"
                )
        return CallFailed(Failure.BAD_REQUEST, self._key.redact(_one_line(str(error))))

    def _refused(
        self,
        error: openai.APIStatusError,
        options: ModelOptions | None,
        body: Mapping[str, Any],
    ) -> CallFailed:
        said = self._key.redact(_one_line(error.message))
        model = options.model if options else ""
        match error.status_code:
            case 401 | 403:
                return CallFailed(
                    Failure.UNAUTHORISED,
                    f"{self.base_url} refuses the key ({said}); set the variable that "
                    "llm.api_key_env names",
                )
            case 404:
                return CallFailed(
                    Failure.UNKNOWN_MODEL,
                    f"{self.base_url} has no model {model!r} ({said}); set llm.models to what it "
                    "serves",
                )
            case 402:
                return CallFailed(Failure.NO_CREDIT, f"{self.base_url}: {said}; add credit")
            case 429 if error.code == "insufficient_quota":
                return CallFailed(Failure.NO_CREDIT, f"{self.base_url}: {said}; add credit")
            case 408:
                return CallFailed(Failure.TIMEOUT, said)
            case 409 | 425 | 429:
                return CallFailed(
                    Failure.RATE_LIMITED, said, retry_after_s=_retry_after(error.response.headers)
                )
            case status if status >= 500:
                return CallFailed(
                    Failure.SERVER_ERROR, said, retry_after_s=_retry_after(error.response.headers)
                )
        if _CONTEXT.search(said):
            return CallFailed(
                Failure.CONTEXT_TOO_LONG, f"the prompt is too long for {model!r} ({said})"
            )
        refused = self._refused_option(said, error.param, body)
        if refused:
            self._left_out.setdefault(model, set()).add(refused)
            return CallFailed(
                Failure.UNSUPPORTED_OPTION, f"{model!r} does not take {refused} ({said})"
            )
        return CallFailed(Failure.BAD_REQUEST, f"{model!r} refuses the request ({said})")

    def _refused_option(self, said: str, param: str | None, body: Mapping[str, Any]) -> str:
        """Which of the options sent a 400 or 422 complains of, if it names one."""
        text = f"{said} {param or ''}".lower()
        for option, pattern in _OPTIONS.items():
            if option in body and re.search(pattern, text):
                return option
        first = body.get("messages", [{}])[0]
        return "system" if first.get("role") == "system" and "system" in text else ""


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


def _messages(messages: tuple[Message, ...], *, system: bool) -> list[dict[str, str]]:
    plain = [{"role": m.role, "content": m.content} for m in messages]
    if not system and len(plain) > 1 and plain[0]["role"] == "system":
        first, second, *rest = plain
        joined = first["content"] + "\n\n" + second["content"]
        return [{"role": "user", "content": joined}, *rest]
    return plain


async def _streamed(lines: AsyncIterator[str]) -> Completion:
    completion = Completion()
    async for line in lines:
        if completion.take_line(line):
            break
        if completion.error:
            raise CallFailed(Failure.SERVER_ERROR, _one_line(completion.error))
    else:
        if not completion.finish:
            raise CallFailed(Failure.DROPPED, "the stream ended before its last chunk")
    return completion


def _whole(data: bytes) -> Completion:
    try:
        return completion_of(json.loads(data))
    except (ValueError, TypeError, LookupError, AttributeError):
        raise CallFailed(
            Failure.BROKEN_BODY,
            f"not a chat completion: {_one_line(data[:200].decode(errors='replace'))}",
        ) from None


def _reply(
    completion: Completion, request: Request, options: ModelOptions, latency_s: float
) -> Reply:
    text, reasoning = completion.text_and_reasoning()
    counted = completion.prompt_tokens is not None and completion.completion_tokens is not None
    written = len(completion.content) + len(completion.reasoning) + len(completion.refusal)
    return Reply(
        text=text,
        finish=completion.finish or "stop",
        model=completion.model or options.model,
        prompt_tokens=completion.prompt_tokens
        if completion.prompt_tokens is not None
        else estimated_tokens(request.prompt.messages),
        completion_tokens=completion.completion_tokens
        if completion.completion_tokens is not None
        else round(written / CHARACTERS_A_TOKEN),
        estimated=not counted,
        latency_s=round(latency_s, 3),
        refusal=completion.refusal,
        reasoning_characters=reasoning,
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
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


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MESSAGE_CHARACTERS else line[:MESSAGE_CHARACTERS] + "..."
