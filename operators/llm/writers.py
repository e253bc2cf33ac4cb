"""What writer, crossover and repair share: a kernel reply turned into a Draft, or turned away."""

from collections.abc import Iterable

from evaluators.evaluation import Rejected
from evaluators.kernel.fit import check_fit
from operators.individual import Candidate, Individual
from operators.llm.ask import RenderPrompt, ask
from operators.llm.kernel_reply import read_kernel
from operators.llm.novelty import Novelty
from operators.llm.question import Failure, Malformed, Model, Reply, Role
from operators.operator import Context, Draft

EDITED = {"crossover": "First parent", "repair": "kernel that failed"}
"""What a role's edits apply to, as its prompt calls it; the others' is the Base."""


async def write_kernel(
    model: Model,
    role: Role,
    context: Context,
    render: RenderPrompt,
    *,
    edited: str,
    novelty: Novelty,
    unlike: Iterable[Individual],
) -> Draft:
    """edited: the source that edits apply to; unlike: what the kernel must not nearly repeat.

    A kernel whose front matter is still invalid at the second try is handed on: its
    evaluation says so for nothing, and it is stored with the reason. Raises Declined.
    """
    tries = 0

    def read(reply: Reply) -> Draft:
        nonlocal tries
        tries += 1
        said = read_kernel(reply, edited, edited=EDITED.get(role, "Base"))
        reason = invalid_reason(said.source, context)
        if reason and tries == 1:
            raise Malformed(Failure.INVALID_KERNEL, reason)
        twin = novelty.twin(said.source, unlike)
        if twin is not None:
            raise Malformed(
                Failure.NEAR_DUPLICATE,
                f"this is kernel {twin[0]} again, which was measured already "
                f"({100 * twin[1]:.4g}% of the tokens are the same)",
            )
        return Draft(candidate=Candidate.from_source(said.source), report=said.report)

    return await ask(model, role, context, render, read)


def invalid_reason(source: str, context: Context) -> str:
    """Why no backend would take the file for the task's shapes; empty when there is no reason."""
    try:
        check_fit(source, context.task, context.device.backend)
    except Rejected as rejected:
        return rejected.reason + quoted(source, rejected.line)
    return ""


def quoted(source: str, line: int | None) -> str:
    """The line that a reason names: a model that sent edits has not seen the file they make."""
    lines = source.split("\n")
    if line is None or not 0 < line <= len(lines) or not lines[line - 1].strip():
        return ""
    return f" (the file's line {line} is: {lines[line - 1].strip()[:120]})"


def measured(individuals: Iterable[Individual]) -> list[Individual]:
    """Those with times: nearly repeating a failed one may be its cure."""
    return [one for one in individuals if one.evaluation.passed]
