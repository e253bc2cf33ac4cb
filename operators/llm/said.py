"""Whether a reply says anything, and all that it began to say."""

import re

from operators.llm.question import Failure, Malformed, Reply


def check_said(reply: Reply) -> None:
    """Raises Malformed when the reply holds no answer at all."""
    if reply.refusal or reply.finish == "content_filter":
        said = reply.refusal or "stopped by a content filter"
        raise Malformed(Failure.REFUSAL, f"the request was refused: {said[:200]}")
    if reply.text:
        if len(reply.text) < 600 and _REFUSALS.match(reply.text):
            raise Malformed(Failure.REFUSAL, f"the request was refused: {reply.text[:200]}")
        return
    if reply.reasoning_characters:
        raise Malformed(
            Failure.ONLY_REASONING, "there was reasoning and no answer; answer after less of it"
        )
    raise Malformed(Failure.EMPTY, "the reply was empty")


_REFUSALS = re.compile(
    r"\W*(I['’]m sorry|I am sorry|Sorry,|I can(no|['’])t (help|assist|comply|provide)|"
    r"I(['’]m| am) (unable|not able) to|As an AI)",
    re.IGNORECASE,
)


def cut_off(reply: Reply) -> Malformed:
    return Malformed(
        Failure.TRUNCATED,
        f"the reply was cut off after {reply.completion_tokens} tokens; be shorter: no "
        "deliberation in the answer, and nothing that was not asked for",
    )
