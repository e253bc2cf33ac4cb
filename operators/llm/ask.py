"""ask(): one question to a model, and again when its reply can't be used."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from operators.llm.call import estimated_tokens
from operators.llm.prompts.render import reask, smaller
from operators.llm.question import (
    Failure,
    Malformed,
    Model,
    Prompt,
    Reply,
    Request,
    Role,
    Unanswered,
)
from operators.operator import Context, Declined, InVain, Unusable

Read = TypeVar("Read")

RenderPrompt = Callable[[int | None], Prompt]
"""A budget of tokens, when the role's own was too long for the model -> prompt."""

SHORTENED = 0.35
"""Of a prompt that was too long, for the next."""


NO_ANSWER = frozenset({Failure.EMPTY, Failure.ONLY_REASONING, Failure.REFUSAL, Failure.PROSE_ONLY})
"""After these as the second reply there is nothing to go on with."""


async def ask(
    model: Model,
    role: Role,
    context: Context,
    render: RenderPrompt,
    read: Callable[[Reply], Read],
    *,
    schema: Mapping[str, Any] | None = None,
) -> Read:
    """Ask, and ask again while replies can't be used: once, and once more when that moved on.

    read: makes something of a reply, or raises Malformed. Every branch follows from the
    outcomes of complete(), so that stored outcomes give the same result again. Raises InVain:
    no reply; Unusable: none that can be used; Declined: nothing new.
    """

    def request(attempt: int, prompt: Prompt, *, shortened: bool = False) -> Request:
        return Request(
            key=f"{context.key}/{role}/{attempt}",
            role=role,
            island=context.island,
            cycle=context.cycle,
            prompt=prompt,
            schema=schema,
            model=context.models.get(role, ""),
            shortened=shortened,
        )

    def prompted(tokens: int | None) -> Prompt:
        trouble = context.trouble.get(role)
        return smaller(render(tokens), role, trouble) if trouble else render(tokens)

    asked = request(0, prompted(None))
    outcome = await model.complete(asked)
    if isinstance(outcome, Unanswered) and outcome.kind is Failure.CONTEXT_TOO_LONG:
        budget = round(SHORTENED * estimated_tokens(asked.prompt.messages))
        shorter = request(1, prompted(budget), shortened=True)
        if shorter.prompt.characters < asked.prompt.characters:
            asked = shorter
            outcome = await model.complete(asked)
    last = asked
    wrong: list[Malformed] = []
    while not isinstance(outcome, Unanswered):
        try:
            return read(outcome)
        except Malformed as malformed:
            model.turned_away(last, malformed.kind, malformed.reason)
            wrong.append(malformed)
        if not _worth_asking(wrong):
            raise _given_up(role, wrong)
        last = request(len(wrong) + 1, reask(asked.prompt, outcome.text, wrong[-1]))
        outcome = await model.complete(last)
    raise InVain(role, outcome.reason)


def _worth_asking(wrong: Sequence[Malformed]) -> bool:
    """After the first; after the second only if it is an answer, and wrong in another way."""
    if len(wrong) != 2:
        return len(wrong) < 2
    first, second = wrong
    if second.kind in NO_ANSWER:
        return False
    return first.kind is not second.kind or _words(first) != _words(second)


def _words(malformed: Malformed) -> str:
    """The reason; but for kernels without its numbers, which count tokens and characters."""
    if malformed.kind is Failure.INVALID_KERNEL:
        return malformed.reason
    return re.sub(r"\d+", "", malformed.reason)


def _given_up(role: Role, wrong: Sequence[Malformed]) -> Declined:
    last = wrong[-1]
    if last.kind is Failure.NEAR_DUPLICATE:  # nothing new, but nothing that can't be read
        return Declined(f"{role}: {last}")
    return Unusable(role, str(last), replies=len(wrong))
