"""Techniques that lead from the naive matrix product to tiles."""

from operators.catalog.technique import Technique

NAIVE = frozenset({"gemm_naive"})

GEMM_STARTS = (
    Technique(
        name="register tiling",
        sources=NAIVE,
        target="gemm_tile",
        sets={"TM": 2, "TN": 2, "BX": 16, "BY": 16},
        avenue="Let each thread compute a tile of outputs, to use every loaded element twice.",
        rubric="Give each thread 2 x 2 outputs in registers; each step over K loads 2 + 2 "
        "elements for 4 multiply-adds.",
        cpu=(100, 350),
        gpu=(50, 200),
        innovation=60,
    ),
    Technique(
        name="row of outputs",
        sources=NAIVE,
        target="gemm_tile",
        sets={"TM": 1, "TN": 4, "BX": 16, "BY": 16},
        avenue="Let each thread compute neighbouring outputs of one row, sharing a's element.",
        rubric="Give each thread 1 x 4 outputs; one element of a serves four multiply-adds.",
        cpu=(100, 350),
        gpu=(-40, 50),
        innovation=40,
    ),
    Technique(
        name="a vector of outputs",
        sources=NAIVE,
        target="gemm_tile",
        sets={"TM": 1, "TN": 16, "BX": 4, "BY": 16},
        avenue="Let each thread compute as many outputs of a row as a vector register holds.",
        rubric="Give each thread 1 x 16 outputs; one element of a is multiplied by a vector of b.",
        cpu=(200, 1200),
        gpu=(-80, -20),
        innovation=55,
    ),
    Technique(
        name="column of outputs",
        sources=NAIVE,
        target="gemm_tile",
        sets={"TM": 4, "TN": 1, "BX": 16, "BY": 16},
        avenue="Let each thread compute outputs below each other, sharing b's element.",
        rubric="Give each thread 4 x 1 outputs; one element of b serves four multiply-adds, and "
        "neighbouring threads still read neighbouring columns.",
        cpu=(80, 250),
        gpu=(30, 120),
        innovation=40,
    ),
    Technique(
        name="wide blocks",
        sources=NAIVE,
        sets={"BX": 64, "BY": 4},
        avenue="Shape the block so that it reads longer pieces of b's rows.",
        rubric="Use blocks of 64 x 4 threads.",
        cpu=(-10, 20),
        gpu=(-5, 30),
        innovation=15,
    ),
    Technique(
        name="split K",
        sources=NAIVE,
        target="gemm_split",
        sets={"TM": 1, "TN": 2, "BX": 16, "BY": 16},
        avenue="Cut K into parts for separate blocks and add their results after.",
        rubric="Write partial products of two halves of K to scratch; add them in a second launch.",
        cpu=(-20, 40),
        gpu=(-20, 40),
        innovation=55,
    ),
    Technique(
        name="a tile of any shape",
        sources=NAIVE,
        target="gemm_tile",
        sets={"BX": 16, "BY": 16},
        free=("TM", "TN"),
        avenue="Choose the tile of outputs a thread by what was learned, or by chance.",
        rubric="Give each thread TM x TN outputs in registers.",
        cpu=(50, 900),
        gpu=(-50, 300),
        innovation=65,
    ),
)
