"""What a call may cost, and what it counts for: where no reply came what was heard, else all."""

from dataclasses import replace

from engine.llm.config import LlmModel
from engine.store.kinds.calls import CallFailed, CallReplied, CallReserved
from operators.llm.call import estimated_tokens, most_tokens
from operators.llm.completion import Completion
from operators.llm.question import UNBILLED, Failure, Reply, Request


def most(request: Request, model: LlmModel) -> tuple[int, float]:
    """Tokens and dollars that a call may take at most."""
    prompt_tokens = most_tokens(request.prompt.messages)
    return prompt_tokens + model.max_tokens, model.dollars(prompt_tokens, model.max_tokens)


def failed_call(
    reserved: CallReserved,
    failure: Failure,
    reason: str,
    *,
    request: Request,
    model: LlmModel,
    heard: Completion | None,
    hidden: bool,
) -> CallFailed:
    """heard: what was streamed, None where the call was never sent. hidden: the model may generate
    more than it shows, so that what was heard tells nothing."""
    if heard is None or (failure in UNBILLED and not heard.written):
        tokens, dollars = 0, 0.0
    elif hidden or not model.stream:
        tokens, dollars = reserved.tokens, reserved.dollars
    else:
        counted = heard.prompt_tokens
        prompt = estimated_tokens(request.prompt.messages) if counted is None else counted
        # An estimate by characters may exceed what the model was allowed; its own count may not.
        completion = min(
            heard.generated_tokens, max(model.max_tokens, heard.completion_tokens or 0)
        )
        tokens, dollars = prompt + completion, model.dollars(prompt, completion)
    return CallFailed(
        island=reserved.island,
        cycle=reserved.cycle,
        request=reserved.request,
        number=reserved.number,
        failure=failure,
        reason=reason,
        tokens=tokens,
        dollars=dollars,
    )


def replied_call(reserved: CallReserved, reply: Reply, *, model: LlmModel) -> CallReplied:
    """With its price."""
    dollars = model.dollars(reply.prompt_tokens, reply.completion_tokens)
    return CallReplied(
        island=reserved.island,
        cycle=reserved.cycle,
        request=reserved.request,
        number=reserved.number,
        reply=replace(reply, dollars=dollars),
    )
