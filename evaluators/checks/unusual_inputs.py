"""Inputs that are changed to hold unusual values."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from evaluators.checks.conditioning import (
    ROOM_BELOW,
    SCALED,
    random_signs,
    root_mean_square,
)
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
    return (2.0 ** -int(rng.integers(max(LEAST_SMALLER, min(SMALLER[0], room // 2)), room + 1)),)


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
        wide = usual[argument.name].astype(np.float64)
        drawn = argument.distribution.through or argument.dtype
        most = min(float(float_info(DTYPES[dtype]).max) for dtype in (drawn, argument.dtype)) / 4
        match values:
            case "spikes":
                wide = np.where(_some(wide, rng, 100), wide * factor, wide)
            case "large":
                wide = wide * factor
            case "small":
                size = np.abs(wide)
                size = np.maximum(size * factor, np.minimum(size, _least_normal(argument)))
                wide = np.copysign(size, wide)
            case "cancellation":
                wide = _cancelling(wide, rng, first=i == 0)
            case "denormals":
                least = float(float_info(argument.np_dtype).tiny)
                wide = wide / max(np.abs(wide).max(initial=0.0), least) * least / 2
            case "signed_zeros":
                wide = np.where(
                    _some(wide, rng, 3), np.copysign(0.0, random_signs(wide, rng)), wide
                )
            case "infinity":
                wide = np.where(_some(wide, rng, 300), np.inf * random_signs(wide, rng), wide)
            case "offset":
                wide = wide + _offsets(wide, factor, rng)
        if values in SCALED:
            wide = np.clip(wide, -most, most)
        inputs[argument.name] = wide.astype(DTYPES[drawn]).astype(argument.np_dtype)
        if values == "nan":
            inputs[argument.name] = _with_nan(inputs[argument.name], rng, signs=nan_signs)
    return inputs


def _least_normal(argument: Argument) -> float:
    """Of the types that its values are drawn through."""
    dtypes = {argument.distribution.through or argument.dtype, argument.dtype}
    return max(float(float_info(DTYPES[dtype]).tiny) for dtype in dtypes)


def _some(values: Array, rng: np.random.Generator, each: int) -> Array:
    """One element in so many, at least one."""
    chosen = np.zeros(values.size, dtype=np.bool_)
    chosen[rng.integers(values.size, size=-(-values.size // each))] = True
    return chosen.reshape(values.shape)


def _cancelling(values: Array, rng: np.random.Generator, *, first: bool) -> Array:
    """The second half takes the first away again, but for one part in a thousand: the first
    input along its last axis, where the others repeat along their first one."""
    axis = values.ndim - 1 if first else 0
    moved = np.moveaxis(values.copy(), axis, 0)
    half = len(moved) // 2
    if first or values.ndim > 1:
        near = moved[:half] * (1 + rng.normal(scale=2.0**-10, size=moved[:half].shape))
        moved[half : 2 * half] = -near if first else near
    cancelling: Array = np.moveaxis(moved, 0, axis)
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
    mantissa = max(0, int(float_info(values.dtype).nmant) - 1)
    raw = np.ascontiguousarray(values).view(word).copy()
    payloads = rng.integers(0, 1 << mantissa, values.shape).astype(word)
    if signs:
        bits = 8 * values.dtype.itemsize
        payloads |= rng.integers(0, 2, values.shape).astype(word) << word.type(bits - 1)
    if values.dtype.itemsize == 1:  # the one NaN of float8 fnuz
        payloads[...] = 0
    chosen = _some(values, rng, 300)
    raw[chosen] = nan | payloads[chosen]
    return raw.view(values.dtype)
