"""Is an output right, and in which words it is told when not; limits known before a launch."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluators.checks.budget import NONE, ORDINARY, Error, Standard, rounding_unit, spent
from evaluators.checks.disclosure import shown
from evaluators.checks.region import poison_byte
from evaluators.device_info import DeviceInfo
from evaluators.dtypes import float_info, is_floating
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Plan
from evaluators.tasks.arguments import Argument, Workload

Array = np.ndarray[Any, Any]

SHOWN_IN_LOG = 8

ELEMENTS = 1 << 15
"""16 million float64 elements: a comparison takes a third of the time that it takes whole, where
each step fills new memory (one core)."""

UNWRITTEN = (
    "has the bits of unwritten memory: it was never written, or was computed from scratch, LDS or "
    "outputs that were never written"
)
"""NaN keeps its bits through arithmetic: an output alone does not tell which of the two it is."""


def in_pieces(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """The same part of each, flat, one part after another; of contiguous arrays they are views.

    arrays: of one size. Nothing where that is 0. Where all lie alike in memory that is the order;
    else it is that of rows.
    """
    layouts = {tuple(stride // array.itemsize for stride in array.strides) for array in arrays}
    flat = [array.ravel(order="K" if len(layouts) == 1 else "C") for array in arrays]
    for at in range(0, flat[0].size, ELEMENTS):
        yield tuple(array[at : at + ELEMENTS] for array in flat)


def check_limits(plan: Plan, info: DeviceInfo) -> None:
    """What can be told before a launch. Raises Rejected(LAUNCH_ERROR)."""
    scratch_bytes = sum(plan.scratch.values())
    if scratch_bytes > info.scratch_bytes:
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"{scratch_bytes:,} bytes of scratch, the limit is {info.scratch_bytes:,}",
        )
    for step in plan.launches:
        threads = int(np.prod(step.block, dtype=np.int64))
        if threads > info.max_threads:
            raise Rejected(
                Status.LAUNCH_ERROR,
                f"{step.entry}: a block of {threads} threads, the limit is {info.max_threads}",
            )
        if step.lds_bytes > info.lds_bytes:
            raise Rejected(
                Status.LAUNCH_ERROR,
                f"{step.entry}: {step.lds_bytes} bytes of dynamic LDS, "
                f"the limit is {info.lds_bytes}",
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One output against its reference.

    error: largest |out - ref| / allowed; infinite where NaN or infinity differ.
    wrong: which elements are beyond what is allowed. rms, ulp: see budget.Error.
    """

    error: float
    wrong: np.ndarray[Any, np.dtype[np.bool_]]
    rms: float = 0.0
    ulp: float = 0.0


def compare(
    out: Array,
    reference: Array,
    *,
    rtol: float,
    atol: float,
    scale: Array | None = None,
    most: float = 1.0,
    bits: bool = False,
) -> Comparison:
    """Scale-aware comparison. NaN and infinity are right only where the reference has them.

    scale: what is allowed each element, by default atol + rtol |ref|; most: how many times that.
    bits: signs of zeros and payloads of NaNs count too.
    """
    found = _Found(out.dtype)
    wrong = np.empty(reference.shape, np.bool_)
    scales = () if scale is None else (scale,)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        for result, one, wanted, *own in in_pieces(wrong, out, reference, *scales):
            difference = _differences(one, wanted)
            size = np.abs(wanted.astype(np.float64, copy=False))
            allowed = own[0] if own else size * rtol + atol
            scaled: Array = difference / allowed
            # NaN, infinity, or a tolerance of zero
            if bits or not math.isfinite(float(scaled.max())):
                scaled = np.where(_same(one, wanted, bits), 0.0, _apart(scaled))
            np.greater(scaled, most, out=result)
            found.add(difference, allowed, size, float(scaled.max()))
    rms, ulp = found.roundings()
    return Comparison(error=found.error, wrong=wrong, rms=rms, ulp=ulp)


def _differences(out: Array, reference: Array) -> Array:
    """Sizes of the differences; of integers without a sign, in which every one of them fits."""
    if reference.dtype.kind in "iu":
        wide = out.astype(reference.dtype)
        above, below = np.maximum(wide, reference), np.minimum(wide, reference)
        apart: Array = above.view(np.uint64) - below.view(np.uint64)
        return apart
    difference: Array = np.subtract(reference, out, dtype=reference.dtype)
    return np.abs(difference, out=difference)


def _apart(scaled: Array) -> Array:
    return np.where(scaled > 0, scaled, np.inf)


