"""Kernels judged by the evaluator itself, each in a race beside the Base that it was made from."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evaluators.device import Compiled, backend
from evaluators.evaluate import compile_shown, opened
from evaluators.evaluation import Evaluation, Rejected
from evaluators.kernel.source import KernelSource, kernel_id
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.gain import gain, spread_on
from evaluators.measuring.policy import Anchor
from evaluators.measuring.race import AnchorFailed
from evaluators.processes.child_evaluator import ChildEvaluator
from evaluators.tasks.task import Task
from scripts.roles.answers import Answer, Answers, Judged, Key
from scripts.roles.asking import TASKS, Told
from scripts.roles.situations import Ratio, Situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A kernel that an answer led to, and what was predicted of it, in percent."""

    situation: Situation
    repeat: int
    slot: int
    source: str
    predicted: tuple[float, float] | None

    @property
    def key(self) -> Key:
        return self.situation.id, self.repeat, self.slot

    @property
    def base(self) -> str:
        """What it is raced with: its Base, else the naive seed (of a failed kernel without one)."""
        base = self.situation.base
        return base.candidate.source if base is not None else ""


def judge(situations: Sequence[Situation], answers: Answers, tasks: TASKS, told: Told) -> None:
    """Every kernel of the answers that has no verdict yet, on the backend that its situation is of.

    Raises BackendMissing, DeviceFault, TaskError.
    """
    known = {one.id: one for one in situations}
    wanted = [
        one
        for answer in answers.answers.values()
        if answer.situation in known
        for one in written(known[answer.situation], answer)
        if one.key not in answers.verdicts
    ]
    groups: dict[tuple[str, str], list[Written]] = {}
    for one in wanted:
        campaign = one.situation.campaign
        groups.setdefault((campaign.task_hash, campaign.device.backend), []).append(one)
    done = 0
    for (task_hash, backend_name), group in groups.items():
        with opened(tasks[task_hash], backend_name) as evaluator:
            bench = _Bench(tasks[task_hash], evaluator)
            for one in group:
                answers.add(bench.judged(one))
                done += 1
                told("judged", done, len(wanted))


def written(situation: Situation, answer: Answer) -> Iterator[Written]:
    """The kernels of an answer: a writer's or a repair's one, or those of a design."""
    experiment = situation.asked.experiment or (
        situation.failed.experiment if situation.failed is not None else None
    )
    for slot, one in enumerate([answer.said, *answer.said.get("written", ())]):
        if "source" in one:
            told = one.get("predicted") or (experiment.performance if experiment else None)
            yield Written(
                situation=situation,
                repeat=answer.repeat,
                slot=slot,
                source=one["source"],
                predicted=(told[0], told[1]) if told else None,
            )


class _Bench:
    """One device, its compiler, and what was judged there already."""

    def __init__(self, task: Task, evaluator: Evaluator | ChildEvaluator) -> None:
        self._task, self._evaluator = task, evaluator
        self._info = evaluator.device.info
        self._compiler = backend(self._info.backend).compiler(arch=self._info.arch)
        self._anchors: dict[str, Anchor] = {}
        self._verdicts: dict[tuple[str, str], dict[str, Any]] = {}  # by Base and kernel

    def judged(self, one: Written) -> Judged:
        """The same kernel beside the same Base is measured once."""
        pair = one.base, kernel_id(one.source)
        if pair not in self._verdicts:
            self._verdicts[pair] = self._measured(*pair, one.source)
        return Judged(
            situation=one.situation.id,
            role=one.situation.role,
            repeat=one.repeat,
            slot=one.slot,
            kernel_id=pair[1],
            predicted=one.predicted,
            **self._verdicts[pair],
        )

    def _measured(self, base: str, identity: str, source: str) -> dict[str, Any]:
        """What is said of a kernel beside a Base. Whether it is right on held-out shapes is not
        asked, as campaigns ask it of what becomes the best alone."""
        try:
            kernel, compiled = self._compiled(source)
        except Rejected as rejected:
            return {"compiled": False, "status": rejected.status, "reason": rejected.reason}
        found: dict[str, Any] = {"compiled": True}
        try:
            anchor = self._anchor(base)
            made = self._evaluator.measure(kernel, compiled, anchor)
            if made.passed:
                same = anchor.kernel_id == identity
                found["gain"] = (1.0, 1.0, 1.0) if same else self._gain(made, anchor)
        except (AnchorFailed, Rejected) as error:
            found["base_failed"] = str(error)
            made = self._evaluator.measure(kernel, compiled, None)
        return {**found, "status": made.status, "reason": made.reason}

    def _anchor(self, base: str) -> Anchor:
        """Raises Rejected: what passed where it was recorded does not compile here."""
        if base not in self._anchors:
            kernel, compiled = self._compiled(base or self._task.naive)
            self._anchors[base] = Anchor(kernel_id=kernel.id, kernel=kernel, compiled=compiled)
        return self._anchors[base]

    def _compiled(self, source: str) -> tuple[KernelSource, Compiled]:
        return compile_shown(source, self._task, self._compiler, self._info.backend)

    def _gain(self, made: Evaluation, anchor: Anchor) -> Ratio | None:
        """Over the anchor, from their one race: beside itself it gained nothing."""
        base = replace(
            made, kernel_id=anchor.kernel_id, gains=dict.fromkeys(made.gains, 0.0), blocks={}
        )
        return gain(made, base, spread_on(self._info))
