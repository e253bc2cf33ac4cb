"""Reads what ncu and rocprofv3 write: tables of counters, into one KernelProfile a kernel."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from evaluators.spelling import printable

NCU_METRICS = (
    "gpu__time_duration.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__maximum_warps_per_active_cycle_pct",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "lts__t_sector_hit_rate.pct",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "launch__registers_per_thread",
)
"""Of NVIDIA's Kernel Profiling Guide, for sm_80 and later."""

ROCPROF_GROUPS = (
    ("FETCH_SIZE",),
    ("WRITE_SIZE",),
    ("TCC_HIT_sum", "TCC_MISS_sum"),
    ("VALUBusy", "MfmaUtil"),
    ("LDSBankConflict",),
    ("OccupancyPercent",),
    ("MemUnitStalled",),
)
"""Of gfx942 (rocprofiler-sdk's counter_defs.yaml). A group is what one run of the program can
count: FETCH_SIZE takes three counters of the L2 and WRITE_SIZE two, where the hardware has four."""


class BadTable(ValueError):
    """A profiler's output that is not what its documentation says: one sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelProfile:
    """Medians over a kernel's launches; None for what was not counted. Percents are 0 to 100.

    memory: of the bandwidth to device memory. compute: of the busiest unit's rate (AMD: cycles
    in which the VALU or the matrix units are busy). issue: cycles with an instruction issued.
    occupancy: resident wavefronts; occupancy_limit: what registers and LDS would allow.
    lds_conflicts: of LDS cycles that are lost to bank conflicts. sectors: 32-byte pieces a
    global load takes, 4 for neighbouring 4-byte elements. waiting: for "memory", "LDS",
    "barrier": wavefronts that wait for it whenever one issues.
    """

    kernel: str
    launches: int
    time_us: float
    memory: float | None = None
    compute: float | None = None
    issue: float | None = None
    occupancy: float | None = None
    occupancy_limit: float | None = None
    cache_hits: float | None = None
    lds_conflicts: float | None = None
    sectors: float | None = None
    memory_stalled: float | None = None
    registers: int | None = None
    waiting: tuple[tuple[str, float], ...] = ()


def read_ncu(text: str) -> tuple[KernelProfile, ...]:
    """Of `ncu --csv --page raw --print-units base`: a head, a row of units, a row a launch.

    Lines before the head (==PROF==, the program's own) are passed over. Raises BadTable.
    """
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if start is None:
        said = next((line for line in lines if "==ERROR==" in line), "no table in its output")
        raise BadTable(f"ncu: {printable(said.replace('==ERROR==', '').strip())}")
    rows = list(csv.DictReader(io.StringIO("\n".join(lines[start:]))))
    by_kernel: dict[str, list[Mapping[str, str]]] = {}
    for row in rows[1:]:  # the first holds units
        by_kernel.setdefault(row["Kernel Name"] or "", []).append(row)
    if not by_kernel:
        raise BadTable("ncu: no kernel was launched while it watched")
    return tuple(_ncu_profile(name, found) for name, found in by_kernel.items())


def _ncu_profile(kernel: str, rows: Sequence[Mapping[str, str]]) -> KernelProfile:
    values = {name: _median(row.get(name) for row in rows) for name in NCU_METRICS}
    time_ns = values["gpu__time_duration.sum"]
    if time_ns is None:
        raise BadTable(f"ncu: no time for {kernel}")
    registers = values["launch__registers_per_thread"]
    stalls = {
        "memory": "long_scoreboard",
        "LDS": "short_scoreboard",
        "barrier": "barrier",
    }
    waiting = (
        (what, values[f"smsp__average_warps_issue_stalled_{stall}_per_issue_active.ratio"])
        for what, stall in stalls.items()
    )
    return KernelProfile(
        kernel=kernel,
        launches=len(rows),
        time_us=time_ns / 1e3,
        memory=values["dram__throughput.avg.pct_of_peak_sustained_elapsed"],
        compute=values["sm__throughput.avg.pct_of_peak_sustained_elapsed"],
        issue=values["smsp__issue_active.avg.pct_of_peak_sustained_active"],
        occupancy=values["sm__warps_active.avg.pct_of_peak_sustained_active"],
        occupancy_limit=values["sm__maximum_warps_per_active_cycle_pct"],
        cache_hits=values["lts__t_sector_hit_rate.pct"],
        lds_conflicts=_percent(
            values["l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"],
            values["l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"],
        ),
        sectors=_ratio(
            values["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
            values["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
        ),
        registers=None if registers is None else int(registers),
        waiting=tuple((what, value) for what, value in waiting if value is not None),
    )


def read_rocprof(
    texts: Iterable[str], *, peak_bytes_per_s: float | None
) -> tuple[KernelProfile, ...]:
    """Of rocprofv3's counter_collection.csv, one text a group: a row a launch and counter.

    peak_bytes_per_s: of device memory. Raises BadTable.
    """
    times_us: dict[str, dict[tuple[int, str], float]] = {}
    counters: dict[str, dict[str, list[float]]] = {}
    registers: dict[str, int] = {}
    for number, text in enumerate(texts):
        rows = csv.DictReader(io.StringIO(text))
        needed = {"Kernel_Name", "Dispatch_Id", "Counter_Name", "Counter_Value"}
        needed |= {"Start_Timestamp", "End_Timestamp"}
        if missing := needed - set(rows.fieldnames or ()):
            raise BadTable(f"rocprofv3: its table has no column {', '.join(sorted(missing))}")
        for row in rows:
            name = row["Kernel_Name"]
            took_ns = int(row["End_Timestamp"]) - int(row["Start_Timestamp"])
            times_us.setdefault(name, {})[number, row["Dispatch_Id"]] = took_ns / 1e3
            own = counters.setdefault(name, {}).setdefault(row["Counter_Name"], [])
            own.append(float(row["Counter_Value"]))
            if row.get("VGPR_Count"):
                registers[name] = int(row["VGPR_Count"]) + int(row.get("Accum_VGPR_Count") or 0)
    if not times_us:
        raise BadTable("rocprofv3: no kernel was launched while it watched")
    return tuple(
        _rocprof_profile(
            name, list(times.values()), counters[name], registers.get(name), peak_bytes_per_s
        )
        for name, times in times_us.items()
    )


def _rocprof_profile(
    kernel: str,
    times_us: Sequence[float],
    counted: Mapping[str, Sequence[float]],
    registers: int | None,
    peak_bytes_per_s: float | None,
) -> KernelProfile:
    values = {name: median(found) for name, found in counted.items()}
    time_us = median(times_us)
    moved = [values[name] for name in ("FETCH_SIZE", "WRITE_SIZE") if name in values]
    bytes_per_s = 1024 * sum(moved) / time_us * 1e6 if len(moved) == 2 and time_us else None
    busy = [values[name] for name in ("VALUBusy", "MfmaUtil") if name in values]
    looked_up = [values[name] for name in ("TCC_HIT_sum", "TCC_MISS_sum") if name in values]
    launches = max(map(len, counted.values()), default=0)
    return KernelProfile(
        kernel=kernel,
        launches=launches,
        time_us=time_us,
        memory=_percent(bytes_per_s, peak_bytes_per_s),
        compute=max(busy, default=None),
        occupancy=values.get("OccupancyPercent"),
        cache_hits=_percent(looked_up[0], sum(looked_up)) if len(looked_up) == 2 else None,
        lds_conflicts=values.get("LDSBankConflict"),
        memory_stalled=values.get("MemUnitStalled"),
        registers=registers,
    )


def _median(texts: Iterable[str | None]) -> float | None:
    """Of numbers as ncu writes them, with commas at the thousands; None where there are none."""
    values = []
    for text in texts:
        plain = (text or "").replace(",", "")
        if plain and plain.lower() not in ("n/a", "nan", "no data"):
            values.append(float(plain))
    return median(values) if values else None


def _ratio(part: float | None, whole: float | None) -> float | None:
    return part / whole if part is not None and whole else None


def _percent(part: float | None, whole: float | None) -> float | None:
    ratio = _ratio(part, whole)
    return None if ratio is None else 100 * ratio
