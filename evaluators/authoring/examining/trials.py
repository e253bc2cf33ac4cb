"""Broken seeds put to the task's checks: which are found, and what the others tell of the task."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from evaluators.authoring.examining.finding import Finding, note, weak
from evaluators.authoring.examining.mutants import Mutant
from evaluators.authoring.examining.runs import Case, Outputs, error, run_on, same_bits
from evaluators.device import Compiled, Compiler
from evaluators.evaluate import compile_kernel
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.source import KernelSource
from evaluators.measuring.evaluator import Evaluator
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task import Task

AnyEvaluator = Evaluator | ChildEvaluator
Fate = Literal["found by tests", "found by held-out shapes", "found as a race", "same", "survived"]

AS_EXACT, OF_TOLERANCE = 2.0, 1e-3
"""A mutant with so many times the seed's error at most, or so much of the tolerance, computes the
same: fewer elements in a maximum that is only subtracted, say."""
REFUSED = (Status.INVALID, Status.UNSUPPORTED, Status.COMPILE_ERROR)
BARRIER = "barrier left out"
PART = "broken seeds"
MOST_BYTES = 1 << 20
"""Of shapes on which races are looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One mutant and how it fared. same: it computes what the seed does. reason: as a kernel's
    author is told."""

    mutant: Mutant
    fate: Fate
    reason: str = ""


class Trials:
    """Tries the mutants of one seed."""

    def __init__(
        self,
        task: Task,
        evaluator: AnyEvaluator,
        compiler: Compiler,
        backend: str,
        chosen: Sequence[Case],
        right: Sequence[Outputs],
    ) -> None:
        """chosen, right: cases, and what the seed computes there; empty: not known."""
        self._task, self._evaluator, self._compiler = task, evaluator, compiler
        self._backend, self._cases, self._right = backend, chosen, right
        self._error = [
            error(task, case, outputs) for case, outputs in zip(chosen, right, strict=True)
        ]

    def run(
        self, mutants: Sequence[Mutant], watching: Callable[[str], None] = lambda _: None
    ) -> list[Trial]:
        """Without those that no compiler takes. watching: is told of each before it is tried."""
        found = []
        for i, mutant in enumerate(mutants):
            watching(f"broken seed {i + 1} of {len(mutants)}: {mutant.kind}, line {mutant.line}")
            if (trial := self._tried(mutant)) is not None:
                found.append(trial)
        return found

    def _tried(self, mutant: Mutant) -> Trial | None:
        try:
            kernel, compiled = compile_kernel(
                mutant.text, self._task, self._compiler, self._backend
            )
        except Rejected as rejected:
            if rejected.status in REFUSED or rejected.killed:
                return None
            return Trial(mutant=mutant, fate="found by tests", reason=str(rejected))
        for suite, fate in _SUITES:
            verdict = self._evaluator.verify(kernel, compiled, suite)
            if not verdict.passed:
                if verdict.status in REFUSED:
                    return None
                reason = f"{verdict.status}: {verdict.reason}"
                return Trial(mutant=mutant, fate=fate, reason=reason)
        if mutant.kind == BARRIER and isinstance(self._evaluator, Evaluator):
            verdict = self._evaluator.races(kernel, most_bytes=MOST_BYTES)
            if not verdict.passed:
                return Trial(mutant=mutant, fate="found as a race", reason=verdict.reason)
        return self._survivor(mutant, kernel, compiled)

    def _survivor(self, mutant: Mutant, kernel: KernelSource, compiled: Compiled) -> Trial:
        if not isinstance(self._evaluator, Evaluator) or not self._cases:
            return Trial(mutant=mutant, fate="survived")
        try:
            made = run_on(self._evaluator.device, self._task, kernel, compiled, self._cases)
        except Rejected as rejected:
            return Trial(mutant=mutant, fate="found by tests", reason=str(rejected))
        worse = 0.0
        for case, own, right, seeds in zip(
            self._cases, made, self._right, self._error, strict=True
        ):
            if same_bits(own, right):
                continue
            own_error = error(self._task, case, own)
            if own_error > max(AS_EXACT * seeds, OF_TOLERANCE):
                worse = max(worse, own_error)
        if not worse:
            return Trial(mutant=mutant, fate="same")
        return Trial(
            mutant=mutant,
            fate="survived",
            reason=f"its largest error is {worse:.2g} of the tolerance",
        )


_SUITES: tuple[tuple[Literal["tests", "held_out"], Fate], ...] = (
    ("tests", "found by tests"),
    ("held_out", "found by held-out shapes"),
)

_ADVICE = {
    "border": "add a test whose size is no multiple of the block, and one where it is",
    "tail not written": "add a test whose size is no multiple of the block",
    "first or last element skipped": "draw inputs in which each element counts, or tighten the "
    "tolerance",
    "term dropped": "draw inputs for which this term matters",
    "sign changed": "draw inputs for which this term matters",
    "sum not kept": "add a test with longer sums",
    "constant changed": "draw inputs for which this constant matters, or tighten the tolerance",
    "minimum for maximum": "draw inputs of both signs, and state values: [spikes]",
    "sum in half precision": "tighten rtol and atol",
    "output of zeros": "draw inputs for which the output is not zero",
    BARRIER: "run evaluate on a GPU too: this race did not show here",
}


def told(trials: Sequence[Trial], *, looked_at: bool) -> Iterator[Finding]:
    """looked_at: whether outputs were compared, so that it is known who computes the same."""
    survived = [one for one in trials if one.fate == "survived"]
    same = [one for one in trials if one.fate == "same"]
    late = [one for one in trials if one.fate == "found by held-out shapes"]
    found = len(trials) - len(survived) - len(same)
    yield note(PART, f"{found} of {len(trials)} broken seeds were found{_by(trials)}")
    for one in survived:
        which = f"line {one.mutant.line}, {one.mutant.kind}: {one.mutant.change}"
        if looked_at:
            yield weak(PART, f"not found: {which} ({one.reason})", _ADVICE[one.mutant.kind])
        else:
            yield note(PART, f"not found: {which}", "it may compute the same; --backend cpu tells")
    if same:
        lines = ", ".join(f"line {one.mutant.line} ({one.mutant.kind})" for one in same)
        yield note(
            PART,
            f"{len(same)} compute what the seed does on every shape tried, which is not held "
            f"against the task: {lines}",
            "if one should matter, add a test that reaches it",
        )
    if late and len(late) > len(trials) // 4:
        yield note(
            PART,
            f"{len(late)} were found on held-out shapes only, which tell their authors nothing",
            "add a ragged test: whoever writes kernels learns from tests",
        )


def _by(trials: Sequence[Trial]) -> str:
    counts = {
        fate: sum(one.fate == fate for one in trials)
        for fate in ("found by tests", "found by held-out shapes", "found as a race")
    }
    words = [f"{n} {fate.removeprefix('found ')}" for fate, n in counts.items() if n]
    return f" ({', '.join(words)})" if words else ""
