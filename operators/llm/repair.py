"""LLM repair: a failed kernel goes back with what the evaluator said of it."""

from evaluators.evaluation import Status
from operators.individual import Individual
from operators.llm.novelty import Novelty
from operators.llm.prompts.render import Scene, repair_prompt
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Model, Prompt
from operators.llm.writers import write_kernel
from operators.operator import Context, Declined, Draft

NOT_BROKEN = frozenset({Status.PASSED, Status.STOPPED_EARLY})


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
