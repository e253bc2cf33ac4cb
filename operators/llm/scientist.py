"""The LLM scientist: the whole set of operators over one model."""

from collections.abc import Mapping, Sequence

from operators.llm.crossover import LlmCrossover
from operators.llm.designer import AVENUES, EXPERIMENTS, LlmDesigner
from operators.llm.novelty import Novelty
from operators.llm.prober import LlmProber
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Model, Role
from operators.llm.repair import LlmRepairer
from operators.llm.selector import LlmSelector
from operators.llm.writer import LlmWriter
from operators.operator import Operators


def llm_operators(
    model: Model,
    classic: Operators,
    *,
    novelty: float | None,
    avenues: int = AVENUES,
    experiments: int = EXPERIMENTS,
    focus: Sequence[str] = (),
    prompt_tokens: Mapping[Role, int] = PROMPT_TOKENS,
    select_from: int = 2,
) -> Operators:
    """classic: its selector decides where the model does not, its mutator tunes parameters.

    novelty: similarity from which on a kernel is turned away as a near-duplicate; None: never.
    focus: directions that the designer looks at first, as other islands look elsewhere.
    prompt_tokens: of a prompt at most, by role; roles that are not named keep the usual.
    select_from: kernels in a tournament from which on the model selects.
    """
    judge = Novelty(novelty)
    tokens = {**PROMPT_TOKENS, **prompt_tokens}
    return Operators(
        selector=LlmSelector(model, classic.selector, tokens=tokens["selector"], least=select_from),
        designer=LlmDesigner(
            model,
            tokens=tokens["designer"],
            avenues=avenues,
            experiments=experiments,
            focus=focus,
        ),
        writer=LlmWriter(model, judge, tokens=tokens["writer"]),
        crossover=LlmCrossover(model, judge, tokens=tokens["crossover"]),
        mutator=classic.mutator,
        repairer=LlmRepairer(model, tokens=tokens["repair"]),
        prober=LlmProber(model, tokens=tokens["writer"]),
    )
