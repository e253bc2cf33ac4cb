"""How many wavefronts a SIMD can hold at once, by each architecture's rules, and what limits it."""

from collections.abc import Mapping
from dataclasses import dataclass

LIMITED_BY_WAVES = "waves"
LIMITED_BY_REGISTERS = "registers"
LIMITED_BY_LDS = "LDS"
LIMITED_BY_BLOCKS = "blocks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """One compute unit (NVIDIA: SM) of an architecture. A SIMD is a quarter of it.

    registers: 32-bit registers a lane that one SIMD has for all its wavefronts together.
    blocks: resident blocks at most; single_wave_blocks: the same for blocks of one wavefront.
    lds_reserved: bytes that each block takes besides its own.
    """

    wavefront: int
    waves_per_simd: int
    registers: int
    register_granule: int
    max_registers: int
    lds_bytes: int
    lds_granule: int
    lds_reserved: int
    blocks: int
    single_wave_blocks: int


# CDNA2/3: AMD's CDNA3 ISA guide (512 unified VGPRs a lane, 64 KiB of LDS) and LLVM's
# AMDGPUBaseInfo (granules of 8 VGPRs and 512 bytes, 8 waves, 16 barriers a CU).
_CDNA = Limits(
    wavefront=64,
    waves_per_simd=8,
    registers=512,
    register_granule=8,
    max_registers=512,
    lds_bytes=64 << 10,
    lds_granule=512,
    lds_reserved=0,
    blocks=16,
    single_wave_blocks=32,
)
# Hopper: CUDA C++ Programming Guide, technical specifications of compute capability 9.0.
_HOPPER = Limits(
    wavefront=32,
    waves_per_simd=16,
    registers=512,
    register_granule=8,
    max_registers=255,
    lds_bytes=228 << 10,
    lds_granule=128,
    lds_reserved=1 << 10,
    blocks=32,
    single_wave_blocks=32,
)
LIMITS: Mapping[str, Limits] = {"gfx90a": _CDNA, "gfx942": _CDNA, "sm_90": _HOPPER}
SIMDS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupancy:
    """waves_per_simd: resident wavefronts, averaged over a CU's four SIMDs (0: can't launch)."""

    waves_per_simd: float
    blocks_per_cu: int
    limited_by: str


def align_up(value: int, granule: int) -> int:
    return -(-value // granule) * granule


def waves_by_registers(limits: Limits, registers: int) -> int:
    """Wavefronts that one SIMD's register file holds; 0 when one is too many."""
    if registers > limits.max_registers:
        return 0
    each = max(align_up(registers, limits.register_granule), limits.register_granule)
    return min(limits.waves_per_simd, limits.registers // each)


def registers_for(limits: Limits, waves: int) -> int:
    """The most registers a lane with which that many wavefronts still fit on a SIMD."""
    share = limits.registers // waves // limits.register_granule * limits.register_granule
    return min(share, limits.max_registers)


def waves_by_sgprs(arch: str, sgprs: int) -> int:
    """gfx9 holds 800 SGPRs a SIMD: 8 wavefronts up to 100, else 7 (LLVM, AMDGPUBaseInfo)."""
    return 7 if arch.startswith("gfx9") and sgprs > 100 else LIMITS[arch].waves_per_simd


def occupancy(
    arch: str, *, registers: int, sgprs: int, lds_bytes: int, block_threads: int
) -> Occupancy | None:
    """Whole blocks that fit on a compute unit. None for an architecture without rules here.

    registers: per lane (CDNA: unified, AGPRs included). lds_bytes: static and dynamic together.
    """
    limits = LIMITS.get(arch)
    if limits is None:
        return None
    waves = -(-block_threads // limits.wavefront)
    held = min(waves_by_registers(limits, registers), waves_by_sgprs(arch, sgprs))
    block_lds = align_up(lds_bytes, limits.lds_granule) + limits.lds_reserved
    fits = {
        LIMITED_BY_WAVES: SIMDS * limits.waves_per_simd // waves,
        LIMITED_BY_REGISTERS: SIMDS * held // waves,
        LIMITED_BY_BLOCKS: limits.blocks if waves > 1 else limits.single_wave_blocks,
    }
    if lds_bytes:
        fits[LIMITED_BY_LDS] = limits.lds_bytes // block_lds
    limited_by = min(fits, key=lambda name: fits[name])
    blocks = fits[limited_by]
    return Occupancy(
        waves_per_simd=blocks * waves / SIMDS, blocks_per_cu=blocks, limited_by=limited_by
    )
