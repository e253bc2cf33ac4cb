"""The LLM scientist: the whole set of operators over one model."""

from collections.abc import Sequence

from operators.llm.crossover import LlmCrossover
from operators.llm.designer import AVENUES, EXPERIMENTS, LlmDesigner
from operators.llm.novelty import Novelty
from operators.llm.question import Model
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
) -> Operators:
    """classic: its selector decides where the model does not, its mutator tunes parameters.

    novelty: similarity from which on a kernel is turned away as a near-duplicate; None: never.
    focus: directions that the designer looks at first, as other islands look elsewhere.
    """
    judge = Novelty(novelty)
    return Operators(
        selector=LlmSelector(model, classic.selector),
        designer=LlmDesigner(model, avenues=avenues, experiments=experiments, focus=focus),
        writer=LlmWriter(model, judge),
        crossover=LlmCrossover(model, judge),
        mutator=classic.mutator,
        repairer=LlmRepairer(model),
    )
