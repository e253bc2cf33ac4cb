"""The client against a real HTTP endpoint: streams, odd replies, refused options, faults."""

import asyncio
import pickle
import socket
from collections.abc import Callable
from typing import Any

import pytest

from operators.llm.call import ApiKey, NoReply, estimated_tokens
from operators.llm.endpoint import Endpoint
from operators.llm.question import Failure, Message, Prompt, Reply, Request
from scripts.scripted_model.server import Script, ScriptedServer
from tests.operators.people import options

KEY = "sk-very-secret-0123456789"


def question(text: str = "Say something.", schema: dict[str, Any] | None = None) -> Request:
    messages = (
        Message(role="system", content="You are the Selector in a search for nothing."),
        Message(role="user", content=text),
    )
    return Request(
        key="i0/c1/select/selector/0",
        role="selector",
        island=0,
        cycle=1,
        prompt=Prompt(messages=messages, template="t"),
        schema=schema,
    )


def call(
    script: Script, request: Request | None = None, *, key: str = "", **changes: object
) -> tuple[Reply, ScriptedServer]:
    async def go() -> tuple[Reply, ScriptedServer]:
        async with ScriptedServer(script) as server:
            endpoint = Endpoint(server.base_url, ApiKey(key))
            reply = await endpoint.call(request or question(), options(**changes))
            await endpoint.close()
            return reply, server

    return asyncio.run(go())


def failed(script: Script, **changes: Any) -> NoReply:
    with pytest.raises(NoReply) as caught:
        call(script, **changes)
    return caught.value


def saying(text: str) -> Callable[[Any, int], str]:
    return lambda messages, number: text


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("text", ["plain", "two\nlines\n", "wörter — 漢字 🙂", "x" * 50_000])
def test_text_arrives_as_it_was_sent(stream: bool, text: str) -> None:
    reply, server = call(Script(rule=saying(text)), stream=stream)
    assert reply.text == text.strip()
    assert reply.finish == "stop"
    assert not reply.estimated
    assert reply.completion_tokens == max(1, len(text) // 4)
    assert server.log[0].body["stream"] is stream


@pytest.mark.parametrize("stream", [True, False])
def test_without_usage_tokens_are_estimated_and_marked(stream: bool) -> None:
    reply, _ = call(Script(rule=saying("a" * 300), usage=False), stream=stream)
    assert reply.estimated
    assert reply.completion_tokens == 100
    assert reply.prompt_tokens == estimated_tokens(question().prompt.messages)


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("<think>Tiles?</think>\nAnswer", "Answer"),
        ("Tiles? The template opened the block.</think>Answer", "Answer"),
        ("<think>cut off in the middle of", ""),
        ("Answer", "Answer"),
    ],
)
def test_think_blocks_are_reasoning_not_answer(stream: bool, said: str, text: str) -> None:
    reply, _ = call(Script(rule=saying(said)), stream=stream)
    assert reply.text == text
    assert (reply.reasoning_characters > 0) == (said != "Answer")


@pytest.mark.parametrize("stream", [True, False])
def test_reasoning_content_without_content(stream: bool) -> None:
    reply, _ = call(Script(plan=["only_reasoning"], rule=saying("x")), stream=stream)
    assert reply.text == ""
    assert reply.reasoning_characters > 100


@pytest.mark.parametrize("stream", [True, False])
def test_refusal_and_cut_off(stream: bool) -> None:
    assert (
        "can't help" in call(Script(plan=["refusal"], rule=saying("x")), stream=stream)[0].refusal
    )
    cut = call(Script(plan=["truncated"], rule=saying("123456789")), stream=stream)[0]
    assert (cut.text, cut.finish) == ("123456", "length")


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("rate_limited", Failure.RATE_LIMITED),
        ("server_error", Failure.SERVER_ERROR),
        ("dropped", Failure.DROPPED),
        ("timeout", Failure.TIMEOUT),
    ],
)
def test_every_fault_of_a_call_has_its_kind(stream: bool, fault: str, kind: Failure) -> None:
    timeout_s = 0.5 if fault == "timeout" else 20
    error = failed(Script(plan=[fault], retry_after_s=7), stream=stream, timeout_s=timeout_s)
    assert error.kind is kind
    assert error.retry_after_s == (7 if fault == "rate_limited" else None)
    assert "\n" not in error.reason


CHUNK = b'data: {"choices":[{"delta":{"content":"half"}}]}\n\n'


