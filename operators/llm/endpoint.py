"""The client of OpenAI-compatible endpoints: messages in, a Reply or a NoReply out."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import httpx2
import openai

from operators.llm.call import (
    ApiKey,
    ModelOptions,
    NoReply,
    body_of,
    context_too_long,
    estimated_tokens,
    one_line,
    refused_option,
    retry_after,
)
from operators.llm.completion import Completion, completion_of
from operators.llm.question import Failure, Reply, Request

CONNECT_S = 15.0


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

    async def close(self) -> None:
        await self._client.close()

    async def call(
        self, request: Request, options: ModelOptions, heard: Completion | None = None
    ) -> Reply:
        """One HTTP request. heard: takes in what is streamed, for who cuts it off.

        Raises NoReply.
        """
        heard = heard or Completion()
        body = body_of(request, options, self._left_out.setdefault(options.model, set()))
        began = time.monotonic()
        try:
            async with asyncio.timeout(options.timeout_s):
                completion = await self._completion(body, options, heard)
        except TimeoutError:
            failed = NoReply(
                Failure.TIMEOUT, f"no reply within timeout_s = {options.timeout_s:g} seconds"
            )
        except (openai.OpenAIError, httpx2.TransportError, NoReply) as error:
            failed = self._failed(error, options, body)
        else:
            return _reply(completion, request, options, time.monotonic() - began)
        raise failed

    async def models(self) -> list[str] | None:
        """The ids the endpoint lists; None when it has no such list. Raises NoReply."""
        try:
            async with asyncio.timeout(CONNECT_S):
                page = await self._client.models.list()
            return [model.id for model in page.data]
        except (openai.NotFoundError, openai.PermissionDeniedError):
            return None
        except TimeoutError:
            failed = NoReply(Failure.TIMEOUT, "no answer to GET /models")
        except (openai.OpenAIError, httpx2.TransportError) as error:
            failed = self._failed(error, None, {})
        if failed.kind in (Failure.BAD_REQUEST, Failure.UNKNOWN_MODEL, Failure.SERVER_ERROR):
            return None  # the list is optional; the first call will tell
        raise failed

    # --- sending ------------------------------------------------------------------------------

    async def _completion(
        self, body: Mapping[str, Any], options: ModelOptions, heard: Completion
    ) -> Completion:
        # Raw lines: parsed chunks cost the client 13 times the CPU (1,000 chunks: 323 ms, 25 ms).
        timeout = openai.Timeout(options.timeout_s, connect=CONNECT_S)
        async with self._client.chat.completions.with_streaming_response.create(
            **body, extra_body=dict(options.extra_body) or None, timeout=timeout
        ) as response:
            if options.stream:
                return await _streamed(response.iter_lines(), heard)
            return _whole(await response.read())

    # --- what went wrong ------------------------------------------------------------------------

    def _failed(
        self, error: Exception, options: ModelOptions | None, body: Mapping[str, Any]
    ) -> NoReply:
        match error:
            case NoReply():
                return NoReply(error.kind, self._key.redact(error.reason))
            case openai.APITimeoutError() if isinstance(error.__cause__, httpx2.ConnectTimeout):
                return NoReply(
                    Failure.UNREACHABLE,
                    f"nothing answers at {self.base_url} within {CONNECT_S:g} s; look whether the "
                    "server runs and the network lets it through, or set llm.base_url",
                )
            case openai.APITimeoutError() | httpx2.TimeoutException():
                return NoReply(Failure.TIMEOUT, f"{self.base_url} did not answer in time")
            case openai.APIStatusError():
                return self._refused(error, options, body)
            case openai.APIConnectionError() if isinstance(error.__cause__, httpx2.ConnectError):
                return NoReply(
                    Failure.UNREACHABLE,
                    f"nothing answers at {self.base_url}; start the server there, or set "
                    "llm.base_url",
                )
            case openai.APIConnectionError() | httpx2.TransportError():
                return NoReply(
                    Failure.DROPPED, f"{self.base_url} ended the connection before its reply"
                )
        return NoReply(Failure.BAD_REQUEST, self._key.redact(one_line(str(error))))

    def _refused(
        self,
        error: openai.APIStatusError,
        options: ModelOptions | None,
        body: Mapping[str, Any],
    ) -> NoReply:
        told = error.message.removeprefix(f"Error code: {error.status_code} - ")
        said = self._key.redact(one_line(told))
        model = options.model if options else ""
        match error.status_code:
            case 401 | 403:
                return NoReply(
                    Failure.UNAUTHORISED,
                    f"{self.base_url} refuses the key ({said}); set the variable that "
                    "llm.api_key_env names",
                )
            case 404:
                return NoReply(
                    Failure.UNKNOWN_MODEL,
                    f"{self.base_url} has no model {model!r} ({said}); set llm.models to what it "
                    "serves",
                )
            case 402:
                return NoReply(Failure.NO_CREDIT, f"{self.base_url}: {said}; add credit")
            case 429 if error.code == "insufficient_quota":
                return NoReply(Failure.NO_CREDIT, f"{self.base_url}: {said}; add credit")
            case 408:
                return NoReply(Failure.TIMEOUT, said)
            case 409 | 425 | 429:
                return NoReply(
                    Failure.RATE_LIMITED, said, retry_after_s=retry_after(error.response.headers)
                )
            case status if status >= 500:
                return NoReply(
                    Failure.SERVER_ERROR, said, retry_after_s=retry_after(error.response.headers)
                )
        if context_too_long(said):
            return NoReply(
                Failure.CONTEXT_TOO_LONG,
                f"the prompt is too long for {model!r} ({said}); serve it with a longer context, "
                "or lower its max_tokens in llm.models",
            )
        refused = refused_option(f"{said} {error.param or ''}", body)
        if refused:
            self._left_out.setdefault(model, set()).add(refused)
            return NoReply(
                Failure.UNSUPPORTED_OPTION, f"{model!r} does not take {refused} ({said})"
            )
        return NoReply(Failure.BAD_REQUEST, f"{model!r} refuses the request ({said})")


async def _streamed(lines: AsyncIterator[str], completion: Completion) -> Completion:
    async for line in lines:
        if completion.take_line(line):
            break
        if completion.error:
            raise NoReply(Failure.SERVER_ERROR, one_line(completion.error))
    else:
        if not completion.finish:
            raise NoReply(Failure.DROPPED, "the stream ended before its last chunk")
    return completion


def _whole(data: bytes) -> Completion:
    try:
        return completion_of(json.loads(data))
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        raise NoReply(
            Failure.BROKEN_BODY,
            f"not a chat completion: {one_line(data[:200].decode(errors='replace'))}",
        ) from None


def _reply(
    completion: Completion, request: Request, options: ModelOptions, latency_s: float
) -> Reply:
    text, reasoning = completion.text_and_reasoning()
    counted = completion.prompt_tokens is not None and completion.completion_tokens is not None
    return Reply(
        text=text,
        finish=completion.finish or "stop",
        model=completion.model or options.model,
        prompt_tokens=completion.prompt_tokens
        if completion.prompt_tokens is not None
        else estimated_tokens(request.prompt.messages),
        completion_tokens=completion.generated_tokens,
        estimated=not counted,
        latency_s=round(latency_s, 3),
        refusal=completion.refusal,
        reasoning_characters=reasoning,
    )
