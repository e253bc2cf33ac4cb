"""Which shapes a task is tried on: ragged ones, those derived for it, and why others are not."""

from collections.abc import Iterator, Sequence

from evaluators.authoring.examining.finding import Finding, note, weak
from evaluators.authoring.examining.runs import quiet
from evaluators.checks.shapes import SMALL_BYTES, derived_shapes
from evaluators.device_info import target_of
from evaluators.evaluation import Rejected
from evaluators.kernel.seeds import seeds_for
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.arguments import SUITES, TaskError, Workload
from evaluators.tasks.covering import covering_shapes
from evaluators.tasks.task import Task

PART = "shapes"
REMAINDERS = 4
"""A size is ragged where it is no multiple of so many times what divides all its values."""


def look_at_shapes(task: Task, backend: str) -> Iterator[Finding]:
    yield from _suites(task, backend)
    yield from _ragged(task, backend)
    yield from _attributes(task, backend)
    yield from _derived(task, backend)


def _suites(task: Task, backend: str) -> Iterator[Finding]:
    if len(task.workloads("tests", backend)) < 2 and task.dims:
        yield weak(
            PART,
            "there is one test only: what goes wrong on other sizes is found late",
            "state a few small ones, with size 1 and ragged ones among them",
        )
    if task.derives_held_out:
        yield note(
            PART, "no held-out shapes are stated: ragged ones near the benchmarks are derived"
        )


def _ragged(task: Task, backend: str) -> Iterator[Finding]:
    import math

    stated = _stated(task, backend)
    tests = task.workloads("tests", backend)
    for name in task.dims:
        values = [w.dims[name] for w in stated]
        step = math.gcd(*values) if values else 1
        if len(set(values)) < 2:
            continue
        own = [w.dims[name] // step for w in tests]
        if not any(times > 1 and times % REMAINDERS for times in own):
            yield weak(
                PART,
                f"no test has a ragged {name}: all are multiples of {REMAINDERS * step}, or the "
                "smallest",
                f"add a test with {name} = {step * 33}, or the like, if kernels must bear it",
            )


def _attributes(task: Task, backend: str) -> Iterator[Finding]:
    """Switches that no shape turns, and optional arguments that are never null."""
    settings = [w.setting for w in _stated(task, backend)]
    for name, default in task.attributes.items():
        if isinstance(default, bool) and len({s.attributes.get(name) for s in settings}) < 2:
            other = str(not default).lower()
            yield weak(
                PART,
                f"{name} is {str(default).lower()} on every shape: nobody checks what kernels do "
                f"where it is {other}",
                f"add a test with {name}: {other}, or leave the attribute out",
            )
    for argument in task.arguments:
        if argument.optional and not any(s.nulls.get(argument.name, False) for s in settings):
            yield weak(
                PART,
                f"{argument.name} is null on no shape, though it is optional",
                f"add a test with {argument.name}: null, or leave out optional",
            )


def _stated(task: Task, backend: str) -> list[Workload]:
    return [w for suite in SUITES for w in task.workloads(suite, backend)]


def _derived(task: Task, backend: str) -> Iterator[Finding]:
    """Whether shapes that nobody stated are taken, and what refuses them."""
    if not any(len({w.dims[name] for w in _stated(task, backend)}) > 1 for name in task.dims):
        return  # sizes that never vary
    with quiet():
        found = derived_shapes(task, backend)
        reasons = _refusals(task, backend)
    if not found:
        why = f": {next(iter(reasons))}" if reasons else ""
        yield weak(
            PART,
            f"no other shapes can be derived, so kernels are tried on the stated ones only{why}",
            "let seed and reference take sizes between the stated ones, or state held_out shapes "
            "and many tests",
        )
        return
    for reason, count in reasons.items():
        if count > len(found):
            yield note(
                PART,
                f"{count} of the shapes derived for it were refused: {reason}",
                "if that is the problem's rule, all is well: they are left out",
            )


def _refusals(task: Task, backend: str) -> dict[str, int]:
    """How often each sentence was the reason, without the shape that it speaks of."""
    reasons: dict[str, int] = {}

    def admits(workload: Workload) -> bool:
        reason = _refusal(task, workload, backend)
        if reason and reason != _LARGE:
            plain = reason.replace(workload.label, "one of them").replace(str(task.folder), "")
            reasons[plain] = reasons.get(plain, 0) + 1
        return not reason

    covering_shapes(_stated(task, backend), admits)
    return reasons


_LARGE = "large"


def _refusal(task: Task, workload: Workload, backend: str) -> str:
    if not task.holds(workload):
        return "a formula of task.yaml does not hold there"
    if task.nbytes(workload) > SMALL_BYTES:
        return _LARGE
    try:
        for name, text in seeds_for(task, backend).items():
            where = f"seeds/{name}.hip"
            parse_kernel(text).plan(task, workload, target_of(backend))
        where = ""
        task.reference(workload, task.inputs(workload, seed=0))
    except Rejected as rejected:
        return f"{where}: {rejected.reason}"
    except TaskError as error:
        return str(error)
    return ""


def smallest_first(task: Task, workloads: Sequence[Workload]) -> list[Workload]:
    return sorted(workloads, key=task.nbytes)
