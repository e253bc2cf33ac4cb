"""Peak rates of known GPUs, which bound how fast any kernel can be there."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """See DeviceInfo's fields. flops: dense. cache_bytes: of the last level."""

    cache_bytes: int
    flops: Mapping[str, float] = field(default_factory=dict)
    bytes_per_s: Mapping[str, float] = field(default_factory=dict)
    special_per_s: float = 0.0


_H100_FLOPS = {
    "float8_e4m3fnuz": 1979e12,
    "int8": 1979e12,
    "float16": 989e12,
    "bfloat16": 989e12,
    "tf32": 495e12,
    "float32": 67e12,
    "float64": 67e12,
}

_KNOWN: Mapping[str, Peaks] = {
    # NVIDIA's data sheets, dense. Special functions: 16 a clock and multiprocessor (CUDA C++
    # programming guide, throughput of native arithmetic instructions, 8.0 and 9.0), at the
    # largest clock.
    "H200": Peaks(
        cache_bytes=60 << 20,
        flops=_H100_FLOPS,
        bytes_per_s={"dram": 4.8e12},
        special_per_s=16 * 132 * 1.98e9,
    ),
    "H100 80GB HBM3": Peaks(  # SXM
        cache_bytes=50 << 20,
        flops=_H100_FLOPS,
        bytes_per_s={"dram": 3.35e12},
        special_per_s=16 * 132 * 1.98e9,
    ),
    "A100-SXM4-80GB": Peaks(
        cache_bytes=40 << 20,
        flops={
            "int8": 624e12,
            "float16": 312e12,
            "bfloat16": 312e12,
            "tf32": 156e12,
            "float32": 19.5e12,
            "float64": 19.5e12,
        },
        bytes_per_s={"dram": 2.039e12},
        special_per_s=16 * 108 * 1.41e9,
    ),
}


def peaks_of(device_name: str, *, cache_bytes: int) -> Peaks:
    """By a name such as "NVIDIA H200"; only its cache's size when unknown. AMD's: amd_products."""
    return _KNOWN.get(device_name.removeprefix("NVIDIA "), Peaks(cache_bytes=cache_bytes))
