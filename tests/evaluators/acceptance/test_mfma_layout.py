"""The fp8 kernel's MFMA index arithmetic against AMD's tables, and the kernel itself compiled."""

import csv
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from functools import cache
from itertools import product
from pathlib import Path

import pytest

import evaluators
from evaluators.device_info import target_of
from evaluators.gpu.resources import read_resources
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.source import parse_kernel
from evaluators.tasks.task_file import load_task

TASK = Path(__file__).parents[2] / "kernels" / "fp8_mfma_gemm"
KERNEL = (TASK / "seeds" / "fp8_mfma_gemm.hip").read_text()
TABLE = Path(evaluators.__file__).parent / "acceptance" / "data" / "mfma.csv"
BITS = {"fp8": 8, "i8": 8, "f16": 16, "bf16": 16, "xf32": 32, "f32": 32}
INSTRUCTIONS = (
    "f32_32x32x16_fp8_fp8",
    "f32_16x16x32_fp8_fp8",
    "f32_32x32x8_f16",
    "f32_32x32x8_bf16",
    "f32_16x16x16_f16",
    "f32_16x16x16_bf16",
    "i32_32x32x16_i8",
    "i32_16x16x32_i8",
    "f32_32x32x2_f32",
    "f32_16x16x4_f32",
    "f32_32x32x4_xf32",
    "f32_16x16x8_xf32",
)
PRINT_ALL = """
#include <cstdio>
#define __host__
#define __device__
%s
template <int SIDE, int HELD> static void print_all() {
    for (int lane = 0; lane < 64; ++lane) {
        for (int e = 0; e < HELD; ++e) {
            std::printf("A,%%d,%%d,%%d,%%d\\n", lane, e, row_of_a<SIDE>(lane),
                        k_of<SIDE, HELD>(lane, e));
            std::printf("B,%%d,%%d,%%d,%%d\\n", lane, e, k_of<SIDE, HELD>(lane, e),
                        col_of_b<SIDE>(lane));
        }
        for (int e = 0; e < SIDE * SIDE / 64; ++e)
            std::printf("D,%%d,%%d,%%d,%%d\\n", lane, e, row_of_d<SIDE>(lane, e),
                        col_of_d<SIDE>(lane));
    }
}
int main() { print_all<%d, %d>(); }
"""
Layout = dict[tuple[str, int, int], tuple[int, int]]  # (matrix, lane, element) -> (row, col)


@cache
def table() -> dict[str, Layout]:
    """mfma.csv by instruction; element counts what a lane holds of a matrix, in register order."""
    found: dict[str, Layout] = {}
    with TABLE.open(newline="") as lines:
        for line in csv.DictReader(lines):
            name, matrix = line["instruction"], line["matrix"]
            bits = 32 if matrix == "D" else BITS[name.rsplit("_", 1)[1]]
            element = (32 * int(line["gpr"]) + int(line["bit"])) // bits
            key = (matrix, int(line["lane"]), element)
            layout = found.setdefault(name, {})
            assert key not in layout
            layout[key] = (int(line["row"]), int(line["col"]))
    return found


def computed(tile: int, held: int, folder: Path) -> Layout:
    """What the kernel file's own functions say, compiled for this machine as they stand."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    assert compiler, "no C++ compiler (g++ or clang++) on PATH: install one to run the tests"
    functions = re.search(r"// layout begin.*?// layout end", KERNEL, re.DOTALL)
    assert functions
    source, binary = folder / f"layout{tile}x{held}.cpp", folder / f"layout{tile}x{held}"
    source.write_text(PRINT_ALL % (functions[0], tile, held))
    subprocess.run([compiler, "-std=c++17", "-o", binary, source], check=True, timeout=60)
    printed = subprocess.run([binary], check=True, capture_output=True, text=True, timeout=60)
    rows = [line.split(",") for line in printed.stdout.splitlines()]
    return {(m, int(lane), int(e)): (int(row), int(col)) for m, lane, e, row, col in rows}


@cache
def layout(tile: int, held: int) -> Layout:
    with tempfile.TemporaryDirectory() as folder:
        return computed(tile, held, Path(folder))


def shape(instruction: str) -> tuple[int, int]:
    """(tile, K) of an instruction's name."""
    found = re.fullmatch(r"\w32_(\d+)x\d+x(\d+)_.*", instruction)
    assert found
    return int(found[1]), int(found[2])


def test_the_table_holds_every_instruction_and_every_element() -> None:
    assert sorted(table()) == sorted(INSTRUCTIONS)
    assert sum(map(len, table().values())) == 14592
    for name, rows in table().items():
        tile, depth = shape(name)
        held = Counter((matrix, *place) for (matrix, _, _), place in rows.items())
        wanted = {
            *product("A", range(tile), range(depth)),
            *product("B", range(depth), range(tile)),
            *product("D", range(tile), range(tile)),
        }
        assert set(held) == wanted, name
        assert set(held.values()) == {1}, name


@pytest.mark.parametrize("instruction", INSTRUCTIONS)
def test_index_arithmetic_agrees_with_every_row(instruction: str) -> None:
    rows = table()[instruction]
    tile, depth = shape(instruction)
    assert layout(tile, tile * depth // 64) == rows


def test_the_kernel_uses_the_checked_functions_and_these_instructions() -> None:
    body = KERNEL.split("// layout end")[1]
    for name in ("row_of_a", "col_of_b", "k_of", "row_of_d", "col_of_d"):
        assert f"{name}<SIDE" in body
    assert set(re.findall(r"__builtin_amdgcn_mfma_(\w+)\(", body)) == {
        "f32_32x32x16_fp8_fp8",
        "f32_16x16x32_fp8_fp8",
    }


@pytest.mark.parametrize(
    ("tile", "bm", "bn", "bk"), [(32, 128, 128, 64), (16, 128, 128, 64), (32, 64, 256, 128)]
)
def test_the_kernel_compiles_to_as_many_mfma_as_it_should(
    gfx942: HiprtcChild, tile: int, bm: int, bn: int, bk: int
) -> None:
    task = load_task(TASK)
    kernel = parse_kernel(KERNEL).with_params({"TILE": tile, "BM": bm, "BN": bn, "BK": bk})
    plan = kernel.plan(task, task.workloads("tests", "hip")[0], target_of("hip"))
    made = gfx942.compile(
        kernel.text,
        arch="gfx942",
        names=tuple({launch.entry for launch in plan.launches}),
        options=tuple(f"-D{name}={value}" for name, value in plan.defines),
    )
    (found,) = read_resources(made.code, made.mnemonics)
    depth = 16 if tile == 32 else 32
    assert found.mfma == (bm // 2 // tile) * (bn // 2 // tile) * (bk // depth)
    assert found.scratch_bytes == 0
    assert found.lds_bytes == (bm + bn) * (bk + 16)
    assert found.wide_loads
    assert [(a.offset, a.size) for a in found.args] == [
        (0, 8), (8, 8), (16, 8), (24, 4), (28, 4), (32, 4),
    ]  # fmt: skip
