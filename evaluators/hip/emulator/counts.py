"""What a kernel executed: instructions by kind, and what its busiest loop is made of."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evaluators.hip.emulator.program import Program, base_name

_WIDTHS = {"ubyte": 1, "sbyte": 1, "byte": 1, "ushort": 2, "sshort": 2, "short": 2, "dword": 4}
_LDS_WIDTHS = {"u8": 1, "i8": 1, "b8": 1, "u16": 2, "i16": 2, "b16": 2, "b96": 12, "b128": 16}
_TRANSCENDENTAL = re.compile(r"v_(rcp|rsq|sqrt|exp|log|sin|cos)_")
_MATRIX = re.compile(r"v_s?mfmac?_\w\d+_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?_(\w+)")
_FLOPS_A_CYCLE = {"f32": 64, "xf32": 256, "f64": 64, "f16": 512, "bf16": 512}
"""A SIMD's, by the type of an operand (facts of CDNA 3's white paper); of 8 bits: 1024."""
WIDE_BYTES = 16
LINE_BYTES = 128
"""Of a cache line (native/memory.hpp)."""
EXTRA_LINES = "memory.lines"
"""Not instructions: lines that accesses touch beyond those that as many bytes side by side fill."""
SCATTERED = 2.0
"""Lines an access beyond those: fewer are no matter."""
_CROSSING = ("ds_swizzle", "ds_bpermute", "ds_permute")


def kind_of(mnemonic: str) -> str:
    """Such as "valu", "mfma.32" (cycles), "memory.global.load.16" (bytes a lane), "barrier"."""
    name = base_name(mnemonic)
    if found := _MATRIX.fullmatch(name):
        m, n, k, blocks = (int(part or 1) for part in found.groups()[:4])
        rate = _FLOPS_A_CYCLE.get(found[5], 1024)
        sparse = 2 if name.startswith("v_smfmac") else 1
        return f"mfma.{max(8, 2 * m * n * k * blocks // rate // sparse)}"
    if name.startswith("v_"):
        wide = "_f64" in name and not name.startswith("v_cmp")
        return "valu.trans" if _TRANSCENDENTAL.match(name) else "valu.f64" if wide else "valu"
    if name.startswith(_CROSSING):
        return "memory.lds.cross.4"
    if name.startswith("ds_"):
        return f"memory.lds.{'atomic.' if _lds_atomic(name) else ''}{_lds_bytes(name)}"
    if name.startswith(("global_", "flat_", "buffer_load", "buffer_store", "buffer_atomic")):
        return _memory_kind("memory.global", name)
    if name.startswith("scratch_"):
        return _memory_kind("memory.scratch", name)
    if name.startswith(("s_load", "s_buffer_load", "s_memtime", "s_memrealtime")):
        return "memory.scalar"
    if name == "s_barrier":
        return "barrier"
    if name.startswith("s_waitcnt"):
        return "wait"
    if name.startswith(("s_branch", "s_cbranch", "s_call", "s_setpc", "s_swappc")):
        return "branch"
    return "salu" if name.startswith("s_") else "other"


def _memory_kind(space: str, name: str) -> str:
    if "_atomic_" in name:
        return f"{space}.atomic.{8 if name.endswith(('_x2', '_f64')) else 4}"
    action = "load" if "_load_" in name else "store"
    size = re.search(r"_(ubyte|sbyte|byte|ushort|sshort|short|dword)(?:x(\d))?", name)
    return f"{space}.{action}.{_WIDTHS[size[1]] * int(size[2] or 1) if size else 4}"


def _lds_atomic(name: str) -> bool:
    return not name.startswith(("ds_read", "ds_write"))


def _lds_bytes(name: str) -> int:
    pair = 2 if name.startswith(("ds_read2", "ds_write2")) else 1
    size = next((part for part in name.split("_")[2:] if part in _LDS_WIDTHS), "")
    return pair * (_LDS_WIDTHS[size] if size else 8 if name.endswith("64") else 4)


@dataclass(slots=True)
class Executed:
    """How often each instruction of a program ran, and its extra lines, by number."""

    program: Program
    hits: Counter[int] = field(default_factory=Counter)
    extra_lines: Counter[int] = field(default_factory=Counter)

    def add(self, hits: np.ndarray[Any, Any], extra_lines: np.ndarray[Any, Any]) -> None:
        for known, found in ((self.hits, hits), (self.extra_lines, extra_lines)):
            for number in np.flatnonzero(found):
                known[int(number)] += int(found[number])

    def by_kind(self) -> dict[str, float]:
        """Wavefront-instructions, and EXTRA_LINES."""
        found: Counter[str] = Counter()
        for number, count in self.hits.items():
            found[kind_of(self._name(number))] += count
        if self.extra_lines:
            found[EXTRA_LINES] = self.extra_lines.total()
        return {kind: float(count) for kind, count in sorted(found.items())}

    def advice(self) -> Iterator[str]:
        """Sentences on scattered accesses and on the busiest loop, the most telling first."""
        yield from self._scattered()
        first, last = self._busiest_loop()
        inside = {n: count for n, count in self.hits.items() if first <= n <= last}
        total, whole = sum(inside.values()), sum(self.hits.values())
        if not total:
            return
        kinds: Counter[str] = Counter()
        for number, count in inside.items():
            kinds[kind_of(self._name(number)).split(".")[0]] += count
        share = 100 * total / whole
        parts = ", ".join(
            f"{100 * count / total:.0f}% {_SHOWN[kind]}"
            for kind, count in kinds.most_common()
            if kind in _SHOWN and 100 * count >= total
        )
        yield (
            f"The inner loop holds {last - first + 1} instructions and {share:.0f}% of those "
            f"executed: {parts}"
        )
        yield from self._narrow(inside)

    def _scattered(self) -> Iterator[str]:
        """The access that touches the most lines in vain."""
        for number, lines in self.extra_lines.most_common(1):
            count = self.hits[number]
            if lines >= SCATTERED * count:
                yield (
                    f"{self._name(number)} touches {lines / count:.3g} cache lines of {LINE_BYTES} "
                    f"bytes more than its lanes' bytes fill ({count:,} times): let neighbouring "
                    "lanes access neighbouring addresses"
                )

    def _narrow(self, inside: Mapping[int, int]) -> Iterator[str]:
        """Loads and stores of that loop that move few bytes a lane, each name once."""
        for space, wide in (
            ("memory.global", "global_load_dwordx4"),
            ("memory.lds", "ds_read_b128"),
        ):
            counts: Counter[str] = Counter()
            for number, count in inside.items():
                kind = kind_of(self._name(number))
                width = kind.rpartition(".")[2]
                plain = kind.startswith((f"{space}.load", f"{space}.store", f"{space}.{width}"))
                if plain and int(width) < WIDE_BYTES:
                    counts[self._name(number)] += count
            if counts:
                name, count = counts.most_common(1)[0]
                width = kind_of(name).rpartition(".")[2]
                yield (
                    f"{name} moves {width} bytes a lane in the inner loop "
                    f"({count:,} times); {wide} moves {WIDE_BYTES}"
                )

    def _name(self, number: int) -> str:
        return self.program.texts[number].split(maxsplit=1)[0]

    def _busiest_loop(self) -> tuple[int, int]:
        """First and last instruction of the loop that runs most often; with MFMA where any has."""
        targets = self.program.code["target"]
        loops = [(int(targets[n]), n) for n in self.hits if 0 <= int(targets[n]) <= n]
        matrix = [n for n in self.hits if kind_of(self._name(n)).startswith("mfma")]
        with_matrix = [loop for loop in loops if any(loop[0] <= n <= loop[1] for n in matrix)]

        def often(loop: tuple[int, int]) -> float:
            first, last = loop
            inside = sum(count for n, count in self.hits.items() if first <= n <= last)
            return inside / (last - first + 1)

        return max(with_matrix or loops, key=often, default=(0, -1))


_SHOWN = {
    "mfma": "MFMA",
    "valu": "vector arithmetic",
    "salu": "scalar arithmetic",
    "memory": "memory",
    "branch": "branches",
    "wait": "waits",
    "barrier": "barriers",
}
