"""Errors planted in the shipped seeds for matrix cores are found in emulation."""

import re
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

from evaluators.device import Compiler
from evaluators.device_info import target_of
from evaluators.evaluation import Rejected, Status
from evaluators.hip import device as hip
from evaluators.hip.emulator.device import EmulatedDevice, open_emulated
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.source import parse_kernel
from evaluators.measuring.evaluator import Evaluator
from evaluators.measuring.policy import TimingPolicy
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task_file import load_task
from tests.soaked import one_in, soaked

ORDER = 1
DEADLINE_S = 120.0
NO_BARRIER = "of LDS that .* with no barrier between"
DIMS: Mapping[str, Mapping[str, int]] = {
    "fp8_gemm": {"M": 32, "N": 192, "K": 256},
    "moe": {"B": 1, "S": 15, "E": 5, "D": 33, "F": 65},
    "mla_decode": dict(zip("BDRHCNPVTL", (1, 37, 19, 2, 23, 7, 6, 11, 51, 50), strict=True)),
}
"""No tile divides them; sums over k and over keys take two tiles and more."""
PARAMS: Mapping[str, Mapping[str, int]] = {
    "fp8_gemm": {},
    "moe": {"BM": 64},
    "mla_decode": {"TK": 32, "DOWN_PARTS": 4, "OUT_PARTS": 1},
}
"""Of the kernels; a case's name tells which dims or parameters are others there."""

Edits = Mapping[str, str]

BARRIER = "\n        synchronise();"
STORED = "put(tiles[0], held);"
USED = "accumulate(sums, tiles[0], scales_m, scales_n, row_m, row_n);"
SECOND = "\n        bring(held, a, b, M, N, top, side, next);\n        accumulate(sums, tiles[now]"
ROWS_OF_D = "8 * four + lane / SIDE * 4"
SCALES = "(scales_m[i] * scales_n[j])"
FP8_GEMM: Mapping[str, Edits] = {
    "a's scales of an earlier block": {"a_scale[(size_t)(k0 / 128)": "a_scale[(size_t)(k0 / 256)"},
    "b's scales of an earlier block": {"b_scale[k0 / 128": "b_scale[k0 / 256"},
    "b's scales for 64 columns": {"N - 1) / 128]": "N - 1) / 64 % wide]"},
    "the sign of scales lost": {SCALES: f"fabsf{SCALES}"},
    "rows of D in the order of registers": {ROWS_OF_D: "4 * four + lane / SIDE * 16"},
    "rows of D of one half": {ROWS_OF_D: "8 * four"},
    "operands swapped": {"(b, a, sums, 0, 0, 0)": "(a, b, sums, 0, 0, 0)"},
    "rows of later tiles not swizzled": {"(chunk ^ tile * SIDE / 16)": "chunk"},
    "the last part not added (SPLIT=2)": {"part < SPLIT;": "part < SPLIT - 1;"},
    "no barrier before tiles are used": {STORED + BARRIER: STORED},
    "no barrier after tiles were used": {USED + BARRIER: USED},
    "no barrier of two sets (STAGES=3 BK=64)": {BARRIER + SECOND: SECOND},
}
ADDED = "sums[i][j], 0, 0, 0);\n            }"


def rounded(value: str) -> str:
    """Sums are rounded after each tile of k."""
    loops = "for (auto& line : sums) for (auto& tile : line) for (int e = 0; e < 16; ++e)"
    return f"{ADDED}\n            {loops} tile[e] = {value};"


