"""Whatever text arrives from a model or a file, the outcome is a verdict, and the store is read."""

import json
from pathlib import Path

import pytest

from engine.store.events import Drafted, from_row, to_row
from engine.store.store import Store, read_events
from evaluators.cpu.compiler import CpuCompiler
from evaluators.evaluate import evaluate_file
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import kernel_id, parse_kernel
from operators.individual import Candidate
from operators.llm.completion import completion_of
from operators.llm.kernel_reply import read_kernel
from operators.llm.novelty import shingles
from operators.llm.question import Malformed, Reply
from operators.llm.replies import DesignerReply, SelectorReply
from operators.llm.structured import read_structured
from tests.adversarial.text.planted import ABOUT, outcome

FLAT = "/*---\nlaunches: [{kernel: k, grid: [1], block: [64], args: []}]\n@LINE@\n---*/\nint x;\n"
DEEP = "[" * 3000 + "]" * 3000
LINES = {
    "nested_option": "options: [[-O3]]",
    "mapped_option": "options: [{-O3: 1}]",
    "nested_name": "specialize: [[N]]",
    "number_too_long": "params: {T: " + "9" * 5000 + "}",
    "octal": "params: {T: 0o17}",
    "alias": "params: &a {T: 1}\nspace: *a",
    "laughs": "a: &a [l]\nb: &b [*a, *a]\nc: [*b, *b]",
    "deep": f"options: {DEEP}",
    "minuses": "constraints: ['" + "-" * 390 + "1']",
    "shifted": "constraints: ['1 << 62 << 62']",
    "surrogate": "options: ['\ud800']",
    "escaped_surrogate": 'options: ["\\ud800"]',
    "binary": "options: !!binary aGVsbG8=",
    "merge": "<<: {options: []}",
    "value": "=: 1",
    "date": "params: {T: 2001-99-99}",
    "infinite": "constraints: [.inf]",
    "no_number": "constraints: [.nan]",
    "key_of_lists": "? [a, b]\n: 1",
    "odd_kernel": 'prepare: [{kernel: "k\\u2028", grid: 1, block: 1, args: []}]',
    "documents": "---\na: 1",
    "tab": "\toptions: []",
    "escape": 'options: ["\\x00"]',
}


@pytest.mark.parametrize("name", LINES)
def test_front_matter_has_a_verdict(name: str) -> None:
    text = FLAT.replace("@LINE@", LINES[name])
    with pytest.raises(Rejected) as caught:
        parse_kernel(text).feasible({})
    assert caught.value.status is Status.INVALID
    assert len(caught.value.reason) < 600
    assert caught.value.reason.isprintable()
    assert len(kernel_id(text)) == 16


TEXTS = {
    "surrogate": ABOUT + "int \ud800;",
    "surrogate_in_a_comment": ABOUT + "// \udfff\n__global__ void k() {}",
    "surrogate_before_all": "\ud83d" + ABOUT,
    "surrogate_in_front_matter": FLAT.replace("@LINE@", "# \udc80"),
    "escape_character": ABOUT + "// \x1b[2J\n__global__ void k() {}",
    "only_a_quote": ABOUT + "'",
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_refused_stored_and_read_again(name: str, tmp_path: Path) -> None:
    found = outcome(CpuCompiler(), TEXTS[name])
    assert found.rejected is not None
    assert found.rejected.status is Status.INVALID, found.said
    found.said.encode()
    candidate = Candidate.from_source(TEXTS[name])
    name_ = kernel_id(TEXTS[name])
    assert kernel_id(candidate.source) == name_
    event = Drafted(
        island=0,
        cycle=1,
        slot=0,
        kernel_id=name_,
        candidate=candidate,
        origin="seed",
        report="\ud800 and \U0001f600",
    )
    with Store(tmp_path / "campaign.sqlite") as store:
        store.append([to_row(event)])
    (stored,) = read_events(tmp_path / "campaign.sqlite")
    assert isinstance(stored.event, Drafted)
    assert stored.event.candidate.source == candidate.source
    shingles(stored.event.candidate.source)
    again = outcome(CpuCompiler(), stored.event.candidate.source)
    assert again.compiled or again.rejected is not None
    assert from_row(stored.event.kind, to_row(stored.event)[-1]) == stored.event


@pytest.mark.parametrize("data", [b"int \xff;", b"// \xc3(\n", b"// caf\xe9\n", b"\xed\xa0\x80"])
def test_a_file_that_is_not_utf_8_is_invalid(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "kernel.hip"
    path.write_bytes(ABOUT.encode() + data + b"\n__global__ void k() {}\n")
    made = evaluate_file(path, "sgemm", "cpu")
    assert made.status is Status.INVALID
    assert "UTF-8" in made.reason
    assert "line 4" in made.reason


def reply(text: str) -> Reply:
    message = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    completion = completion_of(json.loads(json.dumps(message)))
    return Reply(
        text=completion.text_and_reasoning()[0],
        finish="stop",
        model="m",
        prompt_tokens=1,
        completion_tokens=1,
        latency_s=0.0,
    )


STRUCTURED = {
    "deep_lists": '{"base_id": ' + "[" * 100_000,
    "deep_objects": '{"a":' * 50_000 + "1" + "}" * 50_000,
    "deep_yaml": "{a: " + "[" * 50_000,
    "long_number": '{"base_id": ' + "9" * 10_000 + "}",
    "surrogates": '{"base_id": "\\ud800", "reference_id": "b", "rationale": "\\udfff"}',
    "numbers": '{"base_id": NaN, "reference_id": Infinity, "rationale": -Infinity}',
    "avenues": '{"avenues": [{"a": {"b": []}}], "experiments": [[]]}',
}


@pytest.mark.parametrize("model", [SelectorReply, DesignerReply])
@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_replies_are_read_or_malformed(
    name: str, model: type[SelectorReply | DesignerReply]
) -> None:
    try:
        found = read_structured(reply(STRUCTURED[name]), model)
    except Malformed as malformed:
        str(malformed).encode()
        return
    found.model_dump_json().encode()


def test_lone_surrogates_of_a_reply_are_replaced() -> None:
    fenced = f"```hip\n{ABOUT}// \ud800 \U0001f600\n__global__ void k() {{}}\n```"
    source = read_kernel(reply(fenced), "").source
    assert "\ufffd \U0001f600" in source
    source.encode()
