"""LLM designer: ten avenues, then five experiments with their predictions."""

import re
from collections.abc import Sequence
from dataclasses import replace

from evaluators.spelling import shortened
from operators.individual import Experiment, Individual
from operators.llm.ask import ask
from operators.llm.prompts.render import Scene, designer_prompt
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Model, Prompt, Reply
from operators.llm.replies import (
    AskingDesignerReply,
    DesignerReply,
    ExperimentReply,
    ProbeReply,
)
from operators.llm.schema import schema_of
from operators.llm.structured import read_structured
from operators.operator import AskedProbe, Context, Design, ProbesLeft

SCHEMA = schema_of(DesignerReply)
ASKING_SCHEMA = schema_of(AskingDesignerReply)
MOST_PROBES = 2
"""That one design may ask for."""
MOST_QUESTION = 200
"""Characters of a probe's question."""

AVENUES = 10
EXPERIMENTS = 5
FEW_AVENUES = 3
"""Of a model whose designs could not be used, beside one experiment."""

DIRECTIONS = (
    "memory access",
    "tiling and reuse",
    "algorithm and mathematics",
    "pipelining and latency",
    "work distribution over blocks and threads",
    "instruction choice and vector width",
    "registers",
    "data layout",
    "shape by shape",
    "launches and their number",
)
"""Where a kernel may be made faster; islands look at different ones first."""


def focus_of(island: int, count: int) -> tuple[str, ...]:
    """The directions that an island of count looks at first; none where it is alone."""
    if count < 2:
        return ()
    places = range(island % count, len(DIRECTIONS), count)
    return tuple(DIRECTIONS[place] for place in places) or (DIRECTIONS[island % len(DIRECTIONS)],)


class LlmDesigner:
    """The paper's Experiment Designer (arXiv 2506.20807)."""

    def __init__(
        self,
        model: Model,
        *,
        tokens: int = PROMPT_TOKENS["designer"],
        avenues: int = AVENUES,
        experiments: int = EXPERIMENTS,
        focus: Sequence[str] = (),
    ) -> None:
        """tokens: of a prompt, at most; focus: directions to look at first, as other islands look
        elsewhere."""
        self._model = model
        self._tokens = tokens
        self._avenues = avenues
        self._experiments = experiments
        self._focus = tuple(focus)

    async def design(self, base: Individual, reference: Individual, context: Context) -> Design:
        """Raises Declined: the model gave no usable design."""
        in_trouble = "designer" in context.trouble
        probes = None if in_trouble else _offered(context.probes)

        def render(tokens: int | None) -> Prompt:
            scene = Scene.of(context, tokens or self._tokens)
            return designer_prompt(
                scene,
                base,
                reference,
                context.individuals,
                avenues=min(self._avenues, FEW_AVENUES) if in_trouble else self._avenues,
                experiments=1 if in_trouble else self._experiments,
                focus=self._focus,
                repeated=context.repeated,
                claimed=context.claimed,
                probes=probes,
                most_probes=min(MOST_PROBES, probes.count) if probes else 0,
                avenue=context.avenue,
            )

        schema, read = (ASKING_SCHEMA, _read_asking) if probes else (SCHEMA, _read)
        return await ask(self._model, "designer", context, render, read, schema=schema)


def _offered(probes: ProbesLeft | None) -> ProbesLeft | None:
    """None where none is left."""
    return probes if probes is not None and probes.count > 0 else None


def _read_asking(reply: Reply) -> Design:
    said = read_structured(reply, AskingDesignerReply)
    probes = tuple(_asked(one) for one in said.probes[:MOST_PROBES])
    return replace(_design(said), probes=probes)


def _read(reply: Reply) -> Design:
    return _design(read_structured(reply, DesignerReply))


def _asked(said: ProbeReply) -> AskedProbe:
    """In one line, so that it can stand before its answer."""
    question = shortened(" ".join(said.question.split()), MOST_QUESTION)
    return AskedProbe(question=question, rubric=said.rubric.strip())


def _design(said: DesignerReply) -> Design:
    experiments = tuple(_experiment(one) for one in said.experiments)
    named = dict.fromkeys(one.avenue for one in experiments if one.avenue)
    return Design(
        avenues=tuple(avenue.strip() for avenue in said.avenues) or tuple(named),
        experiments=experiments,
    )


def _experiment(said: ExperimentReply) -> Experiment:
    low, high = sorted(said.performance)
    return Experiment(
        technique=_name(said.technique or said.description),
        avenue=said.avenue.strip(),
        new=said.new.strip(),
        description=said.description.strip(),
        rubric=said.rubric.strip(),
        performance=(low, high),
        innovation=round(said.innovation),
    )


def _name(text: str) -> str:
    """A stable short name: lower case, words joined by hyphens, at most six of them."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    return "-".join(words[:6]) or "unnamed"
