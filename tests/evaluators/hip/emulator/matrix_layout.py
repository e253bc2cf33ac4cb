"""Where the elements of matrices lie in the registers of a matrix instruction."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """blocks products of (side, depth) by (depth, side). a, b, d: types of the elements."""

    name: str
    side: int
    depth: int
    blocks: int
    a: Any
    b: Any
    d: Any

    def held(self, depth: int) -> int:
        """Elements of A, or of B, that a lane holds."""
        return self.side * depth * self.blocks // LANES

    @property
    def sums(self) -> int:
        return self.side * self.side * self.blocks // LANES

    def words(self, dtype: Any, count: int) -> int:
        return count * int(np.dtype(dtype).itemsize) // 4


def elements(column: Array, words: int, dtype: Any) -> Array:
    """(64, elements) from a column of bits."""
    raw: Array = column.astype(np.uint64 if words == 2 else np.uint32)
    return np.ascontiguousarray(raw.reshape(LANES, -1)).view(dtype)


def column(values: Array, dtype: Any) -> Array:
    """Bits of (64, elements): one number a lane, or dwords."""
    packed = np.ascontiguousarray(values.astype(dtype)).view(np.uint8)
    words = packed.shape[1] // 4
    if words > 2:
        return packed.view(np.uint32).astype(np.uint64)
    return packed.view(np.uint32 if words == 1 else np.uint64).reshape(-1).astype(np.uint64)


def places(one: Shape, depth: int) -> tuple[Array, Array, Array]:
    """Of A's elements by lane: row, k and block. B's are as A's, transposed."""
    lane, element = np.meshgrid(np.arange(LANES), np.arange(one.held(depth)), indexing="ij")
    if one.blocks == 4 and np.dtype(one.a) == np.float64:  # 4x4x4: k is the slowest
        return lane % 4, lane // 16, lane // 4 % 4
    groups = depth // one.held(depth)
    group = lane // one.side
    return lane % one.side, group % groups * one.held(depth) + element, group // groups


def result_places(one: Shape) -> tuple[Array, Array, Array]:
    """Of D's elements by lane: row, column and block."""
    lane, register = np.meshgrid(np.arange(LANES), np.arange(one.sums), indexing="ij")
    if np.dtype(one.d) == np.float64:
        if one.side == 4:
            return lane // 16, lane % 4, lane // 4 % 4
        return 4 * register + lane // 16, lane % 16, 0 * lane
    if one.side == 4:
        return register, lane % 4, lane // 4
    groups = LANES // one.side
    within = register % (one.side * one.side // LANES)
    row = within // 4 * 4 * groups + lane // one.side * 4 + within % 4
    return row, lane % one.side, register // (one.side * one.side // LANES)


def matrices(values: Array, one: Shape, depth: int) -> Array:
    """(blocks, side, depth) of A's registers; of B's, its transpose."""
    made = np.full((one.blocks, one.side, depth), np.nan)
    row, k, block = places(one, depth)
    made[block, row, k] = values.astype(np.float64)
    return made


def product(one: Shape, a: Array, b: Array, start: Array) -> Any:
    """Registers of D: a and b are (blocks, side, depth), start as D's elements."""
    sums = np.einsum("nik,njk->nij", a, b)
    row, col, block = result_places(one)
    told = sums[block, row, col] + start.astype(np.float64)
    return list(column(told, one.d))


def whole(dtype: Any, shape: tuple[int, ...], seed: int) -> Array:
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float64).astype(dtype)