def _same(out: Array, reference: Array, bits: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    wide = out.astype(reference.dtype)
    same: np.ndarray[Any, np.dtype[np.bool_]]
    if bits:
        same = np.ascontiguousarray(wide).view(np.int64) == np.ascontiguousarray(reference).view(
            np.int64
        )
    else:
        same = (wide == reference) | (np.isnan(wide) & np.isnan(reference))
    return same


class _Found:
    """What a comparison sums up: the largest error, and root mean squares."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        """dtype: the output's own type."""
        self.error = 0.0
        self._dtype = dtype
        self._rounded = is_floating(dtype)
        self._allowed = False  # whether anything is
        self._count = 0
        self._beyond = self._size = 0.0  # sums of squares

    def add(self, difference: Array, allowed: Array, size: Array, error: float) -> None:
        self.error = max(self.error, error)
        self._count += difference.size
        self._allowed = self._allowed or bool(np.any(allowed))
        if self._rounded:
            of_type = float_info(self._dtype)
            beyond = difference - (float(of_type.eps) * size + float(of_type.smallest_subnormal))
            self._beyond += _squares(np.maximum(beyond, 0.0, out=beyond) / allowed)
            self._size += _squares(size / allowed)

    def roundings(self) -> tuple[float, float]:
        """In units of what is allowed, where that is anything: what goes beyond one ulp of the
        type, and the reference's unit of rounding."""
        if not self._rounded or not self._allowed:
            return 0.0, 0.0
        rms, size = (math.sqrt(total / self._count) for total in (self._beyond, self._size))
        return rms, rounding_unit(self._dtype) * size


def _squares(values: Array) -> float:
    """The sum over those that are numbers."""
    total = float(np.sum(np.square(values)))
    if not math.isfinite(total):
        total = float(np.sum(np.square(np.where(np.isfinite(values), values, 0.0))))
    return total


def check_output(
    argument: Argument,
    workload: Workload,
    out: Array,
    reference: Array,
    standard: Standard = ORDINARY,
) -> Error:
    """The error of one output. Raises Rejected(WRONG), told from the first wrong element."""
    rtol, atol = argument.rtol(workload.env), argument.atol(workload.env)
    limit = standard.limits.get(argument.name, NONE)
    scale = standard.scales.get(argument.name)
    compared = compare(
        out,
        reference,
        rtol=rtol,
        atol=atol,
        scale=scale,
        most=1.0 if scale is None else limit.largest,
        bits=standard.values == "signed_zeros" or (standard.values == "nan" and rtol == atol == 0),
    )
    wrong = np.flatnonzero(compared.wrong)
    if wrong.size:
        raise _wrong(argument, workload, out, reference, compared)
    error = Error(largest=compared.error, rms=compared.rms, ulp=compared.ulp)
    return spent(argument, error, limit, of_tolerance=1.0 if scale is None else 0.0)


def _wrong(
    argument: Argument, workload: Workload, out: Array, reference: Array, compared: Comparison
) -> Rejected:
    wrong = np.flatnonzero(compared.wrong)
    expected = shown(reference, workload)
    log = _wrong_elements(argument.name, out, expected, compared)
    first = int(wrong[0])
    place = _element(argument.name, first, out.shape)
    raw = np.ascontiguousarray(out).reshape(-1).view(np.uint8).reshape(out.size, -1)
    unwritten = (raw == poison_byte(out.dtype)).all(axis=1) & compared.wrong.reshape(-1)
    if argument.role == "out" and unwritten[first]:
        count = int(unwritten.sum())
        what, of = (argument.name, "all") if count == out.size else (place, f"{count} of")
        reason = f"{what} {UNWRITTEN} ({of} {out.size} elements)"
    else:
        reason = (
            f"{place} is {_value(out, expected, first)} ({wrong.size} of {out.size} elements wrong)"
        )
    return Rejected(Status.WRONG, reason, log=log)


def check_agreement(
    argument: Argument, workload: Workload, first: Array, second: Array, reference: Array
) -> None:
    """Two runs on the same data differ by no more than the tolerance. Raises Rejected(WRONG)."""
    if np.array_equal(first.reshape(-1).view(np.uint8), second.reshape(-1).view(np.uint8)):
        return
    with np.errstate(invalid="ignore"):
        difference = np.abs(second.astype(reference.dtype) - first.astype(reference.dtype))
        allowed = argument.atol(workload.env) + argument.rtol(workload.env) * np.abs(reference)
    worse = np.flatnonzero(difference > allowed)
    if worse.size:
        i = int(worse[0])
        raise Rejected(
            Status.WRONG,
            f"{_element(argument.name, i, first.shape)} differs between two runs on the same "
            f"input: {_number(first, i)}, then {_number(second, i)} "
            f"({worse.size} of {first.size} elements differ)",
        )


def _number(array: Array, flat: int, digits: int = 7) -> str:
    value = array.reshape(-1)[flat]
    if not is_floating(array.dtype):
        return str(int(value))
    return f"{float(value):.{digits}g}"


def _element(name: str, flat: int, shape: tuple[int, ...]) -> str:
    return f"{name}[{', '.join(str(i) for i in np.unravel_index(flat, shape))}]"


def _value(out: Array, expected: Array | None, flat: int) -> str:
    """What is there and, where that may be told, what should be."""
    digits = 17 if out.dtype == np.float64 else 7
    found = _number(out, flat, digits)
    if expected is None:
        return found
    wanted = _number(expected, flat, digits)
    return f"{found}, expected {wanted}" + " with other bits" * (found == wanted == "nan")


def _wrong_elements(name: str, out: Array, expected: Array | None, compared: Comparison) -> str:
    """Where the wrong elements lie, for whoever repairs the kernel.

    How wrong they are would tell what is expected.
    """
    places = np.nonzero(compared.wrong)
    box = ", ".join(f"{int(axis.min())}:{int(axis.max()) + 1}" for axis in places)
    error = "" if expected is None else f"; largest error {compared.error:.3g} x limit"
    lines = [f"all wrong elements lie in {name}[{box}]{error}"]
    for flat in np.flatnonzero(compared.wrong)[:SHOWN_IN_LOG]:
        i = int(flat)
        lines.append(f"{_element(name, i, out.shape)} is {_value(out, expected, i)}")
    return "\n".join(lines)
