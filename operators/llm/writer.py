"""LLM writer: makes one experiment on the Base."""

from operators.individual import Experiment, Individual
from operators.llm.novelty import Novelty
from operators.llm.prompts.render import Scene, writer_prompt
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Model, Prompt
from operators.llm.writers import measured, write_kernel
from operators.operator import Context, Draft


class LlmWriter:
    """The paper's Kernel Writer (arXiv 2506.20807)."""

    def __init__(
        self, model: Model, novelty: Novelty, *, tokens: int = PROMPT_TOKENS["writer"]
    ) -> None:
        """tokens: of a prompt, at most."""
        self._model = model
        self._novelty = novelty
        self._tokens = tokens

    async def write(
        self, base: Individual, reference: Individual, experiment: Experiment, context: Context
    ) -> Draft:
        """Raises Declined: no usable kernel, or a near-duplicate."""

        def render(tokens: int | None) -> Prompt:
            scene = Scene.of(context, tokens or self._tokens)
            return writer_prompt(scene, base, reference, experiment, context.individuals)

        return await write_kernel(
            self._model,
            "writer",
            context,
            render,
            edited=base.candidate.source,
            novelty=self._novelty,
            # A person may well want a change that is small.
            unlike=() if experiment.by_a_person else measured(context.individuals.values()),
        )
