"""What a call may cost, and what it counts for: where no reply came what was heard, else all."""

import time
from dataclasses import replace

from engine.llm.config import LlmModel
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved
from operators.llm.call import estimated_tokens, most_tokens
from operators.llm.completion import Completion
from operators.llm.question import UNBILLED, Failure, Reply, Request, Vain


def most(request: Request, model: LlmModel) -> tuple[int, float]:
    """Tokens and dollars that a call may take at most."""
    prompt_tokens = most_tokens(request.prompt.messages)
    return prompt_tokens + model.max_tokens, model.dollars(prompt_tokens, model.max_tokens)


class Booking:
    """One call, and what it counts for in the end."""

    def __init__(self, reserved: CallReserved, request: Request, model: LlmModel) -> None:
        self._reserved, self._request, self._model = reserved, request, model
        self._heard: Completion | None = None  # None: it was never sent
        self._sent_at = time.monotonic()

    def send(self) -> Completion:
        """Where the endpoint puts what is streamed."""
        self._heard, self._sent_at = Completion(), time.monotonic()
        return self._heard

    def replied(self, reply: Reply, vain: Vain) -> CallReplied:
        """With its price, and what calls before it took."""
        dollars = self._model.dollars(reply.prompt_tokens, reply.completion_tokens)
        return CallReplied(
            island=self._reserved.island,
            cycle=self._reserved.cycle,
            request=self._reserved.request,
            number=self._reserved.number,
            reply=replace(reply, dollars=dollars, vain=vain),
        )

    def failed(self, failure: Failure, reason: str, *, hidden: bool) -> CallFailed:
        """hidden: the model may generate more than it shows, so that what was heard tells
        nothing."""
        tokens, dollars = self._lost(failure, hidden=hidden)
        return CallFailed(
            island=self._reserved.island,
            cycle=self._reserved.cycle,
            request=self._reserved.request,
            number=self._reserved.number,
            failure=failure,
            reason=reason,
            tokens=tokens,
            dollars=dollars,
            seconds=round(time.monotonic() - self._sent_at, 3),
        )

    def _lost(self, failure: Failure, *, hidden: bool) -> tuple[int, float]:
        """Tokens and dollars."""
        heard, model = self._heard, self._model
        if heard is None or (failure in UNBILLED and not heard.written):
            return 0, 0.0
        if hidden or not model.stream:
            return self._reserved.tokens, self._reserved.dollars
        counted = heard.prompt_tokens
        prompt = estimated_tokens(self._request.prompt.messages) if counted is None else counted
        # An estimate by characters may exceed what the model was allowed; its own count may not.
        completion = min(
            heard.generated_tokens, max(model.max_tokens, heard.completion_tokens or 0)
        )
        return prompt + completion, model.dollars(prompt, completion)
