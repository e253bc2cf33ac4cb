"""Expressions in C++ have the values that they have in Python."""

import subprocess
from pathlib import Path

from evaluators.export.cpp_expression import cpp_expression
from evaluators.export.header import ARITHMETIC
from evaluators.expression import parse_expression

SIZES = ({"M": 1, "N": 7, "K": 64}, {"M": 4097, "N": 33, "K": 5}, {"M": 2, "N": 1, "K": 1 << 33})
EXPRESSIONS = (
    "ceil_div(M, 16) * N",
    "(M - N) // 3",
    "(M - 8 * N) % K",
    "-M // N",
    "min(M, N, K) + max(M, 2, N, K)",
    "align_up(M * N, 256)",
    "log2_ceil(M) + log2_ceil(K)",
    "M < N < K",
    "M == 1 or N % 3 == 0 and not K > 5",
    "(M << 3) + (K >> 2)",
    "(M >= N) * 5 + (M != 2)",
    "+M - -N",
    "3000000000 * M",
)


def test_every_construct_has_its_value(tmp_path: Path) -> None:
    rows = [
        (text, dims, int(parse_expression(text).evaluate(dims)))
        for text in EXPRESSIONS
        for dims in SIZES
    ]
    lines = [
        f'printf("%lld\\n", (long long)'
        f"{cpp_expression(parse_expression(text), {k: f'{v}LL' for k, v in dims.items()})});"
        for text, dims, _ in rows
    ]
    program = "\n".join(["#include <cstdio>", ARITHMETIC, "int main() {", *lines, "}"])
    (tmp_path / "values.cpp").write_text(program)
    subprocess.run(["g++", "-w", "-o", "values", "values.cpp"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "values"], capture_output=True, text=True, check=True)
    found = [int(line) for line in printed.stdout.split()]
    for (text, dims, wanted), value in zip(rows, found, strict=True):
        assert value == wanted, (text, dims)
