"""What follows an instruction's operands: DPP, SDWA, selections, offsets, cache flags."""

import re
from typing import Any

from evaluators.hip.emulator import instruction
from evaluators.hip.emulator.operand import Unknown

_FLAGS = {
    "clamp": instruction.CLAMPED,
    "lds": instruction.TO_LDS,
    "offen": instruction.OFFEN,
    "idxen": instruction.IDXEN,
    "sc0": instruction.RETURNS,
    "glc": instruction.RETURNS,
}
_IGNORED = frozenset(("sc1", "nt", "slc", "dlc", "scc"))  # of caches, which are not modelled
_DPP = {
    "row_shl": 0x100,
    "row_shr": 0x110,
    "row_ror": 0x120,
    "row_newbcast": 0x150,
}
_DPP_FIXED = {
    "wave_shl:1": 0x130,
    "wave_rol:1": 0x134,
    "wave_shr:1": 0x138,
    "wave_ror:1": 0x13C,
    "row_mirror": 0x140,
    "row_half_mirror": 0x141,
    "row_bcast:15": 0x142,
    "row_bcast:31": 0x143,
}
_OMOD = {"mul:2": 1, "mul:4": 2, "div:2": 3}
_PARTS = {f"BYTE_{i}": i for i in range(4)} | {"WORD_0": 4, "WORD_1": 5, "DWORD": instruction.WHOLE}
_UNUSED = {"UNUSED_PAD": 0, "UNUSED_SEXT": 1, "UNUSED_PRESERVE": 2}
_NUMBERS = ("offset", "offset1", "row_mask", "bank_mask", "cbsz", "abid", "blgp")


def read_modifiers(words: list[str]) -> tuple[dict[str, Any], dict[int, int]]:
    """Fields of instruction.INSTRUCTION, and the SDWA part of each source by its number.

    op_sel stays a list, under "op_sel_list". Raises Unknown.
    """
    fields: dict[str, Any] = {"flags": 0, "row_mask": 15, "bank_mask": 15, "dst_part": 6}
    parts: dict[int, int] = {}
    for word in words:
        name, _, value = word.partition(":")
        if word in _FLAGS:
            fields["flags"] |= _FLAGS[word]
        elif word in _IGNORED:
            continue
        elif name == "bound_ctrl":
            fields["flags"] |= instruction.BOUND_ZERO
        elif (control := _dpp(word, name, value)) is not None:
            fields["dpp"] = control
            fields["flags"] |= instruction.DPP
        elif word in _OMOD:
            fields["omod"] = _OMOD[word]
        elif name in ("op_sel", "op_sel_hi", "neg_lo", "neg_hi", "neg"):
            _selection(fields, name, [int(bit) for bit in value.strip("[]").split(",")])
        elif name in ("dst_sel", "dst_unused"):
            fields["flags"] |= instruction.SDWA
            key, table = ("dst_part", _PARTS) if name == "dst_sel" else ("dst_unused", _UNUSED)
            fields[key] = _named(table, value)
        elif name in ("src0_sel", "src1_sel"):
            fields["flags"] |= instruction.SDWA
            parts[int(name[3])] = _named(_PARTS, value)
        elif name == "offset0":
            fields["offset"] = int(value, 0)
        elif name == "offset" and value.startswith("swizzle("):
            fields["offset"] = swizzle(value[8:-1].split(","))
        elif name in _NUMBERS:
            fields[name] = int(value, 0)
        else:
            raise Unknown(word)
    return fields, parts


def _selection(fields: dict[str, Any], name: str, bits: list[int]) -> None:
    packed = sum(bit << i for i, bit in enumerate(bits))
    if name == "op_sel":
        fields["op_sel_list"] = bits
    else:
        fields["blgp" if name == "neg" else name] = packed


def _named(table: dict[str, int], value: str) -> int:
    if value not in table:
        raise Unknown(value)
    return table[value]


def _dpp(word: str, name: str, value: str) -> int | None:
    if name == "quad_perm":
        return sum(int(lane) << 2 * i for i, lane in enumerate(value.strip("[]").split(",")))
    if name in _DPP:
        return _DPP[name] + int(value)
    return _DPP_FIXED.get(word)


def swizzle(how: list[str]) -> int:
    """The 16 bits of ds_swizzle_b32's offset for swizzle(MODE, ...). Raises Unknown."""
    mode, values = how[0].strip(), [part.strip() for part in how[1:]]
    if mode == "QUAD_PERM":
        return 0x8000 | sum(int(lane) << 2 * i for i, lane in enumerate(values))
    if mode == "BITMASK_PERM":
        signs = values[0].strip('"')
        kept, set_, flipped = (
            sum((sign in of) << (4 - i) for i, sign in enumerate(signs)) for of in ("pi", "1", "i")
        )
        return kept | set_ << 5 | flipped << 10
    if mode == "SWAP":
        return 0x1F | int(values[0]) << 10
    if mode == "REVERSE":
        return 0x1F | (int(values[0]) - 1) << 10
    if mode == "BROADCAST":
        return (32 - int(values[0])) | int(values[1]) << 5
    raise Unknown(f"swizzle({','.join(how)})")


def hardware_register(text: str) -> int:
    """The 16 bits of hwreg(NAME, offset, width). Raises Unknown."""
    found = re.fullmatch(r"hwreg\((\w+)(?:, (\d+), (\d+))?\)", text)
    names = {"HW_REG_MODE": 1, "HW_REG_STATUS": 2, "HW_REG_TRAPSTS": 3, "HW_REG_HW_ID": 4}
    names |= {"HW_REG_GPR_ALLOC": 5, "HW_REG_LDS_ALLOC": 6, "HW_REG_IB_STS": 7, "HW_REG_XCC_ID": 20}
    if not found or (found[1] not in names and not found[1].isdigit()):
        raise Unknown(text)
    number = int(found[1]) if found[1].isdigit() else names[found[1]]
    return number | int(found[2] or 0) << 6 | (int(found[3] or 32) - 1) << 11


def register_indexing(text: str) -> int:
    """The bits of gpr_idx(SRC0,DST). Raises Unknown."""
    found = re.fullmatch(r"gpr_idx\(([A-Z0-9,]*)\)", text)
    bits = {"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8, "": 0}
    if not found or any(name not in bits for name in found[1].split(",")):
        raise Unknown(text)
    return sum(bits[name] for name in found[1].split(","))
