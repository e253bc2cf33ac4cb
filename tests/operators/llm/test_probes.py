"""Designers that ask for probes, and the writer of their files."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from operators.llm.designer import ASKING_SCHEMA, MOST_PROBES, MOST_QUESTION, SCHEMA, LlmDesigner
from operators.llm.preview import preview
from operators.llm.prober import LlmProber
from operators.llm.question import Failure, Prompt, Reply, Request, Unanswered, part_of
from operators.operator import AskedProbe, Context, Design, ProbesLeft, Unusable
from scripts.scripted_model.answers import PROBE
from scripts.scripted_model.individuals import DEVICE, SEED, SGEMM, context

LEFT = ProbesLeft(count=5, asked=("What does a barrier cost?",))
ASKED = AskedProbe(question="What does expf cost?", rubric="1. Time it.")
EXPERIMENT = {
    "technique": "t",
    "avenue": "a",
    "description": "d",
    "rubric": "r",
    "new": "",
    "performance": [0, 1],
    "innovation": 1,
}


class Told:
    """A model that says what it is told, in order; the last again and again."""

    def __init__(self, *texts: str) -> None:
        self.texts = list(texts)
        self.requests: list[Request] = []
        self.refused: list[tuple[Failure, str]] = []

    async def complete(self, request: Request) -> Reply | Unanswered:
        self.requests.append(request)
        text = self.texts.pop(0) if len(self.texts) > 1 else self.texts[0]
        return Reply(
            text=text,
            finish="stop",
            model="told",
            prompt_tokens=1,
            completion_tokens=1,
            latency_s=0.0,
        )

    def turned_away(self, request: Request, kind: Failure, reason: str) -> None:
        self.refused.append((kind, reason))


def design(said: Any, told: Context, **changes: Any) -> tuple[Design, Request]:
    model = Told(json.dumps({"avenues": ["a"], "experiments": [EXPERIMENT], "probes": said}))
    made = asyncio.run(LlmDesigner(model, **changes).design(SEED, SEED, told))
    return made, model.requests[0]


def asking(probes: ProbesLeft | None = LEFT, **changes: Any) -> Context:
    return replace(context(SEED), probes=probes, **changes)


def text_of(prompt: Prompt) -> str:
    return "\n".join(one.content for one in prompt.messages)


def test_a_designer_may_ask_while_probes_are_left() -> None:
    said = [{"question": "What  does\nexpf cost?", "rubric": "1. Time it."}]
    made, request = design(said, asking())
    assert made.probes == (ASKED,)
    assert request.schema == ASKING_SCHEMA and "probes" in request.schema["required"]
    text = text_of(request.prompt)
    assert "The search has 5 probes left. You may ask for 2 at most" in text
    assert "- What does a barrier cost?" in text and "What may a probe" not in text


@pytest.mark.parametrize(
    "told",
    [asking(None), asking(ProbesLeft(count=0)), asking(trouble={"designer": "prose_only: none"})],
    ids=["off", "spent", "in trouble"],
)
def test_else_it_is_not_told_of_them_and_asks_in_vain(told: Context) -> None:
    made, request = design([{"question": "What?", "rubric": ""}], told)
    assert made.probes == () and request.schema == SCHEMA
    assert "robe" not in text_of(request.prompt).replace("Measured on this device by probes", "")


@pytest.mark.parametrize(
    ("said", "questions"),
    [
        ([], []),
        (None, []),
        ("none", []),
        (["What does expf cost?"], ["What does expf cost?"]),
        ([{"rubric": "1."}, {"question": ""}, {"question": "B?"}, 7, None], ["B?"]),
        ([{"question": "D?", "rubric": ["1. Launch.", "2. Look."]}], ["D?"]),
        ([{"question": f"{n}?"} for n in range(9)], [f"{n}?" for n in range(MOST_PROBES)]),
    ],
)
def test_no_design_is_lost_for_a_probe_that_cannot_be_read(
    said: Any, questions: Sequence[str]
) -> None:
    made, _ = design(said, asking())
    assert [one.question for one in made.probes] == questions
    assert len(made.experiments) == 1


def test_a_long_question_is_cut() -> None:
    made, _ = design([{"question": "why " * 200, "rubric": ""}], asking())
    assert len(made.probes[0].question) <= MOST_QUESTION


def write(*texts: str, told: Context | None = None) -> tuple[str, Told]:
    model = Told(*texts)
    told = told or context(SEED, key="i0/c1/p0")
    return asyncio.run(LlmProber(model).write_probe(ASKED, SEED, told)), model


def fenced(source: str) -> str:
    return f"Here it is:\n```hip\n{source}```\n"


def test_a_probe_is_written_by_the_writer_and_asked_for_in_its_own_words() -> None:
    written, model = write(fenced(PROBE))
    assert written == PROBE
    (request,) = model.requests
    assert (request.role, request.part, request.key) == ("writer", "prober", "i0/c1/p0/writer/0")
    text = text_of(request.prompt)
    assert f"# The question\n{ASKED.question}" in text and ASKED.rubric in text
    assert SEED.candidate.source.strip() in text and "You are the Kernel Writer (probe)" in text


def test_a_file_that_is_no_probe_goes_back_once_with_the_line() -> None:
    bad = PROBE.replace("cases:", "casse:")
    written, model = write(fenced(bad), fenced(PROBE))
    assert written == PROBE and len(model.requests) == 2
    ((kind, reason),) = model.refused
    assert kind is Failure.INVALID_KERNEL and "casse" in reason and "the file's line" in reason


@pytest.mark.parametrize(
    "source",
    [
        SGEMM.naive,
        PROBE.replace("question:", "answer:"),
        PROBE.replace("if (blockIdx", 'asm("nop"); if (blockIdx'),
    ],
    ids=["a kernel", "no question", "forbidden"],
)
def test_a_writer_that_writes_none_is_given_up(source: str) -> None:
    with pytest.raises(Unusable, match="writer"):
        write(fenced(source))


def test_trouble_with_kernels_is_none_with_probes() -> None:
    told = replace(context(SEED, key="i0/c1/p0"), trouble={"writer": "bad_edit: it is not there"})
    _, model = write(fenced(PROBE), told=told)
    assert "smaller task" not in text_of(model.requests[0].prompt).lower()


def test_its_prompt_can_be_looked_at() -> None:
    text = text_of(preview("prober", SGEMM, DEVICE))
    assert "# A probe file" in text and "# The question\n(Here stands" in text
    assert part_of("writer", "i0/c1/s0/writer/0") == "writer"
