"""ask(): one question to a model, and once more when its reply can't be used."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from operators.llm.call import estimated_tokens
from operators.llm.prompts.render import reask
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
from operators.operator import Context, Declined

Read = TypeVar("Read")

RenderPrompt = Callable[[int | None], Prompt]
"""A budget of tokens, when the role's own was too long for the model -> prompt."""

SHORTENED = 0.35
"""Of a prompt that was too long, for the next."""


async def ask(
    model: Model,
    role: Role,
    context: Context,
    render: RenderPrompt,
    read: Callable[[Reply], Read],
    *,
    schema: Mapping[str, Any] | None = None,
) -> Read:
    """Ask, and ask once more when the reply can't be used. Raises Declined.

    read: makes something of a reply, or raises Malformed. Every branch follows from the
    outcomes of complete(), so that stored outcomes give the same result again.
    """

    def request(attempt: int, prompt: Prompt, *, shortened: bool = False) -> Request:
        return Request(
            key=f"{context.key}/{role}/{attempt}",
            role=role,
            island=context.island,
            cycle=context.cycle,
            prompt=prompt,
            schema=schema,
            shortened=shortened,
        )

    asked = request(0, render(None))
    outcome = await model.complete(asked)
    if isinstance(outcome, Unanswered) and outcome.kind is Failure.CONTEXT_TOO_LONG:
        budget = round(SHORTENED * estimated_tokens(asked.prompt.messages))
        shorter = request(1, render(budget), shortened=True)
        if shorter.prompt.characters < asked.prompt.characters:
            asked = shorter
            outcome = await model.complete(asked)
    if isinstance(outcome, Unanswered):
        raise Declined(f"{role}: {outcome.reason}")
    try:
        return read(outcome)
    except Malformed as malformed:
        model.turned_away(asked, malformed.kind, malformed.reason)
        again = request(2, reask(asked.prompt, outcome.text, malformed))
    outcome = await model.complete(again)
    if isinstance(outcome, Unanswered):
        raise Declined(f"{role}: {outcome.reason}")
    try:
        return read(outcome)
    except Malformed as malformed:
        model.turned_away(again, malformed.kind, malformed.reason)
        raise Declined(f"{role}: two replies could not be used, the last: {malformed}") from None
