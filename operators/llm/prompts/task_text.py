"""What a prompt says of a task's tolerance, its work, and the device's roofs, as text."""

import ast
import math
from collections.abc import Mapping, Sequence

from evaluators.checks.budget import LARGEST_TIMES, RMS_TIMES
from evaluators.device_info import OPERATION_FLOPS, DeviceInfo
from evaluators.dtypes import CPP
from evaluators.expression import Expression
from evaluators.measuring.arithmetic import arithmetic, refused
from evaluators.measuring.speed_of_light import roof
from evaluators.tasks.arguments import Argument, Workload
from evaluators.tasks.task import Task
from evaluators.weights import weights_of

MOST_SHAPES = 6
ARGUMENT_ROLES: Mapping[str, str] = {
    "in": "input",
    "out": "output",
    "inout": "input and output",
    "constant": "constant input (weights; `prepare:` launches over it are not timed)",
}


def formula(expression: Expression) -> str:
    """On one line, as it was written; anew where that holds a comment or a line break."""
    text = expression.text.strip()
    return ast.unparse(expression.tree) if "#" in text or "\n" in text else text


def operand(expression: Expression) -> str:
    """The formula as a part of a larger one: in parentheses unless it is one value or product."""
    match expression.tree:
        case ast.Constant() | ast.Name() | ast.Call() | ast.BinOp(op=ast.Mult()):
            return formula(expression)
    return f"({formula(expression)})"


def arguments_told(task: Task, workloads: Sequence[Workload]) -> list[str]:
    """Of each argument what it is, on a line."""
    return [_argument_told(task, argument, workloads) for argument in task.arguments]


def _argument_told(task: Task, argument: Argument, workloads: Sequence[Workload]) -> str:
    shape = ", ".join(formula(size) for size in argument.dimensions)
    parts = [f"`{argument.name}`: {argument.parameter or argument.dtype}[{shape}]"]
    if argument.strides is not None:
        strides = ", ".join(formula(step) for step in argument.strides)
        parts.append(f"with strides [{strides}] in elements; what lies between is nobody's")
    if argument.optional:
        parts.append("a null pointer on some shapes")
    parts.append(ARGUMENT_ROLES[argument.role])
    if argument.name in task.makes:
        parts.append("made by inputs() of the reference")
    told = ", ".join(parts)
    return f"{told}; {_right(task, argument, workloads)}" if argument.written else told


def _right(task: Task, argument: Argument, workloads: Sequence[Workload]) -> str:
    """When an output is right."""
    own, says = task.own, []
    if argument.name in task.compares:
        after = " after epilogue() of the reference" if own.epilogue is not None else ""
        if argument.parameter:
            shapes = {dtype: _with(workloads, argument, dtype) for dtype in argument.each}
            each = [
                f"{argument.parameter}={dtype}: {right_when(one, shapes[dtype])}"
                for dtype, one in argument.each.items()
            ]
            says.append(f"right{after} when {'; '.join(each)}")
        else:
            says.append(f"right{after} when {right_when(argument, workloads)}")
    if own.check is not None:
        says.append("right when check() of the reference finds nothing wrong")
    return ", and ".join(says)


def _with(workloads: Sequence[Workload], argument: Argument, dtype: str) -> list[Workload]:
    return [w for w in workloads if w.setting.dtypes[argument.parameter] == dtype]


def cpp_types(task: Task) -> list[str]:
    """What C++ calls the dtypes that parameters of the task may be."""
    names = dict.fromkeys(one for dtypes in task.dtypes.values() for one in dtypes)
    return [f"{CPP[name]} for {name}" for name in names]


def layout(task: Task) -> str:
    """Of all arguments."""
    dense = all(argument.strides is None for argument in task.arguments)
    return "all dense and row-major" if dense else "dense and row-major unless strides are told"


def set_by_shape(task: Task) -> list[str]:
    """Attributes and dtype parameters, which a shape's label tells."""
    kinds = {bool: "boolean", int: "integer", float: "decimal"}
    attributes = [f"`{name}` ({kinds[type(one)]})" for name, one in task.attributes.items()]
    dtypes = [f"`{name}` is {' or '.join(known)}" for name, known in task.dtypes.items()]
    lines = [f"Attributes, of the values that shapes tell: {', '.join(attributes)}."]
    return [
        *(lines if attributes else []),
        *(f"Dtype parameter: {one}, by shape." for one in dtypes),
    ]


