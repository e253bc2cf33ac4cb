"""LLM repair: a failed kernel goes back with what the evaluator said of it."""

import re

from evaluators.evaluation import Evaluation, Status
from operators.individual import Individual
from operators.llm.novelty import Novelty
from operators.llm.prompts.render import Scene, repair_prompt
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Model, Prompt
from operators.llm.writers import write_kernel
from operators.operator import Context, Declined, Draft

NOT_BROKEN = frozenset({Status.PASSED, Status.STOPPED_EARLY})
FOUND_IN_THE_TEXT = frozenset(
    {Status.INVALID, Status.UNSUPPORTED, Status.COMPILE_ERROR, Status.FORBIDDEN}
)


class LlmRepairer:
    """How often one kernel comes back is the caller's to bound."""

    def __init__(self, model: Model, *, tokens: int = PROMPT_TOKENS["repair"]) -> None:
        """tokens: of a prompt, at most."""
        self._model = model
        self._tokens = tokens

    async def repair(self, failed: Individual, context: Context) -> Draft:
        """Raises Declined: nothing to repair, or no usable kernel."""
        if failed.evaluation.status in NOT_BROKEN:
            raise Declined(f"{failed.id} is not broken: {failed.evaluation.status}")

        def render(tokens: int | None) -> Prompt:
            scene = Scene.of(context, tokens or self._tokens)
            return repair_prompt(scene, failed, context.individuals)

        return await write_kernel(
            self._model,
            "repair",
            context,
            render,
            edited=failed.candidate.source,
            novelty=Novelty(None),  # a cure may be one character
            unlike=(),
        )


def moved(before: Evaluation, after: Evaluation) -> bool:
    """Whether a repair came on to another error: another status, place or reason.

    Beside a status other than that of a compiler, numbers that a run measured don't count.
    """
    if before.status is not after.status:
        return True
    if after.status in FOUND_IN_THE_TEXT:
        return before.reason != after.reason
    return _words(before.reason) != _words(after.reason)


def _words(reason: str) -> list[str]:
    """All but numbers and places in arrays: a shape such as M=256 is a word."""
    return [word for word in reason.split() if not _MEASURED.match(word)]


_MEASURED = re.compile(r"[-+(]?(\d|nan|inf)|\w+\[")
