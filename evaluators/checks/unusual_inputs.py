"""Inputs that are changed to hold unusual values."""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evaluators.checks.compare import in_pieces
from evaluators.checks.conditioning import ROOM_BELOW, random_signs, root_mean_square
from evaluators.tasks.arguments import DTYPES, Argument, float_info

Array = np.ndarray[Any, Any]

FACTORS = (2.0**12, 2.0**9, 2.0**6, 2.0**3)
"""How much larger spikes and large values are, and how large offsets at most: the first factor that
a shape admits."""

SMALLER, LEAST_SMALLER = (12, 40), 4
"""Small values are usual ones divided by 2 to the power of the first two: products of two of them,
and their sums, are normal float32 numbers. In narrow types by less, at least by the third."""


def small_factors(
    arguments: tuple[Argument, ...], usual: Mapping[str, Array], rng: np.random.Generator
) -> tuple[float, ...]:
    """One power of two for all of the arguments, with which most of their values stay normal
    numbers of their types; none where there is no such."""
    room = SMALLER[1]
    for argument in arguments:
        size = root_mean_square(usual[argument.name]) / (ROOM_BELOW * _least_normal(argument))
        room = min(room, math.floor(math.log2(max(size, 1.0))))
    if room < LEAST_SMALLER:
        return ()
    least = max(LEAST_SMALLER, min(SMALLER[0], room // 2))
    exponents = rng.integers(least, room + 1, size=2)  # the larger: mild ones hide absolute errors
    return (2.0 ** -int(exponents.max()),)


def unusual(
    arguments: tuple[Argument, ...],
    usual: Mapping[str, Array],
    values: str,
    factor: float,
    rng: np.random.Generator,
    *,
    nan_signs: bool,
) -> dict[str, Array]:
    """Inputs, those of the arguments changed to hold such values, all others as usual.

    nan_signs: whether NaNs have random signs.
    """
    inputs = dict(usual)
    for i, argument in enumerate(arguments):
        given = usual[argument.name]
        match values:
            case "nan":
                changed = _with_nan(given, rng, signs=nan_signs)
            case "spikes" | "signed_zeros" | "infinity":
                changed = _with_some(argument, given, values, factor, rng)
            case "cancellation":
                changed = _each(argument, _cancelling(given, rng, first=i == 0), lambda wide: wide)
            case "offset":
                changed = _scaled(argument, given + _offsets(given, factor, rng), 1.0)
            case "large":
                changed = _scaled(argument, given, factor)
            case "small":
                changed = _small(argument, given, factor)
            case "denormals":
                changed = _denormal(argument, given)
            case _:
                raise ValueError(values)
        inputs[argument.name] = changed
    return inputs


def _drawn(argument: Argument) -> str:
    """The type that its values are drawn through."""
    return argument.distribution.through or argument.dtype


def _cast(argument: Argument, wide: Array) -> Array:
    narrow: Array = wide.astype(DTYPES[_drawn(argument)]).astype(argument.np_dtype)
    return narrow


def _each(argument: Argument, values: Array, change: Callable[[Array], Array]) -> Array:
    """All of them changed. change: of float64 values, a piece of the array at a time."""
    changed = np.empty(values.shape, argument.np_dtype)
    for result, piece in in_pieces(changed, values):
        result[...] = _cast(argument, change(piece.astype(np.float64)))
    return changed


def _clipped(argument: Argument, wide: Array) -> Array:
    """Room is left for intermediate results."""
    dtypes = (_drawn(argument), argument.dtype)
    most = min(float(float_info(DTYPES[dtype]).max) for dtype in dtypes) / 4
    clipped: Array = np.clip(wide, -most, most)
    return clipped


def _scaled(argument: Argument, values: Array, factor: float) -> Array:
    return _each(argument, values, lambda wide: _clipped(argument, wide * factor))


def _small(argument: Argument, values: Array, factor: float) -> Array:
    least = _least_normal(argument)

    def change(wide: Array) -> Array:
        size = np.abs(wide)
        smaller: Array = np.copysign(np.maximum(size * factor, np.minimum(size, least)), wide)
        return smaller

    return _each(argument, values, change)


def _denormal(argument: Argument, values: Array) -> Array:
    least = float(float_info(argument.np_dtype).tiny)
    pieces = (piece.astype(np.float64) for (piece,) in in_pieces(values))
    largest = max((float(np.abs(piece).max()) for piece in pieces), default=0.0)
    return _each(argument, values, lambda wide: wide / max(largest, least) * least / 2)


def _with_some(
    argument: Argument, values: Array, kind: str, factor: float, rng: np.random.Generator
) -> Array:
    """A few of them changed."""
    changed = values.copy()
    flat = changed.reshape(-1)
    places = _some(values, rng, {"spikes": 100, "signed_zeros": 3, "infinity": 300}[kind])
    wide = flat[places].astype(np.float64)
    match kind:
        case "spikes":
            wide = _clipped(argument, wide * factor)
        case "signed_zeros":
            wide = np.copysign(0.0, random_signs(wide, rng))
        case _:
            wide = np.inf * random_signs(wide, rng)
    flat[places] = _cast(argument, wide)
    return changed


def _least_normal(argument: Argument) -> float:
    """Of its own type and the one that its values are drawn through."""
    return max(float(float_info(DTYPES[d]).tiny) for d in (_drawn(argument), argument.dtype))


def _some(values: Array, rng: np.random.Generator, each: int) -> Array:
    """Flat places of one element in so many, at least one, some twice."""
    places: Array = rng.integers(values.size, size=-(-values.size // each))
    return places


def _cancelling(values: Array, rng: np.random.Generator, *, first: bool) -> Array:
    """The second half takes the first away again, but for one part in a thousand: the first
    input along its last axis, where the others repeat along their first one."""
    axis = values.ndim - 1 if first else 0
    cancelling = values.astype(np.float64)
    moved = np.moveaxis(cancelling, axis, 0)
    half = len(moved) // 2
    if first or values.ndim > 1:
        noise = rng.standard_normal(moved[:half].shape, dtype=np.float32)
        near = moved[:half] * (1 + noise * np.float32(2.0**-10))
        moved[half : 2 * half] = -near if first else near
    return cancelling


def _offsets(values: Array, most: float, rng: np.random.Generator) -> Array:
    """One for each slice along the last axis, of random sign, log-uniform: some rows of a softmax
    then lie where exponentials are denormals."""
    shape = (*values.shape[:-1], 1)
    sizes = 2.0 ** rng.uniform(math.log2(FACTORS[-1]), math.log2(most), shape)
    offsets: Array = sizes * random_signs(sizes, rng)
    return offsets


def _with_nan(values: Array, rng: np.random.Generator, *, signs: bool) -> Array:
    """Quiet NaNs of random payload, and sign if asked for, at a few places."""
    word = np.dtype(f"u{values.dtype.itemsize}")
    nan = np.array(np.nan, dtype=values.dtype).view(word)
    places = _some(values, rng, 300)
    mantissa = max(0, int(float_info(values.dtype).nmant) - 1)
    payloads = rng.integers(0, 1 << mantissa, places.shape).astype(word)
    if signs:
        bits = 8 * values.dtype.itemsize
        payloads |= rng.integers(0, 2, places.shape).astype(word) << word.type(bits - 1)
    if values.dtype.itemsize == 1:  # the one NaN of float8 fnuz
        payloads[...] = 0
    changed = np.ascontiguousarray(values).copy()
    changed.view(word).reshape(-1)[places] = nan | payloads
    return changed
