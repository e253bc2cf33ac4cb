"""What a task's own epilogue() makes of outputs, and what its own check() says of them."""

from collections.abc import Mapping

import numpy as np

from evaluators.tasks.arguments import Array, TaskError, Workload
from evaluators.tasks.reference_file import as_array, returned, safe
from evaluators.tasks.task import Task

Arrays = Mapping[str, Array]

NO_REASON = "check() finds the outputs wrong"


def hosted(task: Task) -> list[str]:
    """What of a task's data and verdicts its own functions are asked for, on the host. Raises
    TaskError."""
    own, lines = task.own, []
    outputs = [output.name for output in task.outputs]
    if task.makes:
        lines.append(f"inputs() makes {', '.join(sorted(task.makes))} on the host")
    if own.check is not None:
        lines.append(f"check() judges {', '.join(outputs)} on the host")
    if own.epilogue is not None:
        lines.append("epilogue() is applied on the host, and its results are compared there")
    strided = [argument.name for argument in task.arguments if argument.strides is not None]
    if strided:
        lines.append(
            f"data of shapes with strides ({', '.join(strided)}) are drawn and compared on the host"
        )
    return lines


def finished(task: Task, workload: Workload, outputs: Arrays, inputs: Arrays) -> dict[str, Array]:
    """Outputs by name, as the task's epilogue() leaves them; they may have other shapes then.

    Raises Raised where it does, and TaskError for what it may not return.
    """
    own = task.own
    if own.epilogue is None:
        return dict(outputs)
    where = f"{own.path}: epilogue() on {workload.label}"
    results = own.call(own.epilogue, task.names(workload, {}), dict(outputs), dict(inputs))
    if not isinstance(results, Mapping):
        raise TaskError(f"{where} must return a dict by output name, not {type(results).__name__}")
    made = dict(outputs)
    known = {output.name: output for output in task.on(workload).outputs}
    for name in results:
        if name not in {*known, *map(safe, known)}:
            raise TaskError(f"{where} returned {name!r}, which is no output ({', '.join(known)})")
    for name, output in known.items():
        value = returned(results, name)
        if value is not None:
            made[name] = as_array(value, output, where).astype(output.np_dtype)
    return made


def fault(task: Task, workload: Workload, outputs: Arrays, inputs: Arrays, expected: Arrays) -> str:
    """What the task's check() finds wrong, a sentence; empty where it finds nothing, or there is
    none.

    outputs, inputs: in their own dtypes; it may write into neither. Raises Raised where it does,
    and TaskError for what it may not return.
    """
    own = task.own
    if own.check is None:
        return ""
    names = task.names(workload, {"expected": dict(expected)})
    nulls = {name: None for name, null in workload.setting.nulls.items() if null}
    found = own.call(own.check, names, {**nulls, **outputs}, {**nulls, **inputs})
    if found is None or (isinstance(found, bool | np.bool_) and found):
        return ""
    if isinstance(found, bool | np.bool_):
        return NO_REASON
    if isinstance(found, str):
        return " ".join(found.split()) or NO_REASON
    raise TaskError(
        f"{own.path}: check() on {workload.label} must return None, True, False or a sentence, "
        f"not {type(found).__name__}"
    )
