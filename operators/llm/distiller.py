"""LLM distiller: rules from the record, in a model's words; their numbers are never its own."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from operators.finding import Finding, Kind
from operators.individual import Individual
from operators.llm.ask import ask
from operators.llm.prompts.distilling import MOST_RULES, distiller_prompt
from operators.llm.prompts.render import Scene
from operators.llm.prompts.room import PROMPT_TOKENS
from operators.llm.question import Failure, Malformed, Model, Prompt, Reply
from operators.llm.replies import DistillerReply, RuleReply
from operators.llm.schema import schema_of
from operators.llm.selector import meant
from operators.llm.structured import read_structured
from operators.operator import Context

SCHEMA = schema_of(DistillerReply)
RULE_CHARACTERS = 240
_GAIN = re.compile(r"\d(?:\.\d+)?\s*(?:x\b|×|%|percent|times)", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What a model says, its kernels looked up. renews: the id of a rule of its own, or ""."""

    kind: Kind
    rule: str
    shown_by: tuple[str, ...]
    against: tuple[str, ...] = ()
    renews: str = ""


Bear = Callable[[Rule], Finding | str]
"""The rule with the number that its kernels bear out, or why they do not, in a clause."""


class LlmDistiller:
    """Asks about a whole record. What it says without evidence is turned away."""

    def __init__(self, model: Model, *, tokens: int = PROMPT_TOKENS["distiller"]) -> None:
        """tokens: of a prompt, at most."""
        self._model = model
        self._tokens = tokens

    async def distil(
        self,
        known: Mapping[str, Individual],
        findings: Sequence[Finding],
        bear: Bear,
        context: Context,
    ) -> tuple[Finding, ...]:
        """known: kernels by id, oldest first; findings: those that stand. Raises Declined."""

        def render(tokens: int | None) -> Prompt:
            return distiller_prompt(Scene.of(context, tokens or self._tokens), known, findings)

        def read(reply: Reply) -> tuple[Finding, ...]:
            said = read_structured(reply, DistillerReply).rules[:MOST_RULES]
            found: list[Finding] = []
            wrong: list[Malformed] = []
            for one in said:
                try:
                    found.append(_borne(one, list(known), bear))
                except Malformed as malformed:
                    wrong.append(malformed)
            if wrong and not found:
                kind = wrong[0].kind
                raise Malformed(kind, "; ".join(one.reason for one in wrong[:4]))
            return tuple(found)

        return await ask(self._model, "distiller", context, render, read, schema=SCHEMA)


def _borne(said: RuleReply, ids: Sequence[str], bear: Bear) -> Finding:
    """Raises Malformed."""
    rule = " ".join(said.rule.split())
    if said.condition.strip():
        rule = f"{rule.rstrip('.')} ({' '.join(said.condition.split()).rstrip('.')})"
    shown = rule if len(rule) <= RULE_CHARACTERS else f"{rule[: RULE_CHARACTERS - 3]}..."
    if _GAIN.search(rule):
        raise Malformed(
            Failure.MISSING_FIELDS,
            f"{shown!r} names a gain: leave it out, it is computed from the kernels named",
        )
    borne = bear(
        Rule(
            kind=said.kind,
            rule=shown,
            shown_by=_looked_up(said.shown_by, ids),
            against=_looked_up(said.against, ids),
            renews=said.id.strip(),
        )
    )
    if isinstance(borne, str):
        raise Malformed(Failure.UNKNOWN_IDS, f"{shown!r} is not borne out: {borne}")
    return borne


def _looked_up(said: Sequence[str], ids: Sequence[str]) -> tuple[str, ...]:
    """Raises Malformed: a kernel that does not exist."""
    found = {one: meant(one, ids) for one in said}
    unknown = [one for one, identity in found.items() if identity is None]
    if unknown:
        raise Malformed(Failure.UNKNOWN_IDS, f"{unknown[0]!r} is no kernel of the record")
    return tuple(dict.fromkeys(identity for identity in found.values() if identity))
