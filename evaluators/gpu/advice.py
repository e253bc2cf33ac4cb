"""What a kernel's resources on a GPU come to: a line of numbers, and what to try about them."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from evaluators.gpu.occupancy import (
    LIMITED_BY_BLOCKS,
    LIMITED_BY_LDS,
    LIMITED_BY_REGISTERS,
    LIMITS,
    Limits,
    Occupancy,
    registers_for,
    waves_by_registers,
)
from evaluators.gpu.resources import Resources

POORLY_FILLED = 0.75
"""Of the lanes of a block's wavefronts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """What a vendor calls things."""

    registers: str
    lds: str
    scratch: str
    wave: str
    simd: str
    unit: str


_AMD = _Words(
    registers="VGPRs", lds="LDS", scratch="scratch", wave="wave", simd="SIMD", unit="compute unit"
)
_NVIDIA = _Words(
    registers="registers",
    lds="shared memory",
    scratch="local memory",
    wave="warp",
    simd="scheduler",
    unit="SM",
)


def _words(resources: Resources) -> _Words:
    return _AMD if resources.arch.startswith("gfx") else _NVIDIA


def for_launch(resources: Resources, block_threads: int, dynamic_lds_bytes: int) -> dict[str, Any]:
    """Plain values for Compiled.resources of launches of that shape; with occupancy, where there
    are rules, the line of numbers under "facts", and "advice".
    """
    found = resources.occupancy(block_threads, dynamic_lds_bytes)
    return asdict(resources) | {
        "block_threads": block_threads,
        "dynamic_lds_bytes": dynamic_lds_bytes,
        **({} if found is None else asdict(found)),
        "advice": list(advice(resources, block_threads, dynamic_lds_bytes)),
        "facts": [numbers(resources, block_threads, dynamic_lds_bytes)],
    }


def numbers(resources: Resources, block_threads: int, dynamic_lds_bytes: int = 0) -> str:
    """One line: registers, LDS, scratch, spills, wavefronts and what limits them."""
    words = _words(resources)
    parts = [f"{resources.registers} {words.registers}"]
    if words is _AMD:
        parts[0] += f" (AGPRs: {resources.agprs} of them)" if resources.agprs else ""
        parts.append(f"{resources.sgprs} SGPRs")
    parts.append(f"{resources.lds_bytes + dynamic_lds_bytes} bytes of {words.lds} a block")
    parts.append(f"{resources.scratch_bytes} bytes of {words.scratch} a thread")
    if words is _AMD:
        spills = resources.vgpr_spills + resources.sgpr_spills
        parts.append(_plural(spills, "register") + " spilled" if spills else "no spills")
    if resources.mfma is not None:
        parts.append(_plural(resources.mfma, "matrix instruction"))
    line = f"blocks of {_plural(block_threads, 'thread')}: {', '.join(parts)}"
    found = resources.occupancy(block_threads, dynamic_lds_bytes)
    limits = LIMITS.get(resources.arch)
    if found is None or limits is None:
        return f"{line}."
    waves = f"{found.waves_per_simd:g} of {limits.waves_per_simd} {words.wave}s a {words.simd}"
    return f"{line}; {waves} can be resident{_limit(found, words)}."


def _limit(found: Occupancy, words: _Words) -> str:
    return {
        LIMITED_BY_LDS: f", limited by {words.lds}",
        LIMITED_BY_REGISTERS: ", limited by registers",
        LIMITED_BY_BLOCKS: f", limited by the blocks that a {words.unit} takes",
    }.get(found.limited_by, "")


