"""What is counted of a campaign, in words: the best, verdicts, calls of models, improvements."""

from collections.abc import Iterator, Mapping, Sequence

from engine.cli.spans import ago
from engine.cli.troubles import clock_time
from engine.snapshot import Improvement
from engine.store.ratios import ratio_text
from engine.store.scoreboard import Best
from engine.store.spending import Spending
from evaluators.evaluation import Status
from evaluators.measuring.headline import times


def best_text(best: Best | None) -> str:
    if best is None:
        return "none yet"
    interval = f" [{best.ci95[0]:.2f}, {best.ci95[1]:.2f}]" if best.ci95 else ""
    over = f" ({times(best.over[1])} over {best.over[0]})" if best.over else ""
    return f"{ratio_text(best.speedup, timed=best.timed)}{interval}{over} {best.kernel_id[:12]}"


def verdicts(by_status: Mapping[str, int]) -> str:
    """ "41 passed, 3 COMPILE_ERROR": what passed first, then failures by kind, most first."""
    failures = sorted(
        ((count, status) for status, count in by_status.items() if status != Status.PASSED),
        reverse=True,
    )
    passed = f"{by_status.get(Status.PASSED, 0)} passed"
    return ", ".join([passed, *(f"{count} {status}" for count, status in failures)])


def calls_text(calls: Spending) -> str:
    """ "208 calls, 852744 tokens, 1.10 dollars; 14 dropped, 9 timeout": failures, most first."""
    spent = f"{calls.calls} calls, {calls.tokens} tokens"
    if calls.dollars:
        spent += f", {calls.dollars:.2f} dollars"
    kinds = sorted(calls.failures.items(), key=lambda one: (-one[1], one[0]))
    failures = [f"{count} {kind}" for kind, count in kinds]
    if calls.lost:
        failures.append(f"{calls.lost} lost in kills")
    return "; ".join(filter(None, (spent, ", ".join(failures))))


def improvement_rows(steps: Sequence[Improvement]) -> Iterator[tuple[str, str]]:
    """The latest first."""
    for number, step in enumerate(reversed(steps)):
        yield ("" if number else "improved", improvement_text(step))


def improvement_text(step: Improvement) -> str:
    """ "14:03:10, 12 s ago: 3.64x -> 42.75x 84753cd75748 newcomer: gemm_pack"."""
    before, after = (ratio_text(one, timed=step.timed) for one in (step.before, step.after))
    what = f"{before} -> {after} {step.kernel_id[:12]} {step.technique}"
    uncontested = "" if step.contest or not step.timed else " (without a contest)"
    return f"{clock_time(step.at)}, {ago(step.at)}: {what}{uncontested}"
