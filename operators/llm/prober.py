"""LLM prober: writes the probe file that answers a designer's question."""

from dataclasses import replace

from evaluators.evaluation import Rejected
from evaluators.kernel.source_check import check_source
from evaluators.probes.probe import parse_probe
from operators.individual import Individual
from operators.llm.ask import ask
from operators.llm.kernel_reply import read_kernel
from operators.llm.prompts.render import Scene, probe_prompt
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Failure, Malformed, Model, Prompt, Reply
from operators.llm.writers import quoted
from operators.operator import AskedProbe, Context


class LlmProber:
    """The Kernel Writer, asked for a probe in place of a kernel."""

    def __init__(self, model: Model, *, tokens: int = PROMPT_TOKENS["writer"]) -> None:
        """tokens: of a prompt, at most."""
        self._model = model
        self._tokens = tokens

    async def write_probe(self, asked: AskedProbe, base: Individual, context: Context) -> str:
        """Raises Declined: no usable probe file."""
        # What went wrong with its kernels says nothing of probes.
        context = replace(context, trouble={})

        def render(tokens: int | None) -> Prompt:
            scene = Scene.of(context, tokens or self._tokens)
            return probe_prompt(scene, asked, base, context.individuals)

        return await ask(self._model, "writer", context, render, _read)


def _read(reply: Reply) -> str:
    source = read_kernel(reply, "").source
    try:
        kernel = parse_probe(source).kernel
        check_source(kernel.code, first_line=kernel.code_line)
    except Rejected as rejected:
        reason = rejected.reason + quoted(source, rejected.line)
        raise Malformed(Failure.INVALID_KERNEL, reason) from None
    return source
