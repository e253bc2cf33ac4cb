"""What an exported launcher must launch, by the evaluator's own plan."""

import re
from collections.abc import Mapping

from evaluators.device_info import target_of
from evaluators.kernel.by_value import packed
from evaluators.kernel.plan import Given, LaunchStep, Plan, Step
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task


def planned(
    task: Task,
    source: KernelSource,
    workload: Workload,
    places: Mapping[str, int] | None = None,
    scratch: int = 0x100000,
) -> list[str]:
    """One line a launch, as the recorder prints them.

    places: where arguments lie; None: at 4096, 8192, ...
    """
    plan = source.plan(task, workload, target_of("hip"))
    at = {a.name: 4096 * (i + 1) for i, a in enumerate(task.arguments)} | dict(places or {})
    for name, nbytes in plan.scratch.items():
        at[name] = scratch
        scratch += -(-nbytes // 256) * 256
    arguments = task.on(workload).arguments
    sizes = {a.name: a.nbytes(workload.env) for a in arguments} | dict(plan.scratch)
    lines = [_line(step, at, sizes) for step in plan.steps]
    if plan.prepare:
        return [*(_line(step, at, sizes) for step in plan.prepare), "prepared", *lines]
    return lines


def build_of(text: str, plan: Plan) -> int:
    """The number of the build with the plan's defines."""
    for number, code in re.findall(r"^namespace build(\d+) \{\n(.*?)^\}", text, re.M | re.S):
        if re.findall(r"^#define (\w+) (-?\d+)$", code, re.M) == [
            (name, str(value)) for name, value in plan.defines
        ]:
            return int(number)
    raise AssertionError("the plan's build is missing")


def _line(step: Step, places: Mapping[str, int], sizes: Mapping[str, int]) -> str:
    if not isinstance(step, LaunchStep):
        return f"memset {places[step.buffer]} {step.byte} {sizes[step.buffer]}"
    words = ["cooperative" if step.cooperative else "launch", *step.grid, *step.block]
    words += [step.lds_bytes, *(_word(argument, places) for argument in step.args)]
    return " ".join(map(str, words))


def _word(argument: Given, places: Mapping[str, int]) -> int:
    """The low 32 bits."""
    return int.from_bytes(packed(argument, lambda name: places[name])[:4], "little")
