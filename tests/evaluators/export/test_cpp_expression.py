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
    "sizeof(float64) * N + (float16 == float16) + (bfloat16 != bfloat16)",
)
DECIMALS = (
    "M / 4",
    "sqrt(N) * 1.5 - K",
    "min(M, 2.5, N) // 2",
    "-eps * M % 0.75",
    "max(eps, 1) + ceil_div(N, 0.5) + align_up(2.25, eps)",
    "(eps > 0.1) + (eps == 0.25) * 2",
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
    for (text, dims, wanted), value in zip(rows, printed(lines, tmp_path), strict=True):
        assert int(value) == wanted, (text, dims)


def test_decimals_have_their_values(tmp_path: Path) -> None:
    rows = [(text, {**dims, "eps": 0.25}) for text in DECIMALS for dims in SIZES]
    lines = []
    for text, env in rows:
        values = {k: repr(v) if isinstance(v, float) else f"{v}LL" for k, v in env.items()}
        written = cpp_expression(parse_expression(text, floats=True), values, {"eps"})
        lines.append(f'printf("%.17g\\n", (double)({written}));')
    for (text, env), value in zip(rows, printed(lines, tmp_path), strict=True):
        wanted = parse_expression(text, floats=True).evaluate(env)
        assert float(value) == wanted, (text, env)


def printed(lines: list[str], folder: Path) -> list[str]:
    includes = ["#include <cmath>", "#include <cstdio>"]
    program = "\n".join([*includes, ARITHMETIC, "int main() {", *lines, "}"])
    (folder / "values.cpp").write_text(program)
    subprocess.run(["g++", "-w", "-o", "values", "values.cpp"], cwd=folder, check=True)
    ran = subprocess.run([folder / "values"], capture_output=True, text=True, check=True)
    return ran.stdout.split()
