"""How far a task's outputs move when its inputs do: each element's own scale of error."""

import math
from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

from evaluators.checks.budget import FLOAT32_ULP
from evaluators.checks.compare import in_pieces
from evaluators.dtypes import float_info, is_floating
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]

ROUNDING = 2.0**-24  # of float32, relative
STRIDE = 64.0
"""So many times as far outputs must move when inputs do."""
FLUSHED = 2.0**-126
"""Float32 results below it become zero under options that a kernel may ask for, and in some of
AMD's and NVIDIA's instructions: no fault, unless a task states denormals."""
SCALED = ("spikes", "large", "offset")
"""Classes of values that are so much larger than usual ones as a shape admits."""
ROOM_BELOW = 64.0
"""Most elements are no smaller than that part of their root mean square."""
PROPORTIONAL = 2.0**-8
"""Of the largest element: narrow types round small values otherwise than usual ones."""
NEGLIGIBLE = FLOAT32_ULP**2
"""Of an output's largest element: kernels bound exponents where little is left of a result."""


class References(Protocol):
    """What makes references of inputs that the host made."""

    def reference(self, workload: Workload, inputs: Mapping[str, Array]) -> Mapping[str, Array]: ...

    def narrows(self, workload: Workload) -> bool:
        """Whether it takes inputs in their own types, and not in wide ones."""
        ...


class TaskReferences:
    """By the task's reference.py."""

    def __init__(self, task: Task) -> None:
        self.reference = task.reference

    def narrows(self, _: Workload) -> bool:
        return False


class Moving:
    """Inputs that can be moved a little, and what the reference makes of them.

    Where it takes them in their own types, only those as exact as float32 can move, and float32
    ones from one number to another: by less they would move as much or not at all.
    """

    def __init__(
        self,
        task: Task,
        workload: Workload,
        inputs: Mapping[str, Array],
        references: References,
    ) -> None:
        self.task = task
        self.workload = workload
        self.inputs = inputs
        self.reference = references.reference(workload, inputs)
        self._reference = references.reference
        self._narrows = references.narrows(workload)

    def signs(self, rng: np.random.Generator) -> dict[str, Array]:
        """A direction: 1 or -1 for each element of each input that moves."""
        return {n: random_signs(a, rng) for n, a in self.inputs.items() if self._moves(a)}

    def _moves(self, array: Array) -> bool:
        if not is_floating(array.dtype):
            return False
        return not self._narrows or float(float_info(array.dtype).eps) <= FLOAT32_ULP

    def moved(self, signs: Mapping[str, Array], times: float) -> dict[str, Array]:
        """By output, how far it moves when inputs do by so many float32 roundings."""
        if not signs:
            return {name: np.zeros(before.shape) for name, before in self.reference.items()}
        moved = dict(self.inputs)
        with np.errstate(invalid="ignore", over="ignore"):
            for name, sign in signs.items():
                moved[name] = self._nudged(self.inputs[name], sign, times)
            after = self._reference(self.workload, moved)
            return {n: _apart(after[n], before) for n, before in self.reference.items()}

    def _nudged(self, values: Array, signs: Array, times: float) -> Array:
        if self._narrows and values.dtype == np.float32:
            return _stepped(values, signs, times)
        return _nudged(values, signs, times * ROUNDING)


def _stepped(values: Array, signs: Array, times: float) -> Array:
    """By so many units in the last place."""
    stepped = np.empty(values.shape, values.dtype)
    for result, value, sign in in_pieces(stepped, values, signs):
        steps = np.spacing(np.abs(value)) * (sign * np.float32(times))
        np.add(value, steps, out=result)
    return stepped


def _nudged(values: Array, signs: Array, by: float) -> Array:
    nudged = np.empty(values.shape)
    for result, value, sign in in_pieces(nudged, values, signs):
        factors = by * sign.astype(np.float64) + 1.0
        np.multiply(value, factors, out=result, dtype=np.float64)
    return nudged


def _apart(after: Array, before: Array) -> Array:
    """Zero where either is no number."""
    apart = np.empty(before.shape)
    for result, one, other in in_pieces(apart, after, before):
        np.subtract(one, other, out=result)
        result[~np.isfinite(result)] = 0.0
    return apart


