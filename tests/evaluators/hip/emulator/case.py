"""One instruction's test: its assembly, its operands, and what it should give in Python."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

LANES = 64

Array = np.ndarray[Any, Any]
Expect = Callable[..., Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """name: in the assembly, in braces. where: v, a or s (registers), or scc.

    kind: u32, i32, f32, u64, i64, f64, u16, i16, f16, bf16 (whose register's upper half an input
    fills with noise), f16x2, bf16x2, f32x2 (two of them), mask (a bit a lane, in an SGPR pair), or
    wN (N dwords). code: C that computes it, else it comes from the inputs. start: of an output
    that the instruction also reads or keeps parts of, the input with which it begins. scratch: a
    register that the assembly needs, whose contents don't matter.
    """

    name: str
    where: str
    kind: str
    code: str = ""
    start: str = ""
    scratch: bool = False

    @property
    def words(self) -> int:
        if self.kind.startswith("w"):
            return int(self.kind[1:])
        return 2 if self.kind.endswith("64") or self.kind == "f32x2" else 1

    @property
    def ctype(self) -> str:
        if self.kind == "mask":
            return "u64"
        return {1: "u32", 2: "u64"}.get(self.words, f"w{self.words}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """expect: per row, with Python ints or floats; whole: per wavefront, with arrays of 64 lanes.
    It gives a result's bits, a float that is to be rounded, or None where anything goes.

    lanes: of a block, 64, or 1 for scalar instructions. memory: dwords that begin a buffer which
    the kernel may change; expect then takes a bytearray of it first, and changes it likewise.
    values: bits of an input, by its name, in place of those that values.py makes. ulp: how far a
    float may be off. shared, before, after: C at the kernel's head and around the assembly.
    low_only: don't look at the upper half of a result of 16 bits.
    """

    name: str
    asm: str
    outs: tuple[Operand, ...]
    ins: tuple[Operand, ...]
    expect: Expect
    whole: bool = False
    lanes: int = LANES
    values: Mapping[str, Array] | None = None
    rows: int = 0
    memory: Array | None = None
    ulp: int = 0
    shared: str = ""
    before: str = ""
    after: str = ""
    clobbers: tuple[str, ...] = ("vcc", "scc", "memory")
    low_only: bool = False

    @property
    def results(self) -> tuple[Operand, ...]:
        return tuple(one for one in self.outs if not one.scratch)

    @property
    def given(self) -> tuple[Operand, ...]:
        """Operands that come from the inputs."""
        return tuple(one for one in self.ins if not one.code)


def operands(text: str) -> tuple[Operand, ...]:
    """Such as "a=u32 b=s.u64 d=u32<c t=u32? p=u64:[(u64)mem + 4]"; in v where not told."""
    found = []
    for part in re.findall(r"(?:[^\s\[]|\[[^\]]*\])+", text):
        name, _, rest = part.partition("=")
        rest, _, code = rest.partition(":")
        rest, _, start = rest.partition("<")
        where, _, kind = rest.rpartition(".")
        scratch, kind = kind.endswith("?"), kind.rstrip("?")
        default = "s" if kind == "mask" else "scc" if kind == "scc" else "v"
        code = code.strip("[]")
        found.append(
            Operand(
                name=name,
                where=where or default,
                kind="u32" if kind == "scc" else kind,
                code=code,
                start=start,
                scratch=scratch,
            )
        )
    return tuple(found)


def case(asm: str, outs: str, ins: str, expect: Expect, **more: Any) -> Case:
    """The name is the assembly's, less its operands, unless told."""
    name = more.pop("name", None) or asm.replace("{", "").replace("}", "").strip()
    return Case(
        name=re.sub(r"[\s,]+", " ", name),
        asm=asm,
        outs=operands(outs),
        ins=operands(ins),
        expect=expect,
        **more,
    )


