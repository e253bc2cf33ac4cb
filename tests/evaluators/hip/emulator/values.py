"""Inputs of each kind: the edge cases, met with one another, and random ones."""

from itertools import product

import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Operand
from tests.evaluators.hip.emulator.floats import BF16, F16, F32, F64, FORMATS, Format

EDGES = {
    "u32": (0, 1, 2, 31, 32, 0x7F, 0x80, 0xFF, 0xFFFF, 0x8000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF),
    "u64": (0, 1, 63, 0xFFFFFFFF, 0x100000000, (1 << 63) - 1, 1 << 63, (1 << 64) - 1),
    "mask": (0, 1),
}


def _float_edges(form: Format) -> tuple[int, ...]:
    one = form.bias << form.mantissa
    magnitudes = (
        *(0, 1, (1 << form.mantissa) - 1, 1 << form.mantissa, one - 1, one, one + 1),
        *(one + (1 << form.mantissa - 1), one - (1 << form.mantissa)),  # 1.5, 0.5
        *(form.infinity - 1, form.infinity, form.nan, form.infinity | 1),
    )
    return (*magnitudes, *(form.sign | one for one in magnitudes))


FLOAT_EDGES = {form.name: _float_edges(form) for form in (F16, BF16, F32, F64)}


def edges(kind: str) -> tuple[int, ...]:
    if kind in FLOAT_EDGES:
        return FLOAT_EDGES[kind]
    if kind in ("i32", "u32", "i16", "u16"):
        return EDGES["u32"]
    return EDGES["mask"] if kind == "mask" else EDGES["u64"]


def inputs(given: tuple[Operand, ...], rows: int, seed: int) -> list[Array]:
    """Bits, (rows,) or (rows, words), of each operand; rows is a multiple of 64."""
    random = np.random.default_rng(seed)
    singles = [one for one in given if not one.kind.startswith("w") and "x2" not in one.kind]
    met = list(product(*(edges(one.kind) for one in singles)))
    half = rows // 2
    if len(met) > half:
        met = [met[n] for n in random.choice(len(met), half, replace=False)]
    made = []
    for operand in given:
        if operand.kind.startswith("w"):
            made.append(random.integers(0, 1 << 32, (rows, operand.words), np.uint64))
            continue
        if "x2" in operand.kind:
            made.append(pairs(FORMATS[operand.kind[:-2]], int(random.integers(1 << 30)), rows))
            continue
        column = _random(operand.kind, rows, random)
        at = singles.index(operand)
        column[: len(met)] = [one[at] for one in met]
        if at and operand.kind == singles[0].kind:  # some pairs are equal
            first = made[given.index(singles[0])].astype(np.uint64)
            column = np.where(random.random(rows) < 0.06, first, column)
        if operand.kind.endswith("16"):
            noise = random.integers(0, 1 << 16, rows, np.uint64) << np.uint64(16)
            column = column & np.uint64(0xFFFF) | noise
        made.append(column)
    order = random.permutation(rows)
    return [column[order] for column in made]


def _random(kind: str, rows: int, random: np.random.Generator) -> Array:
    if kind == "mask":
        return random.integers(0, 2, rows, np.uint64)
    if kind in FORMATS and (form := FORMATS[kind]):
        near = random.integers(-6, 7, rows) + form.bias
        field = np.where(random.random(rows) < 0.7, near, random.integers(0, 2 * form.bias, rows))
        mantissa = random.integers(0, 1 << form.mantissa, rows, np.uint64)
        sign = random.integers(0, 2, rows, np.uint64) << np.uint64(form.bits - 1)
        return np.asarray(sign | field.astype(np.uint64) << np.uint64(form.mantissa) | mantissa)
    bits = 64 if kind.endswith("64") else 32
    whole = random.integers(0, (1 << bits) - 1, rows, np.uint64, endpoint=True)
    shift = random.integers(0, bits, rows).astype(np.uint64)
    return np.asarray(np.where(random.random(rows) < 0.5, whole, whole >> shift))


def whole_waves(column: Array, lanes: int) -> Array:
    """A scalar operand: every row takes its wavefront's first."""
    return np.asarray(np.repeat(column[::lanes], lanes, 0))


def pairs(form: Format, seed: int, rows: int = 4 * LANES) -> Array:
    """Two values of a format in one word, edge cases often."""
    random = np.random.default_rng(seed)
    edge = random.choice(FLOAT_EDGES[form.name], (2, rows)).astype(np.uint64)
    other = np.stack([_random(form.name, rows, random) for _ in range(2)])
    low, high = np.where(random.random((2, rows)) < 0.4, edge, other)
    return np.asarray(low | high << np.uint64(form.bits))
