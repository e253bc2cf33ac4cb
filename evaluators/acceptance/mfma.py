"""Which element each lane and register of an MFMA instruction holds, found out on the device."""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from evaluators.acceptance.launching import DEADLINE_S, MEMORY_BYTES, compile_one, launch, plan
from evaluators.acceptance.trial import Broken, Setup, Skipped, Trial

TABLE = Path(__file__).parent / "data" / "mfma.csv"
LANES = 64
ARCHITECTURES = ("gfx942",)
DIGIT = 8
"""k is told in digits of this base, plus one: every format here holds 1 to 8 exactly."""

Array = np.ndarray[Any, Any]
Layout = Mapping[str, Array]  # by matrix: (lanes, elements, 2) of (row, column)

SOURCE = """
typedef {scalar} Operand{operand_vector};
typedef {sum} Sums __attribute__((ext_vector_type({sums})));
__global__ void probe(const Operand *a, const Operand *b, Sums *d) {{
    int at = blockIdx.x * 64 + threadIdx.x;
    Sums zero = {{0}};
    d[at] = __builtin_amdgcn_mfma_{builtin}(a[at], b[at], zero, 0, 0, 0);
}}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """side x side sums over depth products. scalar, width: of the operand that a lane gives."""

    name: str  # as in mfma.csv
    side: int
    depth: int
    builtin: str
    dtype: np.dtype[Any]
    scalar: str
    width: int

    @property
    def held(self) -> int:
        """Elements of A (and of B) that a lane holds."""
        return self.side * self.depth // LANES

    @property
    def sums(self) -> int:
        return self.side * self.side // LANES

    @property
    def sum_dtype(self) -> np.dtype[Any]:
        return np.dtype(np.int32 if self.name.startswith("i32") else np.float32)

    @property
    def source(self) -> str:
        vector = f" __attribute__((ext_vector_type({self.width})))" if self.width > 1 else ""
        return SOURCE.format(
            scalar=self.scalar,
            operand_vector=vector,
            sum="int" if self.sum_dtype == np.int32 else "float",
            sums=self.sums,
            builtin=self.builtin,
        )


def _instructions() -> tuple[Instruction, ...]:
    formats: tuple[tuple[str, str, Any, str, int, int, str], ...] = (
        ("f32", "_fp8_fp8", ml_dtypes.float8_e4m3fnuz, "long", 1, 16, "_fp8_fp8"),
        ("f32", "_f16", np.float16, "_Float16", 4, 8, "f16"),
        ("f32", "_bf16", ml_dtypes.bfloat16, "short", 4, 8, "bf16_1k"),
        ("i32", "_i8", np.int8, "long", 1, 16, "_i8"),
        ("f32", "_f32", np.float32, "float", 1, 2, "f32"),
        ("f32", "_xf32", np.float32, "float", 2, 4, "_xf32"),
    )
    return tuple(
        Instruction(
            name=f"{sum_}_{side}x{side}x{depth}{suffix}",
            side=side,
            depth=depth,
            builtin=f"{sum_}_{side}x{side}x{depth}{spelled}",
            dtype=np.dtype(dtype),
            scalar=scalar,
            width=width,
        )
        for sum_, suffix, dtype, scalar, width, deep, spelled in formats
        for side, depth in ((32, deep), (16, 2 * deep))
    )


INSTRUCTIONS = _instructions()


@cache
def table() -> Mapping[str, Layout]:
    """mfma.csv by instruction."""
    known = {instruction.name: instruction for instruction in INSTRUCTIONS}
    found: dict[str, dict[str, Array]] = {}
    with TABLE.open(newline="") as lines:
        for line in csv.DictReader(lines):
            one = known[line["instruction"]]
            matrix = line["matrix"]
            bits = 32 if matrix == "D" else 8 * one.dtype.itemsize
            layout = found.setdefault(one.name, {})
            held = one.sums if matrix == "D" else one.held
            places = layout.setdefault(matrix, np.full((LANES, held, 2), -1))
            element = (32 * int(line["gpr"]) + int(line["bit"])) // bits
            places[int(line["lane"]), element] = int(line["row"]), int(line["col"])
    return found


def operands(one: Instruction, layout: Layout) -> tuple[Array, Array]:
    """A's and B's registers, one block of 64 lanes a probe: (blocks, 64, held).

    Each element of A is set alone to 1, where every column of B tells k's low digit, then its
    high one; then B's elements against A's rows; the last block tells D's rows and columns.
    """
    depth, positions = np.arange(one.depth), LANES * one.held
    digits = [depth % DIGIT + 1, depth // DIGIT + 1]
    alone = np.eye(positions).reshape(positions, LANES, one.held)
    a_blocks, b_blocks = [], []
    for digit in digits:
        b = _placed(np.repeat(digit[:, None], one.side, 1), layout["B"])
        a_blocks.append(alone)
        b_blocks.append(np.repeat(b[None], positions, 0))
    for digit in digits:
        a = _placed(np.repeat(digit[None], one.side, 0), layout["A"])
        a_blocks.append(np.repeat(a[None], positions, 0))
        b_blocks.append(alone)
    a, b = _row_and_column(one)
    a_blocks.append(_placed(a, layout["A"])[None])
    b_blocks.append(_placed(b, layout["B"])[None])
    return np.concatenate(a_blocks).astype(one.dtype), np.concatenate(b_blocks).astype(one.dtype)


def _placed(matrix: Array, places: Array) -> Array:
    return matrix[places[..., 0], places[..., 1]]


def _row_and_column(one: Instruction) -> tuple[Array, Array]:
    """A and B whose product is row * side + column, in numbers that fp8 holds exactly."""
    side = np.arange(one.side)
    a, b = np.zeros((one.side, one.depth)), np.zeros((one.depth, one.side))
    if one.depth < 4:  # float32, which needs no digits
        a[:, 0], b[0], a[:, 1], b[1] = side, one.side, 1, side
        return a, b
    for k, part in enumerate((side % DIGIT, side // DIGIT * DIGIT)):
        a[:, k], b[k] = part, one.side
        a[:, 2 + k], b[2 + k] = 1, part
    return a, b


def disagreements(one: Instruction, layout: Layout, sums: Array) -> list[str]:
    """Rows of the table that the device's sums, (blocks, 64, sums), contradict."""
    positions = LANES * one.held
    d = np.zeros((len(sums), one.side, one.side))
    d[:, layout["D"][..., 0], layout["D"][..., 1]] = sums
    probes = d[:-1].reshape(2, 2, positions, one.side, one.side)  # A or B, digit, place
    found = {"A": _found(probes[0]), "B": _found(probes[1].swapaxes(-1, -2))[:, ::-1]}
    last = sums[-1].astype(int).reshape(-1)
    found["D"] = np.stack([last // one.side, last % one.side], 1)
    said = []
    for matrix, places in found.items():
        wanted = layout[matrix].reshape(-1, 2)
        held = layout[matrix].shape[1]
        for at in np.flatnonzero((places != wanted).any(1)):
            shown = tuple(map(int, places[at]))
            where = "nowhere" if min(shown) < 0 else f"at {shown}"
            said.append(
                f"{matrix} lane {at // held} element {at % held} is {where}, "
                f"the table says {tuple(map(int, wanted[at]))}"
            )
    return said


def _found(probes: Array) -> Array:
    """(row, k) of the one element set; (-1, -1) when the sums are no row of equal digits."""
    low, high = probes
    rows = np.abs(low).sum(-1).argmax(-1)
    at = np.arange(len(rows))
    wanted_low, wanted_high = np.zeros_like(low), np.zeros_like(high)
    wanted_low[at, rows] = low[at, rows, :1]
    wanted_high[at, rows] = high[at, rows, :1]
    k = high[at, rows, 0] * DIGIT - DIGIT + low[at, rows, 0] - 1
    plain = (low == wanted_low).all((1, 2)) & (high == wanted_high).all((1, 2))
    return np.where(plain[:, None], np.stack([rows, k.astype(int)], 1), -1)


def probe(setup: Setup, one: Instruction) -> str:
    """Raises Broken with the first rows that the device contradicts."""
    if setup.device.info.arch not in ARCHITECTURES:
        raise Skipped(f"{setup.device.info.arch} has no MFMA instructions of gfx942")
    layout = table()[one.name]
    a, b = operands(one, layout)
    step = launch("probe", ["a", "b", "d"], grid=(len(a), 1, 1), block=(LANES, 1, 1))
    compiled = compile_one(setup.compiler, one.source, step)
    with setup.device.open(compiled, memory_bytes=MEMORY_BYTES) as session:
        shape = (len(a), LANES, one.sums)
        buffers = {"a": session.alloc(a.nbytes), "b": session.alloc(b.nbytes)}
        buffers["d"] = session.alloc(4 * int(np.prod(shape)))
        session.write(buffers["a"], a)
        session.write(buffers["b"], b)
        session.fill(buffers["d"], 0xFF)
        session.run(plan(step), buffers, deadline_s=DEADLINE_S)
        said = disagreements(one, layout, session.read(buffers["d"], one.sum_dtype, shape))
    rows = sum(places.shape[0] * places.shape[1] for places in layout.values())
    if said:
        raise Broken(f"{len(said)} of {rows} rows of mfma.csv are contradicted: {said[0]}")
    return f"all {rows} rows of mfma.csv agree"


def trials() -> tuple[Trial, ...]:
    def trial(one: Instruction) -> Trial:
        return Trial(
            name=one.name,
            run=lambda setup: probe(setup, one),
            todo="don't use this instruction's row of mfma.csv; send this report to the authors",
        )

    return tuple(map(trial, INSTRUCTIONS))
