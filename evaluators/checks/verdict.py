"""Outputs of a run, compared with what they should be and judged by the task's own check().

Where check() judges, two runs on one draw may differ: each of them is judged by itself.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np

from evaluators.checks.budget import Error, Standard
from evaluators.checks.compare import check_output
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.arguments import Array, Workload
from evaluators.tasks.own_check import fault, finished
from evaluators.tasks.reference_file import Raised
from evaluators.tasks.task import Task

Arrays = Mapping[str, Array]


def judged(
    task: Task,
    workload: Workload,
    outputs: Arrays,
    inputs: Arrays,
    references: Arrays,
    standard: Standard,
) -> dict[str, Error]:
    """The error of each output, by "label/output"; of one that check() alone judges it is none.

    task: as the workload has it. outputs: as they lie in memory. Raises Rejected(WRONG), and
    TaskError for what the task's own functions may not return.
    """
    own = task.own
    errors = {f"{workload.label}/{output.name}": Error(largest=0.0) for output in task.outputs}
    results = outputs
    if own.epilogue is not None or own.check is not None:
        outputs = _in_own_dtypes(task, outputs)
    if own.epilogue is not None:
        with _blaming("epilogue"):
            results = finished(task, workload, outputs, inputs)
    for output in task.outputs:
        if output.name in references:
            errors[f"{workload.label}/{output.name}"] = check_output(
                output, workload, results[output.name], references[output.name], standard
            )
    if own.check is not None:
        with _blaming("check"):
            wrong = fault(task, workload, outputs, inputs, references)
        if wrong:
            raise Rejected(Status.WRONG, _told(wrong, workload))
    return errors


def _told(wrong: str, workload: Workload) -> str:
    """The sentence may name what should be there: see disclosure.py."""
    if workload.suite == "tests":
        return f"{wrong} (by the task's own check)"
    return "the task's own check finds the outputs wrong"


def _in_own_dtypes(task: Task, outputs: Arrays) -> dict[str, Array]:
    """Bytes that stand for bools become such. Raises Rejected(WRONG) for those that stand for
    none."""
    found = {}
    for output in task.outputs:
        values = outputs[output.name]
        if output.np_dtype == np.bool_:
            stray = np.argwhere(values > 1)
            if stray.size:
                place = ", ".join(str(i) for i in stray[0])
                byte = int(values[tuple(stray[0])])
                raise Rejected(
                    Status.WRONG, f"{output.name}[{place}] is the byte {byte}: a bool is 0 or 1"
                )
            values = np.ascontiguousarray(values).view(np.bool_)
        found[output.name] = values
    return found


@contextmanager
def _blaming(function: str) -> Iterator[None]:
    """What garbage the outputs hold may make a task's own function raise: then they are wrong; the
    task is, where it also does on those of its naive seed (see Correctness.check)."""
    try:
        yield
    except Raised as error:
        raise Rejected(
            Status.WRONG, f"{function}() raised {error} on these outputs", doubtful=True
        ) from None
