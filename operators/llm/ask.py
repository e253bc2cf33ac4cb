"""ask(): one question to a model, and once more when its reply can't be used."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

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

RenderPrompt = Callable[[float], Prompt]
"""Share of the usual length (1.0, or less after the context was too long) -> prompt."""

SHORTENED = 0.35


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

    asked = request(0, render(1.0))
    outcome = await model.complete(asked)
    if isinstance(outcome, Unanswered) and outcome.kind is Failure.CONTEXT_TOO_LONG:
        shorter = request(1, render(SHORTENED), shortened=True)
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
