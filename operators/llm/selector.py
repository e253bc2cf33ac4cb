"""LLM-guided tournament selection; the classic tournament where the model fails."""

from collections.abc import Sequence
from dataclasses import replace

from operators.individual import Individual
from operators.llm.ask import ask
from operators.llm.prompts.render import Scene, selector_prompt
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Failure, Malformed, Model, Prompt, Reply
from operators.llm.replies import SelectorReply
from operators.llm.schema import schema_of
from operators.llm.structured import read_structured
from operators.operator import Context, InVain, Selection, Selector

SCHEMA = schema_of(SelectorReply)
SHORTEST_PREFIX = 6
"""Of an id, when a model abbreviates it."""


class LlmSelector:
    """Shows the model a table of the tournament, without code."""

    def __init__(
        self,
        model: Model,
        fallback: Selector,
        *,
        tokens: int = PROMPT_TOKENS["selector"],
        least: int = 2,
    ) -> None:
        """tokens: of a prompt, at most; least: of a tournament that the model is asked about."""
        self._model = model
        self._fallback = fallback
        self._tokens = tokens
        self._least = least

    async def select(self, tournament: Sequence[Individual], context: Context) -> Selection:
        """tournament: passed individuals, best first, at least one."""
        if len(tournament) < self._least:
            return await self._fallback.select(tournament, context)
        if "selector" in context.resting:
            return await self._fall_back(tournament, context, "is not asked for some cycles")
        bases = [one.id for one in tournament] + [
            one.id
            for one in context.individuals.values()
            if one.evaluation.passed and one.island == context.island
        ]
        passed = {one.id: one for one in (*context.individuals.values(), *tournament)}
        references = [identity for identity, one in passed.items() if one.evaluation.passed]

        def render(tokens: int | None) -> Prompt:
            scene = Scene.of(context, tokens or self._tokens)
            return selector_prompt(scene, tournament, context.individuals, context.lines)

        def read(reply: Reply) -> Selection:
            said = read_structured(reply, SelectorReply)
            base_id = meant(said.base_id, bases)
            if base_id is None:
                shown = ", ".join(one.id for one in tournament)
                raise Malformed(
                    Failure.UNKNOWN_IDS,
                    f"{said.base_id!r} is no kernel that can be the Base; choose from {shown}",
                )
            reference_id = meant(said.reference_id, references)
            rationale = said.rationale.strip()
            if reference_id is None:  # a good Base is not asked for again
                reference_id = next((one.id for one in tournament if one.id != base_id), base_id)
                rationale += (
                    f" ({said.reference_id!r} is no kernel that passed; the fastest other one of "
                    "the tournament stands in.)"
                )
            return Selection(
                base_id=base_id,
                reference_id=reference_id,
                rationale=rationale,
                decided_by="model",
            )

        try:
            return await ask(self._model, "selector", context, render, read, schema=SCHEMA)
        except InVain as told:
            chosen = await self._fall_back(tournament, context, f"did not ({told})")
            return replace(chosen, in_vain=told.reason)

    async def _fall_back(
        self, tournament: Sequence[Individual], context: Context, why: str
    ) -> Selection:
        """why: what the model does, or did."""
        classic = await self._fallback.select(tournament, context)
        told = f"the tournament decided, as the model {why}: {classic.rationale}"
        return replace(classic, rationale=told)


def meant(said: str, ids: Sequence[str]) -> str | None:
    """The id that was meant, or begins so; None where there is none, or several."""
    said = said.strip().strip("`\"'<>")
    if said in ids:
        return said
    near = {one for one in ids if len(said) >= SHORTEST_PREFIX and one.startswith(said)}
    return near.pop() if len(near) == 1 else None
