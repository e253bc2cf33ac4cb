"""Peak rates of known GPUs, which bound how fast any kernel can be there."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Peaks:
    """flops: FLOP/s by dtype, dense. bytes_per_s: by memory level. cache_bytes: last level."""

    cache_bytes: int
    flops: Mapping[str, float] = field(default_factory=dict)
    bytes_per_s: Mapping[str, float] = field(default_factory=dict)


# AMD's MI300X and MI325X data sheets, dense; both have the same compute units and Infinity Cache.
# A kernel may multiply float32 as xf32 on the matrix cores, so that rate is float32's bound.
_MI300X_FLOPS = {
    "float8_e4m3fnuz": 2614.9e12,
    "int8": 2614.9e12,
    "float16": 1307.4e12,
    "bfloat16": 1307.4e12,
    "float32": 653.7e12,
    "float64": 81.7e12,
}
_KNOWN: Mapping[str, Peaks] = {
    "MI300X": Peaks(
        cache_bytes=256 << 20,
        flops=_MI300X_FLOPS,
        bytes_per_s={"dram": 5.3e12, "cache": 17e12},
    ),
    "MI325X": Peaks(
        cache_bytes=256 << 20,
        flops=_MI300X_FLOPS,
        bytes_per_s={"dram": 6.0e12, "cache": 17e12},
    ),
    # NVIDIA's H200 SXM data sheet, dense; float32 likewise as tf32 on the tensor cores.
    "H200": Peaks(
        cache_bytes=60 << 20,
        flops={
            "float8_e4m3fnuz": 1979e12,
            "int8": 1979e12,
            "float16": 989e12,
            "bfloat16": 989e12,
            "float32": 495e12,
            "float64": 67e12,
        },
        bytes_per_s={"dram": 4.8e12},
    ),
}


def peaks_of(device_name: str, *, cache_bytes: int) -> Peaks:
    """By a device's name, such as "AMD Instinct MI300X"; only its cache's size when unknown."""
    for part, peaks in _KNOWN.items():
        if part in device_name:
            return peaks
    return Peaks(cache_bytes=cache_bytes)