def advice(resources: Resources, block_threads: int, dynamic_lds_bytes: int = 0) -> tuple[str, ...]:
    """Sentences for whoever changes the kernel next: what holds it down, by how much, what to
    try; the worst first.
    """
    said = [*_memory_advice(resources, block_threads)]
    limits = LIMITS.get(resources.arch)
    found = resources.occupancy(block_threads, dynamic_lds_bytes)
    if limits is not None and found is not None:
        said.extend(_occupancy_advice(resources, limits, found, block_threads, dynamic_lds_bytes))
    if resources.loads and not resources.wide_loads:
        said.append(
            f"none of the {resources.loads} global loads is 16 bytes wide; vector loads such as "
            "float4 need fewer instructions."
        )
    if limits is not None:
        lanes = -(-block_threads // limits.wavefront) * limits.wavefront
        if block_threads < POORLY_FILLED * lanes:
            said.append(
                f"blocks of {block_threads} threads leave {lanes - block_threads} of {lanes} lanes "
                f"idle; try: a multiple of {limits.wavefront} threads."
            )
    return tuple(said)


def _memory_advice(resources: Resources, block_threads: int) -> Iterator[str]:
    """Of registers and arrays that live in slow memory."""
    words = _words(resources)
    if resources.vgpr_spills:
        yield (
            f"{_plural(resources.vgpr_spills, 'register')} spilled to memory; try: smaller tiles "
            f"or less unrolling{_bounds(resources, block_threads)}."
        )
    elif resources.scratch_bytes:
        yield (
            f"{resources.scratch_bytes} bytes of private memory a lane: an array indexed at run "
            f"time{'' if words is _AMD else ', or spilled registers,'} lies in slow memory; try: "
            "unroll the loops that index it, so that every index is a constant"
            f"{_bounds(resources, block_threads) if words is _NVIDIA else ''}."
        )
    if resources.sgpr_spills:
        yield (
            f"{_plural(resources.sgpr_spills, 'scalar register')} spilled; try: fewer pointers and "
            "sizes that live all through the kernel, or sizes compiled in with specialize."
        )


def _bounds(resources: Resources, block_threads: int) -> str:
    """A bound that the compiler did not have: with fewer threads there are more registers."""
    if resources.max_threads is not None and resources.max_threads <= block_threads:
        return ""
    return f", or __launch_bounds__({block_threads}), which leaves each thread more registers"


def _occupancy_advice(
    resources: Resources, limits: Limits, found: Occupancy, block_threads: int, dynamic: int
) -> Iterator[str]:
    words = _words(resources)
    waves = f"{_plural(found.waves_per_simd, words.wave)} a {words.simd}"
    lds_bytes = resources.lds_bytes + dynamic
    if found.blocks_per_cu == 0:
        yield (
            f"a block of {block_threads} threads with {resources.registers} {words.registers} and "
            f"{lds_bytes} bytes of {words.lds} does not fit on a {words.unit}; try: fewer threads."
        )
    elif found.limited_by == LIMITED_BY_REGISTERS:
        better = _with_fewer_registers(resources, limits, found, block_threads, dynamic)
        yield f"{resources.registers} {words.registers}: {waves}{better}."
    elif found.limited_by == LIMITED_BY_LDS:
        blocks = found.blocks_per_cu + 1
        enough = (limits.lds_bytes // blocks - limits.lds_reserved) // limits.lds_granule
        yield (
            f"{lds_bytes} bytes of {words.lds}: "
            f"{_plural(found.blocks_per_cu, 'block')} a {words.unit}, {waves}; "
            f"{enough * limits.lds_granule} bytes would give {blocks} blocks."
        )
    elif found.limited_by == LIMITED_BY_BLOCKS:
        yield (
            f"a {words.unit} takes {found.blocks_per_cu} blocks, with {block_threads} threads each "
            f"{waves} of {limits.waves_per_simd}; try: larger blocks."
        )


def _with_fewer_registers(
    resources: Resources, limits: Limits, found: Occupancy, block_threads: int, dynamic: int
) -> str:
    """The largest count that lets another block in, when the other limits allow one."""
    held = waves_by_registers(limits, resources.registers)
    for waves in range(held + 1, limits.waves_per_simd + 1):
        enough = registers_for(limits, waves)
        then = replace(resources, registers=enough).occupancy(block_threads, dynamic)
        if then is not None and then.waves_per_simd > found.waves_per_simd:
            return f"; {enough} would give {then.waves_per_simd:g}"
    return ""


def _plural(count: float, noun: str) -> str:
    return f"{count:g} {noun}" if count == 1 else f"{count:g} {noun}s"