MOE: Mapping[str, Edits] = {
    "scores not applied": {"score[5 * t + s] * part[": "part["},
    "the best expert left out": {"int s = 0; s < 5": "int s = 1; s < 5"},
    "an expert without tiles": {"int tiles = (": "int tiles = e == 1 ? 0 : ("},
    "gate and up change places": {"column < TN ? gate : up": "column < TN ? up : gate"},
    "the last tile of k left out": {"k0 < K; k0 += TK": "k0 + TK < K; k0 += TK"},
    "rows of D in the order of registers": {
        "8 * (element / 4)": "4 * (element / 4)",
        "threadIdx.x % 64 / 32 * 4": "threadIdx.x % 64 / 32 * 16",
    },
    "sums of a tile of k cut to bfloat16 (D=257)": {
        ADDED: rounded("__uint_as_float(__float_as_uint(tile[e]) & 0xffff0000u)")
    },
    "sums of a tile of k in float16 (D=2049 F=257)": {ADDED: rounded("(_Float16)tile[e]")},
    "no barrier before tiles are used": {
        "b.store(right);\n            __syncthreads();": "b.store(right);"
    },
}
WEIGHTED = "add_values(sums, tile, weights, shrink, wave * 64);"
MLA_DECODE: Mapping[str, Edits] = {
    "a part of the keys left out": {
        "sums += *(const Sums*)(partial": "if (i > 0) sums += *(const Sums*)(partial"
    },
    "parts weighted alike": {"exp2f(states[split].x - top)": "1.0f"},
    "keys turned in interleaved pairs": {
        "+ C + pair;": "+ C + 2 * pair;",
        "place[half]": "place[1]",
    },
    "the query turned backwards": {"-widen(q[i + half]) : widen": "widen(q[i + half]) : -widen"},
    "values not shrunk (SPLITS=1)": {"sums[m][i] *= factor;": ";"},
    "no barrier after tiles were used (SPLITS=1)": {WEIGHTED + BARRIER: WEIGHTED},
}
WRONG: Mapping[str, Mapping[str, Edits]] = {
    "fp8_gemm": FP8_GEMM,
    "moe": MOE,
    "mla_decode": MLA_DECODE,
}
RIGHT = [
    ("fp8_gemm", "SPLIT=2"),
    ("fp8_gemm", "STAGES=3 BK=64"),
    ("mla_decode", "SPLITS=1"),
    ("mla_decode", "SPLITS=7"),
    ("fp8_gemm", "SIDE=16 BN=64 SPLIT=2"),
    ("moe", "BM=128"),
    ("moe", "D=2049 F=257"),
]


class Checker:
    """Checks texts on their task's small shape."""

    def __init__(self, compiler: Compiler, device: EmulatedDevice) -> None:
        self._compiler = compiler
        self._evaluator = cache(
            lambda name: Evaluator(
                task=load_task(name),
                device=device,
                secret=1,
                policy=TimingPolicy(deadline_cap_s=DEADLINE_S),
            )
        )

    def check(self, name: str, edits: Edits, others: str) -> None:
        """others: dims and parameters, as "SPLIT=2 D=257". Raises Rejected."""
        evaluator = self._evaluator(name)
        task = evaluator.task
        text = task.seeds["mfma"]
        for old, new in edits.items():
            assert old in text, old
            text = text.replace(old, new)
        said = {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", others)}
        dims = {dim: said.pop(dim, size) for dim, size in DIMS[name].items()}
        kernel = parse_kernel(text).with_params({**PARAMS[name], **said})
        shape = Workload(dims=dims, suite="benchmarks")
        compiled = self._compiler.compile(kernel, [kernel.plan(task, shape, target_of("hip"))])
        evaluator.correctness.check(kernel, compiled, [shape], {})


@pytest.fixture(scope="module")
def checker(gfx942: HiprtcChild) -> Iterator[Checker]:
    device = open_emulated(0, order=ORDER)
    yield Checker(hip.compiler(arch="gfx942", child=gfx942), device)
    device.close()


@pytest.mark.parametrize(
    ("name", "planted"),
    [
        *one_in(2, [("fp8_gemm", planted) for planted in FP8_GEMM]),
        *one_in(2, [("moe", planted) for planted in MOE]),
        *(soaked(("mla_decode", planted)) for planted in MLA_DECODE),  # seconds each
    ],
)
def test_a_planted_error_is_found(checker: Checker, name: str, planted: str) -> None:
    with pytest.raises(Rejected) as rejected:
        checker.check(name, WRONG[name][planted], planted)
    assert rejected.value.status is Status.WRONG, rejected.value.reason
    raced = re.search(NO_BARRIER, rejected.value.reason) is not None
    assert raced == planted.startswith("no barrier"), rejected.value.reason


LEFT_OUT = "STAGES=3 BK=64 WAVES_M=4 WAVES_N=1 K=640"


def test_the_compiler_may_leave_out_the_wait_of_a_barrier(checker: Checker) -> None:
    """With hiprtc 7.2.4 this loop's __syncthreads() has no s_waitcnt: the seed has its own. Where
    another version has it, the kernel is right without that too."""
    checker.check("fp8_gemm", {}, LEFT_OUT)
    try:
        checker.check("fp8_gemm", {"__builtin_amdgcn_s_waitcnt(0xC07F);": ""}, LEFT_OUT)
    except Rejected as rejected:
        assert "s_waitcnt lgkmcnt(0) is missing" in rejected.reason


@pytest.mark.parametrize(("name", "others"), one_in(4, RIGHT))
def test_the_seeds_are_right(checker: Checker, name: str, others: str) -> None:
    checker.check(name, {}, others)
