"""What a call that brought no reply counts for: what was heard of it, else all it may have cost."""

from engine.llm.config import LlmModel
from engine.store.calls import CallFailed, CallReserved
from operators.llm.call import estimated_tokens
from operators.llm.completion import Completion
from operators.llm.question import UNBILLED, Failure, Request


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
    """heard: what was streamed, None where the call was never sent. hidden: the model is known to
    generate more than it shows, so that what was heard tells nothing."""
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
