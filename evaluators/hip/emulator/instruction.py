"""An instruction as the machine reads it: native/state.hpp's Instruction, as a numpy dtype."""

import numpy as np

KINDS = (
    *("none", "vector", "scalar", "integer", "real", "literal", "scc", "vccz", "execz"),
    *("shared_base", "shared_limit", "private_base", "private_limit"),
)
KIND = {name: number for number, name in enumerate(KINDS)}
RETURNS, TO_LDS, OFFEN, IDXEN, CLAMPED, DPP, SDWA, BOUND_ZERO = (1 << i for i in range(8))
POLLS, GUARDS = 1 << 10, 1 << 11
MOST_OPERANDS = 6
WHOLE = 6  # an SDWA selection of all 32 bits

OPERAND = np.dtype(
    [
        *((name, np.uint32) for name in ("kind", "index", "registers")),
        *((name, np.uint8) for name in ("neg", "abs", "sext", "part")),
        *(("value", np.uint64), ("as32", np.uint32), ("as16", np.uint32)),
    ],
    align=True,
)
INSTRUCTION = np.dtype(
    [
        *((name, np.uint32) for name in ("operation", "flags", "operands")),
        *(("target", np.int32), ("address", np.uint64), ("bytes", np.uint32)),
        *(("offset", np.int32), ("offset1", np.int32)),
        *((name, np.uint32) for name in ("op_sel", "op_sel_hi", "neg_lo", "neg_hi", "omod")),
        *((name, np.uint32) for name in ("dpp", "row_mask", "bank_mask")),
        *((name, np.uint32) for name in ("dst_part", "dst_unused", "cbsz", "abid", "blgp")),
        *(("results", np.uint32), ("o", OPERAND, MOST_OPERANDS)),
    ],
    align=True,
)