def right_when(argument: Argument, workloads: Sequence[Workload]) -> str:
    """When a value of an output is right, and about what that is on the shapes it depends on."""
    parts = [operand(argument.absolute)] if not _is_zero(argument.absolute) else []
    if not _is_zero(argument.relative):
        parts.append(f"{operand(argument.relative)} * |reference|")
    if not parts:
        return "value == reference"
    names = argument.absolute.names | argument.relative.names
    values = {_where(workload, names): _values(argument, workload) for workload in workloads}
    told = "; ".join(f"{where}: {value}" for where, value in list(values.items())[:MOST_SHAPES])
    return f"|value - reference| <= {' + '.join(parts)}" + (f" ({told})" if names and told else "")


def _is_zero(expression: Expression) -> bool:
    return isinstance(expression.tree, ast.Constant) and expression.tree.value == 0


def _where(workload: Workload, names: frozenset[str]) -> str:
    known = {**workload.dims, **workload.setting.values}
    return " ".join(f"{name}={value}" for name, value in known.items() if name in names)


def _values(argument: Argument, workload: Workload) -> str:
    absolute, relative = argument.atol(workload.env), argument.rtol(workload.env)
    return f"{absolute:.4g} + {relative:.4g} * |reference|"


def weighed(workloads: Sequence[Workload]) -> str:
    """How much each shape counts; empty where all count the same."""
    weights = weights_of(workloads)
    if not weights:
        return ""
    told = "; ".join(f"{label}: {weight:g}" for label, weight in weights.items())
    return f"Benchmark shapes count by weight, and every mean over them is a weighted one: {told}."


def exactness(task: Task, workloads: Sequence[Workload]) -> str:
    """What holds beyond the tolerance; empty where every output is compared bit for bit."""
    if not any(output.rounded(w.env) for w in workloads for output in task.on(w).outputs):
        return ""
    wider = [
        f"{one.name}'s {one.error_budget * RMS_TIMES:g} and {one.error_budget * LARGEST_TIMES:g}"
        for one in task.outputs
        if one.error_budget != 1
    ]
    apart = f" ({', '.join(wider)} times)" if wider else ""
    return (
        f"Within that, an output's root-mean-square error may be {RMS_TIMES:g} times, and its "
        f"largest {LARGEST_TIMES:g} times, what the naive seed's, or rounding alone, is{apart}."
    )


def work(task: Task, device: DeviceInfo) -> list[str]:
    """The task's own counts of what a kernel does at least."""
    lines = []
    if task.flops is not None:
        lines.append(f"Work: {formula(task.flops)} floating-point operations.")
    if task.operations:
        counts = ", ".join(
            f"{formula(count)} of {name} (at least {OPERATION_FLOPS[name]:g} each by multiply-adds)"
            for name, count in task.operations.items()
        )
        units = f"; special function units do {device.special_per_s / 1e9:.4g} G/s"
        lines.append(f"Besides: {counts}{units if device.special_per_s else ''}.")
    if task.bytes is not None:
        lines.append(f"Traffic at least: {formula(task.bytes)} bytes.")
    return lines


def roofs(task: Task, device: DeviceInfo, workloads: Sequence[Workload]) -> list[str]:
    """The device's peaks, which of them bounds this task, and the speed of light by shape."""
    lines = [*_peaks(task, device)]
    if device.levels:
        levels = ", ".join(
            f"{name} {rate / 1e9:.4g} GB/s ({_bytes(holds)})" for name, holds, rate in device.levels
        )
        lines.append(f"Peak bandwidth: {levels}.")
    known = [(w.label, roof(task, w, device)) for w in workloads]
    shown = [f"{label}: {one.time_us:.4g} us ({one.bound})" for label, one in known if one]
    if shown:
        lines.append(f"Speed of light, and what bounds it: {'; '.join(shown)}.")
    return lines


def _peaks(task: Task, device: DeviceInfo) -> list[str]:
    best = arithmetic(task, device)
    if not best:
        return [f"Peak {name}: {_rate(device, name)}." for name in sorted(device.peak_flops)]
    stated = "that the task states" if task.compute_dtype else "that the tolerance admits"
    lines = [
        f"Peak {best}: {_rate(device, best)}: the fastest arithmetic {stated}; percents of the "
        "speed of light are of it."
    ]
    faster = refused(task, device)
    if faster and not task.compute_dtype:
        peaks = ", ".join(f"{name} ({_rate(device, name)})" for name in faster)
        lines.append(
            f"Faster, and WRONG when inputs are just rounded to it: {peaks}. Sums of products of "
            "split values (three of tf32 for one of float32) may be right."
        )
    return lines


def _rate(device: DeviceInfo, name: str) -> str:
    return f"{device.peak_flops[name] / 1e9:.4g} GFLOP/s"


def _bytes(count: float) -> str:
    if math.isinf(count):
        return "beyond"
    return f"{count / 2**20:.4g} MiB" if count >= 1 << 20 else f"{count / 2**10:.4g} KiB"