@pytest.mark.parametrize(
    ("sent", "stream", "kind"),
    [
        (CHUNK, True, Failure.DROPPED),
        (b'data: {"error": {"message": "out of memory"}}\n\n', True, Failure.SERVER_ERROR),
        (b'{"choices": []}', False, Failure.BROKEN_BODY),
        (b"<html>a proxy says hello</html>", False, Failure.BROKEN_BODY),
        (b"[1, 2]", False, Failure.BROKEN_BODY),
    ],
)
@pytest.mark.parametrize("head", [b"Connection: close", b"Content-Length: 4000"])
def test_bodies_that_are_no_reply(sent: bytes, stream: bool, kind: Failure, head: bytes) -> None:
    """Whole ones that make no sense, and such as are shorter than was announced."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\n" + head + b"\r\n\r\n" + sent)
        await writer.drain()
        writer.close()

    async def go() -> None:
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        with pytest.raises(NoReply) as caught:
            await Endpoint(url, ApiKey()).call(question(), options(stream=stream))
        server.close()
        short = head.startswith(b"Content") and kind is Failure.BROKEN_BODY
        assert caught.value.kind is (Failure.DROPPED if short else kind)

    asyncio.run(go())


@pytest.mark.parametrize(
    ("field", "message", "changes"),
    [
        ("temperature", "Unsupported value: 'temperature' does not support 0.5.", {}),
        ("response_format", "This response_format type is unavailable now", {}),
        ("stream_options", "Unrecognized request argument: stream_options", {"stream": True}),
        ("reasoning_effort", "reasoning_effort is not supported by this model", {}),
        ("max_tokens", "'max_tokens' is not supported, use 'max_completion_tokens' instead.", {}),
        ("system", "System role not supported by this template", {}),
    ],
)
def test_a_refused_option_is_left_out_from_then_on(
    field: str, message: str, changes: dict[str, object]
) -> None:
    async def go() -> None:
        async with ScriptedServer(Script(refuses={field: message}, rule=saying("ok"))) as server:
            endpoint = Endpoint(server.base_url, ApiKey())
            given = options(temperature=0.5, reasoning_effort="low", **changes)
            asked = question(schema={"type": "object"})
            with pytest.raises(NoReply) as caught:
                await endpoint.call(asked, given)
            assert caught.value.kind is Failure.UNSUPPORTED_OPTION
            assert field in caught.value.reason
            for _ in range(2):
                assert (await endpoint.call(asked, given)).text == "ok"
            sent = server.log[-1].body
            assert field not in sent
            assert ("max_completion_tokens" in sent) == (field == "max_tokens")
            if field == "system":
                assert [m["role"] for m in sent["messages"]] == ["user"]
                assert "You are the Selector" in sent["messages"][0]["content"]

    asyncio.run(go())


def test_a_schema_is_sent_unless_the_configuration_says_no() -> None:
    asked = question(schema={"type": "object"})
    for use, sent in ((None, True), (True, True), (False, False)):
        _, server = call(Script(rule=saying("x")), asked, use_schema=use)
        assert ("response_format" in server.log[0].body) is sent


def test_what_can_never_work_says_what_to_do() -> None:
    wrong_key = failed(Script(key="another"), key=KEY)
    assert wrong_key.kind is Failure.UNAUTHORISED
    assert KEY not in wrong_key.reason
    assert "llm.api_key_env" in wrong_key.reason
    unknown = failed(Script(), model="gpt-0")
    assert unknown.kind is Failure.UNKNOWN_MODEL
    assert "'gpt-0'" in unknown.reason
    long = failed(Script(context_characters=10))
    assert long.kind is Failure.CONTEXT_TOO_LONG


def test_nothing_at_the_address() -> None:
    async def go() -> NoReply:
        async with ScriptedServer() as server:
            given = options()
            url = server.base_url
        with pytest.raises(NoReply) as caught:
            await Endpoint(url, ApiKey()).call(question(), given)
        return caught.value

    error = asyncio.run(go())
    assert error.kind is Failure.UNREACHABLE
    assert "llm.base_url" in error.reason


def test_an_address_that_swallows_every_packet(monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind a firewall: that is an endpoint that is away, no slow reply."""
    monkeypatch.setattr("operators.llm.endpoint.CONNECT_S", 0.2)

    async def go() -> NoReply:
        with socket.socket() as deaf, socket.socket() as first, socket.socket() as second:
            deaf.bind(("127.0.0.1", 0))
            deaf.listen(0)
            for filling in (first, second):  # nobody accepts them: there is no place for more
                filling.setblocking(False)
                filling.connect_ex(deaf.getsockname())
            url = f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"
            with pytest.raises(NoReply) as caught:
                await Endpoint(url, ApiKey()).call(question(), options())
            return caught.value

    error = asyncio.run(go())
    assert error.kind is Failure.UNREACHABLE
    assert "llm.base_url" in error.reason


def test_the_key_shows_nowhere() -> None:
    key = ApiKey(KEY)
    endpoint = Endpoint("http://127.0.0.1:1/v1", key)
    assert KEY not in repr(key) + str(key) + repr(endpoint) + f"{key}"
    with pytest.raises(TypeError):
        pickle.dumps(key)
    assert key.redact(f"bad key {KEY}!") == "bad key [key]!"
    call(Script(key=KEY, rule=saying("hello")), key=KEY)  # and it is sent


def test_the_list_of_models_may_be_missing() -> None:
    async def models(script: Script, path: str = "") -> list[str] | None:
        async with ScriptedServer(script) as server:
            return await Endpoint(server.base_url + path, ApiKey(script.key)).models()

    assert asyncio.run(models(Script(key=KEY))) == ["scripted"]
    assert asyncio.run(models(Script(), "/none")) is None
