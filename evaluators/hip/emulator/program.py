"""Disassembled text becomes the array of instructions that the machine runs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluators.hip.emulator import instruction
from evaluators.hip.emulator.instruction import INSTRUCTION, KIND, MOST_OPERANDS, TO_LDS
from evaluators.hip.emulator.modifiers import hardware_register, read_modifiers, register_indexing
from evaluators.hip.emulator.operand import Unknown, constant, read_operand
from evaluators.hip.emulator.polling import mark_loads

Line = tuple[int, int, str]
"""Address, bytes, text."""

_ENCODING = re.compile(r"_(e32|e64|dpp|sdwa|e64_dpp)$")
_SIGNED_16 = re.compile(r"s_(movk|cmovk|addk|mulk|cmpk_\w+)_i32$")
_BRANCH = re.compile(r"s_(c?branch\w*|call_b64)$")
_UNREAD = re.compile(
    r"s_(waitcnt|nop|sleep|setprio|inst_prefetch|ttracedata|barrier|code_end|[id]cache_)"
    r"|buffer_(wbl2|inv|wbinvl1)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """What the machine knows: number and count of results by mnemonic without its encoding."""

    numbers: Mapping[str, int]
    results: Sequence[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """code: one INSTRUCTION each, addresses as in the code object. texts: as disassembled.

    at: (address - start) / 4 -> the instruction's number, or -1. start, end: of the code.
    """

    code: np.ndarray[Any, Any]
    texts: Sequence[str]
    at: np.ndarray[Any, np.dtype[np.int32]]
    start: int
    end: int


def base_name(mnemonic: str) -> str:
    """Without the encoding: v_add_f32_e64 is v_add_f32."""
    return _ENCODING.sub("", mnemonic)


def read_program(lines: Sequence[Line], operations: Operations, accumulators: int) -> Program:
    """accumulators: which vector register a0 is; that differs from kernel to kernel.

    An instruction that is not known is kept as "unknown": running it is UNSUPPORTED.
    """
    start = lines[0][0] if lines else 0
    end = lines[-1][0] + lines[-1][1] if lines else 0
    at = np.full((end - start) // 4 + 1, -1, np.int32)
    for number, (address, _, _) in enumerate(lines):
        at[(address - start) // 4] = number
    code = np.zeros(len(lines), INSTRUCTION)
    for number, (address, nbytes, text) in enumerate(lines):
        one = code[number]
        one["target"], one["address"], one["bytes"] = -1, address, nbytes
        try:
            _read(one, text, operations, accumulators)
        except Unknown:
            one["operation"] = operations.numbers["unknown"]
            continue
        if "_load_lds_" in text:
            one["flags"] |= TO_LDS
        if int(one["target"]) >= 0:
            place = (int(one["address"]) + 4 * _simm16(text) + 4 - start) // 4
            one["target"] = at[place] if 0 <= place < len(at) else -1
    texts = [text for *_, text in lines]
    mark_loads(code, texts)
    return Program(code=code, texts=texts, at=at, start=start, end=end)


def _simm16(text: str) -> int:
    value = int(text.rsplit(maxsplit=1)[-1], 0) & 0xFFFF
    return value - 0x10000 if value & 0x8000 else value


def split(text: str) -> tuple[str, list[str], list[str]]:
    """Mnemonic, operands, modifiers of `v_add_f32_e64 v0, -v1, |v2| clamp mul:2`."""
    mnemonic, _, rest = text.strip().partition(" ")
    pieces, depth = [""], 0
    for sign in rest:
        depth += (sign in "([") - (sign in ")]")
        if sign == "," and depth == 0:
            pieces.append("")
        else:
            pieces[-1] += sign
    words, depth = [""], 0
    for sign in pieces[-1].strip():
        depth += (sign in "([") - (sign in ")]")
        if sign == " " and depth == 0:
            words.append("")
        else:
            words[-1] += sign
    operands = [piece.strip() for piece in pieces[:-1]] + [words[0]]
    modifiers = [word for word in words[1:] if word]
    if operands == [""] or (len(operands) == 1 and ":" in operands[0] and "[" not in operands[0]):
        modifiers, operands = [word for word in [operands[0], *modifiers] if word], []
    return mnemonic, operands, modifiers


def _read(one: Any, text: str, operations: Operations, accumulators: int) -> None:
    """Raises Unknown."""
    mnemonic, operands, words = split(text)
    name = base_name(mnemonic)
    if name not in operations.numbers:
        raise Unknown(mnemonic)
    number = operations.numbers[name]
    one["operation"], one["results"] = number, operations.results[number]
    if name == "s_waitcnt":
        one["offset"], one["offset1"] = _count(text, "vmcnt"), _count(text, "lgkmcnt")
    if _UNREAD.match(name):
        return
    if _BRANCH.fullmatch(name):
        one["target"] = 0
        operands = operands[:-1]
    fields, parts = read_modifiers(words)
    _selections(fields, name, len(operands) - operations.results[number])
    for key, value in fields.items():
        one[key] = value
    if len(operands) > MOST_OPERANDS:
        raise Unknown(text)
    if "_atomic_" in name and fields["flags"] & instruction.RETURNS:
        one["results"] = 1
    one["operands"] = len(operands)
    for place, operand in enumerate(operands):
        for key, value in _operand(operand, name, accumulators).items():
            one["o"][place][key] = value
        part = parts.get(place - int(one["results"]))
        if part is not None:
            one["o"][place]["part"] = part


def _count(text: str, counter: str) -> int:
    """How many accesses an s_waitcnt lets be under way; any number where it doesn't say."""
    found = re.search(rf"\b{counter}\((\d+)\)", text)
    return int(found[1]) if found else 2**31 - 1


def _selections(fields: dict[str, Any], name: str, sources: int) -> None:
    """op_sel's last bit is the result's where it has one more than there are sources."""
    bits = fields.pop("op_sel_list", [])
    if name.startswith("v_dot") and bits:
        raise Unknown(name)
    packed = sum(bit << i for i, bit in enumerate(bits[:sources]))
    if len(bits) == sources + 1:
        packed |= bits[-1] << 3
    elif len(bits) > sources:
        packed = sum(bit << i for i, bit in enumerate(bits))
    fields["op_sel"] = packed
    if name.startswith(("v_pk_", "v_dot")):
        fields.setdefault("op_sel_hi", 7)


def _operand(text: str, name: str, accumulators: int) -> dict[str, Any]:
    if text.startswith("hwreg("):
        return {"kind": KIND["integer"], "as32": hardware_register(text)}
    if text.startswith("gpr_idx("):
        return {"kind": KIND["integer"], "as32": register_indexing(text)}
    fields = read_operand(text, accumulators)
    if _SIGNED_16.match(name) and fields["kind"] == KIND["literal"]:
        value = int(text, 16) & 0xFFFF
        return constant(str(value - 0x10000 if value & 0x8000 else value))
    return fields