def source(cases: tuple[Case, ...]) -> str:
    """A kernel each, k0, k1, ..."""
    return PRELUDE + "\n".join(_kernel(f"k{at}", one) for at, one in enumerate(cases))


PRELUDE = """
typedef unsigned u32; typedef unsigned long long u64;
""" + "\n".join(
    f"typedef u32 w{n} __attribute__((ext_vector_type({n})));" for n in (3, 4, 6, 8, 16, 32)
)


def _kernel(symbol: str, one: Case) -> str:
    lines: list[str] = [one.shared]
    words = 0
    for operand in one.ins:
        lines.append(_load(operand, words, one.lanes))
        words += 0 if operand.code else operand.words
    for operand in one.outs:
        start = f" = {operand.start}" if operand.start else ""
        lines.append(f"{operand.ctype} {operand.name}{start};")
    lines += [one.before, _assembly(one), one.after]
    word = 0
    for operand in one.results:
        lines.append(_store(operand, word))
        word += operand.words
    body = "\n  ".join(line for line in lines if line)
    return (
        f'extern "C" __global__ __launch_bounds__({one.lanes}) void {symbol}'
        "(const u32 *in, u32 *out, u32 *mem, int rows) {\n"
        f"  int lane = threadIdx.x, row = blockIdx.x * {one.lanes} + lane;\n  {body}\n}}"
    )


def _load(operand: Operand, word: int, lanes: int) -> str:
    name, ctype = operand.name, operand.ctype
    if operand.code:
        return f"{ctype} {name} = {operand.code};"
    row = "row" if operand.where in "va" or operand.kind == "mask" else f"(row / {lanes} * {lanes})"
    parts = [f"in[{word + n} * rows + {row}]" for n in range(operand.words)]
    if operand.kind == "mask":
        return f"u64 {name} = __ballot({parts[0]});"
    if operand.where in ("s", "scc"):
        parts = [f"(u32)__builtin_amdgcn_readfirstlane({part})" for part in parts]
    if operand.words == 1:
        return f"u32 {name} = {parts[0]};"
    if operand.words == 2:
        return f"u64 {name} = {parts[0]} | (u64){parts[1]} << 32;"
    return f"{ctype} {name} = {{{', '.join(parts)}}};"


def _store(operand: Operand, word: int) -> str:
    name = operand.name
    if operand.kind == "mask":
        parts = [f"(u32)({name} >> lane) & 1"]
    elif operand.words <= 2:
        parts = [f"(u32){name}", f"(u32)({name} >> 32)"][: operand.words]
    else:
        parts = [f"{name}[{n}]" for n in range(operand.words)]
    return " ".join(f"out[{word + n} * rows + row] = {part};" for n, part in enumerate(parts))


def _assembly(one: Case) -> str:
    places: dict[str, str] = {}
    outs, ins = [], []
    lines = [one.asm]
    for operand in one.outs:
        places[operand.name] = f"%{len(places)}"
        mode = "+" if operand.start else "=&"
        outs.append(f'"{mode}{"s" if operand.where == "scc" else operand.where}"({operand.name})')
        if operand.where == "scc":
            lines.append(f"s_cselect_b32 {{{operand.name}}}, 1, 0")
    started = {operand.start for operand in one.outs}
    for operand in one.ins:
        if operand.name in started:
            continue
        places[operand.name] = f"%{len(places)}"
        ins.append(f'"{"s" if operand.where == "scc" else operand.where}"({operand.name})')
        if operand.where == "scc":
            lines.insert(0, f"s_cmp_lg_u32 {{{operand.name}}}, 0")
    text = "\n".join(lines).format(**places)
    written = "\\n".join(line.strip() for line in text.splitlines() if line.strip())
    m0 = ("m0",) if "m0" in one.asm else ()
    clobbers = ", ".join(f'"{name}"' for name in (*one.clobbers, *m0))
    return f'asm volatile("{written}" : {", ".join(outs)} : {", ".join(ins)} : {clobbers});'


def name_of(one: Case) -> str:
    return one.name
