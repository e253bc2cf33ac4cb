"""Prompts that are too long even at their shortest, for a role that a campaign can't do without."""

from collections import Counter
from collections.abc import Container

from engine.llm.outages import TRIES_AT_FIRST_CONTACT
from operators.llm.call import NoReply
from operators.llm.question import Failure, Request, Role

NEEDED_ROLES = frozenset({"designer", "writer"})
"""Where even their shortest prompts are too long from the start, a campaign is of no use."""


class TooLong:
    """Counts the shortest prompts that were refused, by role and model."""

    def __init__(self) -> None:
        self._refused: Counter[tuple[Role, str]] = Counter()

    def never_fits(
        self,
        request: Request,
        model: str,
        failed: NoReply,
        answered: Container[tuple[Role, str]],
    ) -> bool:
        """Whether a role that is needed asks in vain: prompts only grow as a campaign goes on.

        answered: roles and models that replied once.
        """
        if failed.kind is not Failure.CONTEXT_TOO_LONG or not request.shortened:
            return False
        asked = request.role, model
        self._refused[asked] += 1
        return (
            request.role in NEEDED_ROLES
            and asked not in answered
            and self._refused[asked] >= TRIES_AT_FIRST_CONTACT
        )
