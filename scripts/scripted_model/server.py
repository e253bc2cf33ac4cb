"""A scripted OpenAI-compatible HTTP server: real HTTP, set latency and faults, a log of it all.

What it answers is made by rule from the prompt; nothing measured with it is a result of a
language model.
"""

import asyncio
import hashlib
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from scripts.scripted_model.answers import answer, role_of
from scripts.scripted_model.faults import CALL_FAULTS, REPLY_FAULTS, STREAM_FAULTS, spoilt
from scripts.scripted_model.stream import event, pieces, until_left

MODEL = "scripted"
CHUNKS_A_WRITE = 25

Rule = Callable[[Sequence[Mapping[str, str]], int], str]
"""(messages, number of the call) -> the text of a sound reply."""


@dataclass(slots=True)
class Script:
    """What the server does. Faults strike by probability, drawn from seed and call number."""

    latency_s: float = 0.0
    spread: float = 0.0  # share of latency_s by which a reply comes earlier or later, at most
    chunks: int = 0  # of a streamed reply; 0: about one for every four characters
    fail: float = 0.0  # share of calls that end in one of CALL_FAULTS
    malform: float = 0.0  # share of replies that are one of REPLY_FAULTS
    seed: int = 0
    retry_after_s: float = 0.05
    hang_s: float = 3600.0  # how long a "timeout" and a "stalled" are silent
    broken_after: int = 0  # chunks of a reply, after which one of STREAM_FAULTS strikes
    plan: list[str] = field(default_factory=list)  # faults of the first calls; "" is none
    replies: list[str] = field(default_factory=list)  # texts of the first sound replies
    rule: Rule = answer
    models: dict[str, Rule] = field(default_factory=dict)  # further ones, by name
    key: str = ""  # a bearer token that is asked for
    usage: bool = True
    refuses: dict[str, str] = field(default_factory=dict)  # field of the request -> 400 message
    context_characters: int = 0  # longer prompts are a 400; 0: no limit
    unique: bool = False  # no two kernels are the same: a comment numbers them
    hidden_tokens: int = 0  # counted in each reply's usage, and not shown
    think: str = ""  # put before each reply, in <think>


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One call as the server saw it. fault: what struck it; text: what was sent whole."""

    number: int
    at_s: float
    body: Mapping[str, Any]
    fault: str
    text: str
    answered: bool

    @property
    def prompt(self) -> str:
        return "\n".join(message["content"] for message in self.body["messages"])


class ScriptedServer:
    """Serves /v1/chat/completions and /v1/models on 127.0.0.1 while it is entered."""

    def __init__(self, script: Script | None = None, *, port: int = 0) -> None:
        self.script = script or Script()
        self.log: list[Logged] = []
        self.calls = self.in_flight = self.most_in_flight = 0
        self.looks = 0  # at the list of models
        self._port = port
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    async def __aenter__(self) -> "ScriptedServer":
        app = web.Application(client_max_size=64 << 20)
        app.router.add_post("/v1/chat/completions", self._completions)
        app.router.add_get("/v1/models", self._models)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        self._port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    # --- requests -------------------------------------------------------------------------------

    async def _models(self, request: web.Request) -> web.Response:
        self.looks += 1
        if refusal := self._unauthorised(request):
            return refusal
        served = [{"id": name, "object": "model"} for name in (MODEL, *self.script.models)]
        return web.json_response({"object": "list", "data": served})

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        number = self.calls
        self.calls += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            return await self._serve(request, number)
        except ConnectionResetError:  # who asked is gone, so nobody reads what it answers
            return web.Response()
        finally:
            self.in_flight -= 1

    async def _serve(self, request: web.Request, number: int) -> web.StreamResponse:
        body = await request.json()
        if refusal := self._unauthorised(request) or self._refused(body):
            self._note(number, body, "refused request", "", answered=False)
            return refusal
        fault = self._fault(number)
        if fault in CALL_FAULTS:
            self._note(number, body, fault, "", answered=False)
            return await self._fail(request, fault)
        text, extra, finish = self._say(body, number, fault)
        await asyncio.sleep(self._latency_s(number))
        if body.get("stream"):
            response = await self._stream(request, body, text, extra, finish, fault)
            if fault in STREAM_FAULTS:
                self._note(number, body, fault, "", answered=False)
                return await self._break_off(request, response, fault)
        else:
            response = web.json_response(self._completion(body, text, extra, finish))
        self._note(number, body, fault, text, answered=True)
        return response

    def _note(
        self, number: int, body: Mapping[str, Any], fault: str, text: str, *, answered: bool
    ) -> None:
        self.log.append(
            Logged(
                number=number,
                at_s=time.monotonic(),
                body=body,
                fault=fault,
                text=text,
                answered=answered,
            )
        )

    def _unauthorised(self, request: web.Request) -> web.Response | None:
        if not self.script.key:
            return None
        said = request.headers.get("Authorization", "")
        if said == f"Bearer {self.script.key}":
            return None
        return _error(401, f"Incorrect API key provided: {said.removeprefix('Bearer ')}")

    def _refused(self, body: Mapping[str, Any]) -> web.Response | None:
        if body["model"] not in (MODEL, *self.script.models):
            return _error(404, f"The model `{body['model']}` does not exist.")
        for name, message in self.script.refuses.items():
            if name in body or (name == "system" and body["messages"][0]["role"] == "system"):
                return _error(400, message)
        characters = sum(len(message["content"]) for message in body["messages"])
        if 0 < self.script.context_characters < characters:
            return _error(
                400,
                "This model's maximum context length is "
                f"{self.script.context_characters // 4} tokens; shorten the messages.",
            )
        return None

    def _fault(self, number: int) -> str:
        script = self.script
        if number < len(script.plan):
            return script.plan[number]
        draw = random.Random(f"{script.seed}/{number}")
        struck = draw.random()
        if struck < script.fail:
            return draw.choice(CALL_FAULTS)
        if struck < script.fail + (1 - script.fail) * script.malform:
            return draw.choice(REPLY_FAULTS)
        return ""

    def _latency_s(self, number: int) -> float:
        script = self.script
        draw = random.Random(f"{script.seed}/{number}/latency")
        return script.latency_s * (1 + script.spread * draw.uniform(-1, 1))

    async def _fail(self, request: web.Request, fault: str) -> web.Response:
        if fault == "rate_limited":
            headers = {"Retry-After": f"{self.script.retry_after_s:g}"}
            return _error(429, "Rate limit reached.", headers)
        if fault == "server_error":
            return _error(500, "The server had an error.")
        if fault == "timeout":
            await until_left(request, self.script.hang_s)
        if request.transport is not None:
            request.transport.abort()
        return web.Response()

    async def _break_off(
        self, request: web.Request, response: web.StreamResponse, fault: str
    ) -> web.StreamResponse:
        if fault == "stalled":
            await until_left(request, self.script.hang_s)
        if fault == "error":
            await response.write(b'data: {"error": {"message": "out of memory"}}\n\n')
        elif request.transport is not None:
            request.transport.abort()
        return response

    # --- replies --------------------------------------------------------------------------------

    def _say(self, body: Mapping[str, Any], number: int, fault: str) -> tuple[str, Any, str]:
        """Text, further fields of the message, finish reason."""
        messages = body["messages"]
        sound = self.script.replies.pop(0) if self.script.replies else ""
        rule = self.script.models.get(body["model"], self.script.rule)
        text = sound or rule(messages, number)
        if self.script.unique:
            text = text.replace("---*/\n", f"---*/\n// of reply {number}\n", 1)
        if fault and fault not in STREAM_FAULTS:
            return spoilt(fault, text, role_of(messages))
        if self.script.think:
            text = f"<think>{self.script.think}</think>\n{text}"
        return text, {}, "stop"

    def _usage(self, body: Mapping[str, Any], text: str) -> dict[str, int]:
        prompt = sum(len(message["content"]) for message in body["messages"]) // 4
        completion = max(1, len(text) // 4) + self.script.hidden_tokens
        return {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }

    def _completion(
        self, body: Mapping[str, Any], text: str, extra: Mapping[str, Any], finish: str
    ) -> dict[str, Any]:
        message = {"role": "assistant", "content": text or None, **extra}
        whole = {
            "id": f"chatcmpl-{_digest(text)}",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        return {**whole, "usage": self._usage(body, text)} if self.script.usage else whole

    async def _stream(
        self,
        request: web.Request,
        body: Mapping[str, Any],
        text: str,
        extra: Mapping[str, Any],
        finish: str,
        fault: str = "",
    ) -> web.StreamResponse:
        """Whole, or its first chunks where the stream is to break."""
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        await response.write(event(body, {"role": "assistant", **extra}, None))
        before, after = event(body, {"content": "@"}, None).decode().split('"@"')
        events = [
            f"{before}{json.dumps(piece)}{after}" for piece in pieces(text, self.script.chunks)
        ]
        if fault in STREAM_FAULTS:
            await response.write("".join(events[: self.script.broken_after]).encode())
            return response
        # Several chunks a write, as they meet in the sockets between a model and its user.
        for start in range(0, len(events), CHUNKS_A_WRITE):
            await response.write("".join(events[start : start + CHUNKS_A_WRITE]).encode())
        await response.write(event(body, {}, finish))
        if self.script.usage and (body.get("stream_options") or {}).get("include_usage"):
            usage = {"model": body["model"], "choices": [], "usage": self._usage(body, text)}
            await response.write(b"data: " + json.dumps(usage).encode() + b"\n\n")
        await response.write(b"data: [DONE]\n\n")
        await response.write_eof()
        return response


def _error(status: int, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    body = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    return web.json_response(body, status=status, headers=headers)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
