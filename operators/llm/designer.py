"""LLM designer: ten avenues, then five experiments with their predictions."""

import re

from operators.individual import Experiment, Individual
from operators.llm.ask import ask
from operators.llm.prompts.render import Scene, designer_prompt
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Model, Prompt, Reply
from operators.llm.replies import DesignerReply, ExperimentReply, read_structured, schema_of
from operators.operator import Context, Design

SCHEMA = schema_of(DesignerReply)
AVENUES = 10
EXPERIMENTS = 5


class LlmDesigner:
    """The paper's Experiment Designer (arXiv 2506.20807)."""

    def __init__(
        self,
        model: Model,
        *,
        tokens: int = PROMPT_TOKENS["designer"],
        avenues: int = AVENUES,
        experiments: int = EXPERIMENTS,
    ) -> None:
        """tokens: of a prompt, at most."""
        self._model = model
        self._tokens = tokens
        self._avenues = avenues
        self._experiments = experiments

    async def design(self, base: Individual, reference: Individual, context: Context) -> Design:
        """Raises Declined: the model gave no usable design."""

        def render(tokens: int | None) -> Prompt:
            scene = Scene.of(context, tokens or self._tokens)
            return designer_prompt(
                scene,
                base,
                reference,
                context.individuals,
                avenues=self._avenues,
                experiments=self._experiments,
            )

        return await ask(self._model, "designer", context, render, _read, schema=SCHEMA)


def _read(reply: Reply) -> Design:
    said = read_structured(reply, DesignerReply)
    return Design(
        avenues=tuple(avenue.strip() for avenue in said.avenues),
        experiments=tuple(_experiment(one) for one in said.experiments),
    )


def _experiment(said: ExperimentReply) -> Experiment:
    low, high = sorted(said.performance)
    return Experiment(
        technique=_name(said.technique or said.description),
        avenue=said.avenue.strip(),
        description=said.description.strip(),
        rubric=said.rubric.strip(),
        performance=(low, high),
        innovation=round(said.innovation),
    )


def _name(text: str) -> str:
    """A stable short name: lower case, words joined by hyphens, at most six of them."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words[:6]) or "unnamed"
