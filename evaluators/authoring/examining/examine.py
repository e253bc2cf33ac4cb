"""All that check-task looks at, in order: examine()."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evaluators.authoring.examining.costs import (
    Need,
    look_at_launches,
    look_at_light,
    look_at_needs,
    needs,
)
from evaluators.authoring.examining.finding import Finding, note, weak, wrong
from evaluators.authoring.examining.inputs import look_at_inputs
from evaluators.authoring.examining.mutants import mutants
from evaluators.authoring.examining.references import (
    look_at_device_reference,
    look_at_reference,
)
from evaluators.authoring.examining.runs import Case, Outputs, cases, error, quiet, run_on
from evaluators.authoring.examining.shapes import look_at_shapes, smallest_first
from evaluators.authoring.examining.tolerance import look_at_tolerance
from evaluators.authoring.examining.trials import Trial, Trials, told
from evaluators.checks.shapes import derived_shapes
from evaluators.device import backend, times
from evaluators.evaluate import compile_kernel, evaluate_file, opened
from evaluators.evaluation import Evaluation, Rejected
from evaluators.kernel.seeds import naive_of, seeds_for
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.evaluator import Evaluator
from evaluators.tasks.arguments import TaskError, Workload
from evaluators.tasks.reference import smallest
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

FEW = 8
"""Tests on which outputs are looked at, and derived shapes on which the seed is."""
SEEDS = "seeds"
Watching = Callable[[str], None]


@dataclass
class Examined:
    """A task looked at. trials: of broken seeds. needs: by benchmark."""

    task: str
    backend: str
    findings: list[Finding] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    needs: list[Need] = field(default_factory=list)

    @property
    def fine(self) -> bool:
        """Whether nothing must be mended."""
        return not any(one.severity == "wrong" for one in self.findings)


def examine(
    folder: str | Path, backend_name: str, *, most: int, watching: Watching = lambda _: None
) -> Examined:
    """most: broken seeds. watching: is told what is looked at.

    Raises TaskError for a task that can't be read at all, BackendMissing.
    """
    task = load_task(folder)
    made = Examined(task=task.name, backend=backend_name)
    tests = smallest_first(task, task.workloads("tests", backend_name))[:FEW]
    try:
        watching("reference and inputs")
        _try_reference(task, backend_name)
        made.findings += look_at_reference(task, tests)
        made.findings += look_at_inputs(task, tests)
        made.findings += look_at_shapes(task, backend_name)
    except TaskError as problem:
        made.findings.append(wrong("reference", str(problem)))
        return made
    watching("the seeds")
    for name in seeds_for(task, backend_name):
        found, evaluation = _seed(task, name, backend_name)
        made.findings += found
        if evaluation is None or not evaluation.passed:
            return made
        if task.seeds[name] == naive_of(task, backend_name) and times(backend_name):
            made.findings += look_at_light(task, evaluation.speed_of_light)
    _on_device(task, backend_name, tests, most, made, watching)
    watching("memory and time")
    made.needs = needs(task, backend_name)
    made.findings += look_at_needs(made.needs, task)
    made.findings += look_at_launches(task)
    return made


def _try_reference(task: Task, backend_name: str) -> None:
    workload = smallest(task, backend_name)
    if workload is None:
        raise TaskError(f"{task.folder}: task.yaml has no shapes for {backend_name}; state some")
    with quiet():
        task.reference(workload, task.inputs(workload, seed=0))


def _seed(task: Task, name: str, backend_name: str) -> tuple[list[Finding], Evaluation | None]:
    path = task.folder / "seeds" / f"{name}.hip"
    try:
        evaluation = evaluate_file(path, task, backend_name, seconds=0)
    except TaskError as problem:
        return [wrong(SEEDS, str(problem))], None
    if not evaluation.passed:
        return [wrong(SEEDS, f"{path} is {evaluation.status}: {evaluation.reason}")], evaluation
    speed = "" if evaluation.speedup is None else f", {evaluation.speedup:.2f}x the naive seed"
    of = "" if task.seeds[name] == naive_of(task, backend_name) else speed
    return [note(SEEDS, f"seeds/{name}.hip is right on every shape{of}")], evaluation


def _on_device(
    task: Task,
    backend_name: str,
    tests: Sequence[Workload],
    most: int,
    made: Examined,
    watching: Watching,
) -> None:
    """What needs the seed's outputs, and the broken seeds."""
    naive = naive_of(task, backend_name)
    with opened(task, backend_name) as evaluator:
        compiler = backend(backend_name).compiler(arch=evaluator.device.info.arch)
        kernel, compiled = compile_kernel(naive, task, compiler, backend_name)
        chosen: list[Case] = []
        outputs: list[Outputs] = []
        if isinstance(evaluator, Evaluator):
            watching("outputs and tolerance")
            chosen = cases(evaluator.pool, tests)
            outputs = run_on(evaluator.device, task, kernel, compiled, chosen)
            made.findings += look_at_device_reference(task, evaluator.device, compiler, chosen)
            made.findings += _on_derived(task, backend_name, evaluator)
        else:
            chosen = cases_without_device(task, tests)
        made.findings += look_at_tolerance(task, chosen, outputs)
        if not most:
            return
        right = chosen if outputs else []
        trials = Trials(task, evaluator, compiler, backend_name, right, outputs)
        broken = mutants(naive, most, exact=_is_exact(task))
        made.trials = trials.run(broken, watching)
        if made.trials:
            made.findings += told(made.trials, looked_at=bool(outputs))


def cases_without_device(task: Task, tests: Sequence[Workload]) -> list[Case]:
    from evaluators.checks.inputs import InputPool

    return cases(InputPool(task, secret=1), tests)


def _is_exact(task: Task) -> bool:
    return all(one.np_dtype.itemsize >= 4 for one in task.outputs)


def _on_derived(task: Task, backend_name: str, evaluator: Evaluator) -> Iterator[Finding]:
    """The naive seed on shapes that nobody stated: those it is wrong on are left out, silently."""
    compiler = backend(backend_name).compiler(arch=evaluator.device.info.arch)
    kernel = parse_kernel(naive_of(task, backend_name))
    specialized = bool(kernel.specialize)
    shapes = smallest_first(task, derived_shapes(task, backend_name))[: 2 if specialized else FEW]
    failed: list[str] = []
    for case in cases(evaluator.pool, shapes):
        label = case.workload.label
        try:
            compiled = compiler.compile(
                kernel, [kernel.plan(task, case.workload, evaluator.device.info.target)]
            )
            (made,) = run_on(evaluator.device, task, kernel, compiled, [case])
        except Rejected as rejected:
            failed.append(f"{label} ({rejected})")
            continue
        if error(task, case, made) > 1:
            failed.append(f"{label} (WRONG)")
    if failed:
        yield weak(
            SEEDS,
            f"the naive seed fails on {len(failed)} of {len(shapes)} shapes between the stated "
            f"ones: {failed[0]}; such shapes are left out of all checks",
            "if the problem admits these sizes, mend the seed; else let a formula or reference() "
            "refuse them",
        )
