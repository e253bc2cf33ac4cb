"""AMD's accelerators: recognised by what identifies them, and how fast each, or a part, can be."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evaluators.gpu.peaks import Peaks

PCI_DEVICES = Path("/sys/bus/pci/devices")

CDNA3_CLOCK_HZ = 2.1e9
"""The peak engine clock of every MI300 data sheet."""
CDNA3_FLOPS_A_CLOCK: Mapping[str, int] = {
    "float8_e4m3fnuz": 4096,
    "int8": 4096,
    "float16": 2048,
    "bfloat16": 2048,
    "xf32": 1024,
    "float32": 256,
    "float64": 256,
}
"""A compute unit's, dense, on the matrix cores (CDNA 3 white paper, table 1); in float32 the vector
units alone do as much."""
CDNA3_SPECIAL_A_CLOCK = 16
"""A compute unit's: transcendental instructions take four times a multiply-add's issue (CDNA 3
instruction set), so a SIMD of 16 lanes does four a clock."""
CDNA3_CACHE_BYTES = 256 << 20
CDNA3_CACHE_BYTES_PER_S = 17e12
"""AMD Infinity Cache: its size, and its peak in the MI300X data sheet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """One accelerator as it is sold. compute_units, dies (XCDs): of the whole. memory: HBM.

    pci_ids: PCI device ids, of the card and of its virtual functions.
    """

    name: str
    arch: str
    pci_ids: frozenset[int]
    compute_units: int
    dies: int
    memory_bytes: int
    memory_bytes_per_s: float

    def partition(self, compute_units: int) -> str:
        """The compute partition (SPX: the whole) with so many compute units; "" if none has."""
        parts, rest = divmod(self.compute_units, max(1, compute_units))
        if rest or not parts:
            return ""
        return {1: "SPX", self.dies: "CPX"}.get(parts) or {2: "DPX", 3: "TPX", 4: "QPX"}.get(
            parts, ""
        )

    def peaks(self, compute_units: int) -> Peaks:
        """Of a partition with so many compute units.

        Any partition may have the memory and the last-level cache for itself, so they bound as in
        the whole.
        """
        return Peaks(
            cache_bytes=CDNA3_CACHE_BYTES,
            flops={
                dtype: flops * compute_units * CDNA3_CLOCK_HZ
                for dtype, flops in CDNA3_FLOPS_A_CLOCK.items()
            },
            bytes_per_s={"dram": self.memory_bytes_per_s, "cache": CDNA3_CACHE_BYTES_PER_S},
            special_per_s=CDNA3_SPECIAL_A_CLOCK * compute_units * CDNA3_CLOCK_HZ,
        )


# Compute units, dies, memory: rocm.docs.amd.com, "AMD GPU specifications", and the data sheets.
# PCI ids: libdrm's amdgpu.ids and vLLM's platforms/rocm.py. Of the MI308X AMD publishes no data
# sheet: users report 80 compute units of 4 dies and 192 GB; the rest is the MI300X's, a bound.
PRODUCTS = (
    Product(
        name="AMD Instinct MI300A",
        arch="gfx942",
        pci_ids=frozenset({0x74A0}),
        compute_units=228,
        dies=6,
        memory_bytes=128 << 30,
        memory_bytes_per_s=5.3e12,
    ),
    Product(
        name="AMD Instinct MI300X",
        arch="gfx942",
        pci_ids=frozenset({0x74A1, 0x74A9, 0x74B5, 0x74BD}),
        compute_units=304,
        dies=8,
        memory_bytes=192 << 30,
        memory_bytes_per_s=5.3e12,
    ),
    Product(
        name="AMD Instinct MI308X",
        arch="gfx942",
        pci_ids=frozenset({0x74A2, 0x74A8, 0x74B6, 0x74BC}),
        compute_units=80,
        dies=4,
        memory_bytes=192 << 30,
        memory_bytes_per_s=5.3e12,
    ),
    Product(
        name="AMD Instinct MI325X",
        arch="gfx942",
        pci_ids=frozenset({0x74A5, 0x74B9}),
        compute_units=304,
        dies=8,
        memory_bytes=256 << 30,
        memory_bytes_per_s=6.0e12,
    ),
)


def recognise(
    arch: str, *, compute_units: int, memory_bytes: int, pci_id: int | None
) -> Product | None:
    """By architecture and PCI id; without a known id, by compute units and memory of a whole one.

    Not by its marketing name, which comes from a table that may be missing or old ("AMD Radeon
    Graphics", ROCm/TheRock issue 4693) and that vendors of machines change ("MI325_OAM").
    """
    known = [one for one in PRODUCTS if one.arch == arch]
    for product in known:
        if pci_id in product.pci_ids:
            return product
    whole = [
        one
        for one in known
        if one.compute_units == compute_units and memory_bytes <= one.memory_bytes
    ]
    return min(whole, key=lambda one: one.memory_bytes, default=None)


def pci_id_of(address: str, devices: Path = PCI_DEVICES) -> int | None:
    """The PCI device id of AMD's GPU at an address such as 0000:c1:00.0; None where none tells."""
    try:
        vendor, device = (
            int((devices / address / name).read_text(), 16) for name in ("vendor", "device")
        )
    except (OSError, ValueError):
        return None
    return device if vendor == 0x1002 else None
