"""An operand as the disassembler spells it, such as -|v3|, s[4:7] or 0x3fb8aa3b."""

import re
import struct
from typing import Any

from evaluators.hip.emulator.instruction import KIND, WHOLE

_REGISTERS = re.compile(r"([vas])(?:(\d+)|\[(\d+):(\d+)\])")
_NAMED = {
    "vcc": (106, 2),
    "vcc_lo": (106, 1),
    "vcc_hi": (107, 1),
    "m0": (124, 1),
    "exec": (126, 2),
    "exec_lo": (126, 1),
    "exec_hi": (127, 1),
}
_SPECIAL = {
    "src_scc": "scc",
    "scc": "scc",
    "src_vccz": "vccz",
    "src_execz": "execz",
    "src_shared_base": "shared_base",
    "src_shared_limit": "shared_limit",
    "src_private_base": "private_base",
    "src_private_limit": "private_limit",
}
# 1/(2 pi), whose inline constant is not what its printed digits would be rounded to.
_INVERSE_TAU = {"value": 0x3FC45F306DC9C882, "as32": 0x3E22F983, "as16": 0x3118}
_WRAPPERS = ((r"-(?=[\|a-z])(.+)", "neg"), (r"neg\((.+)\)", "neg"), (r"\|(.+)\|", "abs"))
_FURTHER = ((r"abs\((.+)\)", "abs"), (r"sext\((.+)\)", "sext"))


class Unknown(ValueError):
    """Something in an instruction's text that has no known meaning here."""


def read_operand(text: str, accumulators: int) -> dict[str, Any]:
    """Fields of instruction.OPERAND. accumulators: which vector register a0 is. Raises Unknown."""
    fields: dict[str, Any] = {"part": WHOLE}
    plain = text.strip()
    peeling = True
    while peeling:
        peeling = False
        for pattern, name in (*_WRAPPERS, *_FURTHER):
            if found := re.fullmatch(pattern, plain):
                plain, fields[name], peeling = found[1], 1, True
    return fields | _plain(plain, accumulators)


def _plain(text: str, accumulators: int) -> dict[str, Any]:
    if text in ("off", "null", ""):
        return {"kind": KIND["none"]}
    if found := _REGISTERS.fullmatch(text):
        first, last = int(found[2] or found[3]), int(found[2] or found[4])
        file, registers = found[1], last - first + 1
        if file == "s":
            return {"kind": KIND["scalar"], "index": first, "registers": registers}
        index = first + (accumulators if file == "a" else 0)
        return {"kind": KIND["vector"], "index": index, "registers": registers}
    if text in _NAMED:
        index, registers = _NAMED[text]
        return {"kind": KIND["scalar"], "index": index, "registers": registers}
    if text in _SPECIAL:
        return {"kind": KIND[_SPECIAL[text]], "registers": 1}
    return constant(text)


def constant(text: str) -> dict[str, Any]:
    """A number: decimal (an inline integer), with a point (an inline real), hex (a literal)."""
    if forced := re.fullmatch(r"lit\((0x[0-9a-f]+)\)", text):
        text = forced[1]
    if re.fullmatch(r"-?0x[0-9a-f]+", text):
        value = int(text, 16)
        low = value & 0xFFFFFFFF
        return {
            "kind": KIND["literal"],
            "value": value & (2**64 - 1),
            "as32": low,
            "as16": low & 0xFFFF,
        }
    if re.fullmatch(r"-?\d+", text):
        value = int(text)
        return {
            "kind": KIND["integer"],
            "value": value & (2**64 - 1),
            "as32": value & 0xFFFFFFFF,
            "as16": value & 0xFFFFFFFF,
        }
    if text.startswith("0.159"):
        return {"kind": KIND["real"], **_INVERSE_TAU}
    if re.fullmatch(r"-?\d+\.\d+", text):
        number = float(text)
        return {
            "kind": KIND["real"],
            "value": struct.unpack("<Q", struct.pack("<d", number))[0],
            "as32": struct.unpack("<I", struct.pack("<f", number))[0],
            "as16": struct.unpack("<H", struct.pack("<e", number))[0],
        }
    raise Unknown(text)
