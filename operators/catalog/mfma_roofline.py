"""A roofline of the family fp8_mfma on CDNA3: how long each of its points takes at least, and why.

Williams et al., CACM 2009, with a roof for each part of a compute unit, and with what tiles waste.
It predicts from a kernel's structure alone and was never held against a real MI300.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluators.device_info import DeviceInfo
from evaluators.kernel.source import KernelSource
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task
from operators.catalog.families import Params
from operators.catalog.structure import structure

FAMILY, KIND = "fp8_mfma", "block_scaled_gemm"

Array = np.ndarray[Any, np.dtype[np.float64]]
Sizes = Mapping[str, int]
"""M, N and K."""

# Of one compute unit of CDNA3, a clock: the white paper's table 1, and the instruction set's guide.
CLOCK_HZ = 2.1e9
MATRIX_FLOPS = 4096.0
LDS_BYTES_A_CLOCK = 128.0
L2_BYTES_A_CLOCK = 2048 / 38  # 128 bytes of each of a die's 16 channels, for its 38 units
SIMDS, ISSUE = 4, 4.0  # a vector instruction of 64 lanes takes 4 clocks of its SIMD
LDS_BYTES, REGISTERS, MOST_WAVES = 65536, 512, 8
DIES = 8
# Clocks until data are there, as microbenchmarks of such devices find them.
MEMORY_LATENCY, LDS_LATENCY, BARRIER = 900.0, 130.0, 30.0
CACHE_BYTES, CACHE_BYTES_PER_S = 256 << 20, 17e12  # Infinity Cache, of all dies
LAUNCH_US, SECOND_LAUNCH_US = 2.0, 3.0
HINDERED = 0.25
"""Of what else a compute unit does: so much is not hidden behind what takes longest there."""
FEW = 0.75
"""Of the compute units: where fewer have a block, that is what to mend."""
BESIDE = 72
"""Registers for addresses and the like, beside sums and operands; as compiled points have them."""

WHY: Mapping[str, str] = {
    "matrix cores": "the matrix cores are busy: only fewer wasted rows and columns would help",
    "vector units": "scaling sums and turning tiles keep the vector units busy: larger tiles a "
    "wavefront, or a longer BK, give each product less of it",
    "LDS": "LDS is busy: larger tiles a wavefront read each element less often",
    "L2": "tiles come through L2: larger tiles a block read each element less often",
    "Infinity Cache": "tiles come from beyond L2: XCDS or larger tiles read elements less often",
    "HBM": "inputs and outputs have to be moved: nothing else would be faster",
    "waiting": "wavefronts wait for memory: more of them, or tiles fetched ahead, would hide it",
    "idle units": "there are too few blocks for all compute units: smaller tiles or a larger SPLIT",
    "parts of k": "writing and adding parts takes longest: a smaller SPLIT",
}
"""By what bounds a point: why, and what would help."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Of one point on one shape. time_us: at least; parts: microseconds by what takes them; bound:
    which of them it is, a key of WHY; light_us: what no kernel is faster than."""

    time_us: float
    bound: str
    parts: Mapping[str, float]
    light_us: float

    @property
    def why(self) -> str:
        return WHY[self.bound]


def applies(device: DeviceInfo) -> bool:
    """Whether it is a model of the device, real or emulated."""
    return device.backend == "hip" and device.arch.split(":")[0] == "gfx942"


def sizes_of(task: Task, workload: Workload) -> Sizes:
    """Of a task that the family is for. Raises ValueError: it is for no other."""
    found = structure(task)
    if found is None or found.kind != KIND:
        raise ValueError(f"{task.name} is no {KIND}")
    return {name: workload.dims[found.names[name]] for name in "MNK"}


def predict(points: Sequence[Params], sizes: Sizes, device: DeviceInfo) -> list[Prediction]:
    """Of each point on a shape."""
    names = sorted({name for point in points for name in point})
    columns = {n: np.array([point[n] for point in points], dtype=np.float64) for n in names}
    inside, moving, adding, used = _parts(columns, sizes, device)
    light_us = _light_us(sizes, device)
    busiest = np.max(list(inside.values()), axis=0)
    unit_us = busiest + HINDERED * (np.sum(list(inside.values()), axis=0) - busiest)
    found = []
    for i in range(len(points)):
        units = {name: float(values[i]) for name, values in inside.items()}
        beyond = {name: float(values[i]) for name, values in moving.items()}
        whole = {"units": float(unit_us[i]), **beyond}
        bound = max(whole, key=lambda name: whole[name])
        if bound == "units":
            few = used[i] < FEW
            bound = "idle units" if few else max(units, key=lambda name: units[name])
        after = float(adding[i])
        before = max(whole.values())
        found.append(
            Prediction(
                time_us=before + after + LAUNCH_US,
                bound="parts of k" if after > before else bound,
                parts={**units, **beyond, "parts of k": after},
                light_us=light_us,
            )
        )
    return found


def ranked(
    source: KernelSource, shapes: Sequence[Sizes], device: DeviceInfo
) -> list[tuple[Params, float]]:
    """All points of a small space with the geometric mean of their times, the fastest first."""
    points = [source.grid.params(row) for row in range(len(source.grid.rows))]
    means = np.zeros(len(points))
    for sizes in shapes:
        times = [one.time_us for one in predict(points, sizes, device)]
        means += np.log(times) / len(shapes)
    order = np.argsort(means, kind="stable")
    return [(points[i], float(np.exp(means[i]))) for i in order]


def starts(
    source: KernelSource, shapes: Sequence[Sizes], device: DeviceInfo, count: int
) -> list[Params]:
    """Where a search should begin: the point that is best over all shapes, then those that are
    best on the shape where the points before leave most."""
    points = [source.grid.params(row) for row in range(len(source.grid.rows))]
    times = np.log([[p.time_us for p in predict(points, one, device)] for one in shapes])
    chosen = [int(np.argmin(times.mean(axis=0)))]
    while len(chosen) < min(count, len(shapes) + 1):
        lost = times[:, chosen].min(axis=1) - times.min(axis=1)
        best = int(np.argmin(times[int(np.argmax(lost))]))
        if best in chosen:
            break
        chosen.append(best)
    return [points[i] for i in chosen]


def _light_us(sizes: Sizes, device: DeviceInfo) -> float:
    m, n, k = sizes["M"], sizes["N"], sizes["K"]
    moved = (m + n) * k + k // 128 * 4 * (m + -(-n // 128)) + 2 * m * n
    flops = device.peak_flops["float8_e4m3fnuz"]
    return max(2 * m * n * k / flops, moved / device.peak_bytes_per_s["dram"]) * 1e6


def _parts(
    p: Mapping[str, Array], sizes: Sizes, device: DeviceInfo
) -> tuple[dict[str, Array], dict[str, Array], Array, Array]:
    """Microseconds: of what goes on side by side in the busiest compute unit, of what moves
    meanwhile, of adding parts of k; and the part of the units that have a block."""
    m, n, k = sizes["M"], sizes["N"], sizes["K"]
    units = float(device.compute_units)
    waves = p["WAVES_M"] * p["WAVES_N"]
    down, across = np.ceil(m / p["BM"]), np.ceil(n / p["BN"])
    blocks = down * across * p["SPLIT"]
    steps = np.ceil(k / 128 / p["SPLIT"]) * 128 / p["BK"]
    height = p["BM"] + p["BN"]
    brought = height * p["BK"]  # bytes a step
    resident = _resident(p, waves)
    a_unit = np.ceil(blocks / units)  # blocks of the busiest compute unit
    beside = np.minimum(resident, a_unit)

    sums = p["BM"] * p["BN"] / (64 * waves)
    turned = brought / (16 * p["RUN"] * 64 * waves) * (12 * p["RUN"] + 16)  # instructions a thread
    simds = np.minimum(SIMDS, waves * beside)
    matrix = 2 * p["BM"] * p["BN"] * p["BK"] / MATRIX_FLOPS * SIMDS / simds
    vector = waves * ISSUE / simds * (sums + turned)
    read = waves * (p["BM"] / p["WAVES_M"] + p["BN"] / p["WAVES_N"]) * p["BK"]
    lds = (brought * (8 / p["RUN"]) + read) / LDS_BYTES_A_CLOCK
    l2 = brought / L2_BYTES_A_CLOCK
    # One block's step, where nothing else hides what it waits for.
    alone = matrix + vector + lds + 2 * LDS_LATENCY + BARRIER * np.where(p["STAGES"] == 3, 1, 2)
    exposed = np.where(p["STAGES"] == 1, MEMORY_LATENCY, np.maximum(0, MEMORY_LATENCY - alone))
    waiting = np.ceil(a_unit / resident) * (alone + exposed)

    us = steps / CLOCK_HZ * 1e6
    inside = {
        "matrix cores": matrix * a_unit * us,
        "vector units": vector * a_unit * us,
        "LDS": lds * a_unit * us,
        "L2": l2 * a_unit * us,
        "waiting": waiting * us,
    }
    moved = (m + n) * k + 4 * (k // 128) * (m + math.ceil(n / 128)) + 2.0 * m * n
    beyond_l2 = blocks * brought * steps * _unshared(p, across, units * beside)
    moving = {
        "Infinity Cache": beyond_l2 / CACHE_BYTES_PER_S * 1e6,
        "HBM": np.full(len(waves), moved / device.peak_bytes_per_s["dram"] * 1e6),
    }
    return inside, moving, _adding_us(p, m, n, device), np.minimum(1.0, blocks / units)


def _resident(p: Mapping[str, Array], waves: Array) -> Array:
    """Blocks that a compute unit holds, by LDS and registers."""
    stages = np.where(p["STAGES"] == 3, 2, 1)
    lds_bytes = stages * (p["BM"] + p["BN"]) * (p["BK"] + np.where(p["SWIZZLE"] == 0, 8.5, 0))
    registers = (
        p["BM"] * p["BN"] / (64 * waves)
        + p["BM"] * p["BK"] / (p["WAVES_M"] * 256)
        + p["SIDE"] * p["BK"] / 256
        + p["BM"] * p["SIDE"] / (p["WAVES_M"] * 64)
        + np.where(p["STAGES"] > 1, (p["BM"] + p["BN"]) * p["BK"] / (256 * waves), 0)
        + BESIDE
    )
    a_simd = np.clip(REGISTERS // np.minimum(registers, 256), 2, MOST_WAVES)
    by_lds, by_registers = LDS_BYTES // lds_bytes, SIMDS * a_simd // waves
    return np.asarray(np.maximum(1.0, np.minimum(by_lds, by_registers)))


def _unshared(p: Mapping[str, Array], across: Array, running: Array) -> Array:
    """Of what blocks read, the part that no neighbour on the same die has brought to its L2."""
    a_die = np.maximum(1.0, running / DIES)
    reach = np.where(p["XCDS"] > 1, a_die, a_die * DIES)  # tiles that a die's own lie among
    rows = np.minimum(np.ceil(reach / across), a_die)
    cols = np.ceil(a_die / rows)
    unique = rows * p["BM"] + cols * p["BN"]
    return np.asarray(np.minimum(1.0, unique / (a_die * (p["BM"] + p["BN"]))))


def _adding_us(p: Mapping[str, Array], m: int, n: int, device: DeviceInfo) -> Array:
    """Writing parts of k, and reading them in a second launch."""
    nbytes = p["SPLIT"] * m * n * 4.0
    dram = device.peak_bytes_per_s["dram"]
    rate = np.where(nbytes <= CACHE_BYTES, CACHE_BYTES_PER_S, dram)
    adding = 2 * nbytes / rate * 1e6 + SECOND_LAUNCH_US
    return np.where(p["SPLIT"] > 1, adding, 0.0).astype(np.float64)