def conditioning(
    moving: Moving, values: str, directions: int, rng: np.random.Generator
) -> dict[str, Array] | None:
    """By output, how far each element moves when inputs are rounded to float32: its own scale of
    error, whatever the other elements are (a condition number, Higham, Accuracy and Stability of
    Numerical Algorithms, 2002, 1.6). None for an output that has no rounding.

    None in place of all where that is no scale: outputs that leave their type's range, and
    roundings that no longer act in proportion.
    """
    task, workload, reference = moving.task.on(moving.workload), moving.workload, moving.reference
    if values in SCALED and not _in_range(task, reference):
        return None
    rounded = [o for o in task.outputs if o.rounded(workload.env) and o.name in reference]
    if not rounded:
        return {}
    moves: dict[str, Array] = {o.name: np.zeros(reference[o.name].shape) for o in rounded}
    for t in range(directions if is_finite(reference) else 0):
        signs = moving.signs(rng)
        near = moving.moved(signs, 1.0)
        if t == 0 and values in SCALED:
            far = moving.moved(signs, STRIDE)
            if not all(_in_proportion(near[n], far[n], reference[n]) for n in moves):
                return None
        for name, squares in moves.items():
            for result, move in in_pieces(squares, near[name]):
                np.add(result, move**2 / directions, out=result)
    scales = {}
    for output in rounded:
        least = float(float_info(output.np_dtype).smallest_subnormal)
        if "denormals" not in (task.values or ()):
            least += FLUSHED + NEGLIGIBLE * _largest(reference[output.name])
        scale = scales[output.name] = moves[output.name]
        for result, wanted in in_pieces(scale, reference[output.name]):
            np.add(np.sqrt(result), FLOAT32_ULP * _size(wanted) + least, out=result)
    return scales


def _size(values: Array) -> Array:
    """Of each; zero for what is no number."""
    sizes: Array = np.nan_to_num(np.abs(values), posinf=0.0)
    return sizes


def _largest(values: Array) -> float:
    return max((float(_size(piece).max()) for (piece,) in in_pieces(values)), default=0.0)


def _in_proportion(near: Array, far: Array, reference: Array) -> bool:
    """Elements that move 64 times as far on the whole when inputs do."""
    with np.errstate(invalid="ignore"):
        for move, stride, wanted in in_pieces(near, far, reference):
            size = np.abs(wanted)
            scale = STRIDE * (np.abs(move) + FLOAT32_ULP * size)
            apart = np.abs(stride - STRIDE * move)
            if not np.all(apart <= np.maximum(scale, 1e-3 * size) + FLUSHED):
                return False
    return True


def _in_range(task: Task, reference: Mapping[str, Array]) -> bool:
    """Room for intermediate results too."""
    for output in task.outputs:
        if output.floating and output.name in reference:
            most = float(float_info(output.np_dtype).max) / 4
            pieces = in_pieces(reference[output.name])
            if not all(np.all(np.abs(piece) <= most) for (piece,) in pieces):
                return False
    return True


def is_normal(task: Task, reference: Mapping[str, Array]) -> bool:
    """Whether outputs are far above the denormals of their types, on the whole."""
    floating = [o for o in task.outputs if o.floating and o.name in reference]
    return all(
        root_mean_square(reference[o.name]) >= ROOM_BELOW * float(float_info(o.np_dtype).tiny)
        for o in floating
    )


def proportional(usual: Mapping[str, Array], reference: Mapping[str, Array], factor: float) -> bool:
    """Whether each output shrinks as the inputs do that were multiplied by the factor, or as
    products of two of them."""
    return all(
        any(_nearly(reference[name], array * factor**degree) for degree in (1, 2))
        for name, array in usual.items()
    )


def _nearly(array: Array, expected: Array) -> bool:
    most = float(np.abs(expected).max(initial=0.0))
    with np.errstate(invalid="ignore"):
        return bool(np.all(np.abs(array - expected) <= PROPORTIONAL * most))


def root_mean_square(values: Array) -> float:
    squares = (np.square(piece, dtype=np.float64) for (piece,) in in_pieces(values))
    return math.sqrt(math.fsum(float(np.sum(piece)) for piece in squares) / values.size)


def is_finite(reference: Mapping[str, Array]) -> bool:
    """Whether any element of any output is; where none is, no rounding moves them."""
    arrays = reference.values()
    return any(np.isfinite(piece).any() for array in arrays for (piece,) in in_pieces(array))


def random_signs(values: Array, rng: np.random.Generator) -> Array:
    """1 or -1 for each, as int8."""
    bits = np.frombuffer(rng.bytes(-(-values.size // 8)), np.uint8)
    signs: Array = np.unpackbits(bits, count=values.size).view(np.int8).reshape(values.shape)
    signs *= -2
    signs += 1
    return signs
