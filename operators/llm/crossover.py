"""LLM crossover: one kernel that unites what two parents are good at."""

from operators.individual import Individual
from operators.llm.novelty import Novelty
from operators.llm.prompts.render import Scene, crossover_prompt
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Model, Prompt
from operators.llm.writers import measured, write_kernel
from operators.operator import Context, Draft


class LlmCrossover:
    """Parents may be of one island, or an own one and an immigrant."""

    def __init__(
        self, model: Model, novelty: Novelty, *, tokens: int = PROMPT_TOKENS["crossover"]
    ) -> None:
        """tokens: of a prompt, at most."""
        self._model = model
        self._novelty = novelty
        self._tokens = tokens

    async def cross(self, first: Individual, second: Individual, context: Context) -> Draft:
        """Raises Declined: no usable kernel, or a near-duplicate."""

        def render(tokens: int | None) -> Prompt:
            scene = Scene.of(context, tokens or self._tokens)
            return crossover_prompt(scene, first, second, context.individuals)

        return await write_kernel(
            self._model,
            "crossover",
            context,
            render,
            edited=first.candidate.source,
            novelty=self._novelty,
            unlike=measured(context.individuals.values()),
        )
