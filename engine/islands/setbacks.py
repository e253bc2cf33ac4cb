"""Setbacks: what an island asks differently when replies that can't be used cost it its cycles."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from engine.config import OperatorMix
from engine.islands.rests import Rests
from engine.llm.config import Llm
from engine.store.events import CycleFinished
from operators.llm.question import ROLES

IN_A_ROW = 3
"""Lost cycles in a row, all asked in the same way, after which the island asks in another."""
AS_USUAL, SMALLER, ANOTHER_MODEL, OVER = range(4)
NONE_DRAWN: Mapping[str, tuple[str, ...]] = {}
UNUSABLE = "no reply could be used"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a cycle asks. trouble: role -> what was wrong with its last replies, where its questions
    are smaller ones; models: role -> the name of the model that is asked in place of its own;
    resting: roles that are not asked."""

    step: int = AS_USUAL
    trouble: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    resting: frozenset[str] = frozenset()


class Setbacks:
    """Follows from the order of an island's own events; a cycle that came to something mends all,
    but for the models."""

    def __init__(
        self,
        island: int,
        mix: OperatorMix,
        llm: Llm | None,
        drawn: Mapping[str, tuple[str, ...]] = NONE_DRAWN,
    ) -> None:
        """drawn: role -> the models that credit chooses from."""
        self._island, self._mix, self._llm, self._drawn = island, mix, llm, drawn
        self._way = Way()
        self._lost = 0  # in a row, of those asked in this way
        self._trouble: dict[str, str] = {}  # of these
        self.rests = Rests(mix, IN_A_ROW)
        self.warning = ""
        """For a person, in one sentence; empty while all is well."""

    def begin(self, cycle: int, operator: str) -> Way:
        """How a cycle asks. After the island's end, in a later session: as at first."""
        if self._way.step == OVER:
            self._mend()
            self.rests.forget(*ROLES)
        return replace(self._way, resting=self.rests.begin(cycle, operator))

    def take(self, finished: CycleFinished) -> None:
        """One that was lost, and was still asked in a former way, says nothing of this one."""
        self.rests.take(finished)
        if finished.written:
            self._mend()
        elif finished.lost and finished.step == self._way.step < OVER:
            self._lost += 1
            self._trouble |= finished.lost
            if self._lost == IN_A_ROW:
                self._change({**self._way.trouble, **self._trouble})

    @property
    def ending(self) -> str:
        """Why the island ends; empty while it goes on."""
        return self.warning if self._way.step == OVER else ""

    def _mend(self) -> None:
        self._ask(Way(models=self._way.models), "")

    def _ask(self, way: Way, warning: str) -> None:
        self._way, self.warning = way, warning
        self._lost, self._trouble = 0, {}

    def _change(self, trouble: Mapping[str, str]) -> None:
        step = self._way.step + 1
        models = self._way.models
        others = self._others(trouble) if step == ANOTHER_MODEL else {}
        last = "; ".join(f"{role}: {reason}" for role, reason in trouble.items())
        said = f"{UNUSABLE} in {step * IN_A_ROW} cycles in a row ({last})"
        if step == SMALLER:
            said += "; smaller tasks are asked for"
        elif step == ANOTHER_MODEL:
            said += f"; {self._told(others)}"
        self.rests.forget(*others)
        self._ask(Way(step=step, trouble=trouble, models={**models, **others}), said)

    def _others(self, trouble: Mapping[str, str]) -> dict[str, str]:
        """Role -> the model that follows its own in llm.models, where there is one."""
        found: dict[str, str] = {}
        for role in trouble:
            asked = self._asked(role)
            names = list(self._llm.models) if self._llm else []
            after = names.index(asked[-1]) + 1 if names else 0
            others = [name for name in names[after:] + names[:after] if name not in asked]
            if others:
                found[role] = others[0]
        return found

    def _asked(self, role: str) -> tuple[str, ...]:
        """The names of the models that the role asks."""
        known = ROLES[ROLES.index(role)]
        now = self._way.models.get(role)
        if now is None and role in self._drawn:
            return self._drawn[role]
        own = now or self._mix.models.get(known, "")
        return (self._llm.model_name(known, own, self._island) if self._llm else own,)

    def _told(self, others: Mapping[str, str]) -> str:
        if not others:
            return "llm.models names no other model to ask"
        return ", ".join(
            f"the {role} asks {name!r} in place of {' and '.join(map(repr, self._asked(role)))}"
            for role, name in others.items()
        )
