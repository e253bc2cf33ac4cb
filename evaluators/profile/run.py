"""Runs ncu or rocprofv3 over evaluators.profile.target: found, bounded, ended with this process."""

import csv
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from evaluators.profile.tables import (
    NCU_METRICS,
    ROCPROF_GROUPS,
    BadTable,
    KernelProfile,
    read_ncu,
    read_rocprof,
)
from evaluators.sandbox.environment import device_variables
from evaluators.sandbox.run import run_confined
from evaluators.spelling import printable

_Table = TypeVar("_Table")

ADDRESSES_BYTES = 1 << 62
"""Of address space: GPU drivers reserve terabytes, so there is no bound worth the name."""
SAID_CHARACTERS = 300
SAID = "said.txt"
"""What a tool printed, beside its tables."""


class NoRights(BadTable):
    """The profiler is there, but may not read the GPU's counters."""


def find_tool(name: str) -> str | None:
    """On PATH, or where the vendors' installers put their tools, the newest first."""
    nsight = sorted(map(str, Path("/opt/nvidia/nsight-compute").glob("*")), reverse=True)
    usual = os.pathsep.join(["/opt/rocm/bin", "/usr/local/cuda/bin", *nsight])
    return shutil.which(name) or shutil.which(name, path=usual)


def run_ncu(
    tool: str, target: Sequence[str], folder: Path, *, until: float
) -> tuple[KernelProfile, ...]:
    """until: monotonic seconds. Raises BadTable, NoRights."""
    log = folder / "ncu.csv"
    said = _run(
        [
            *(tool, "--csv", "--page", "raw", "--print-units", "base"),
            # Locked clocks need rights, and would not be the clocks that kernels are timed at.
            *("--clock-control", "none", "--target-processes", "application-only"),
            *("--log-file", str(log), "--metrics", ",".join(NCU_METRICS)),
            *target,
        ],
        folder,
        until,
    )
    text = log.read_text(errors="replace") if log.exists() else ""
    if "ERR_NVGPUCTRPERM" in text + said:
        raise NoRights(
            "ncu may not read the GPU's counters: run it as root, or load the driver with "
            "NVreg_RestrictProfilingToAdminUsers=0"
        )
    return _read("ncu", lambda: read_ncu(text or said))


def run_rocprof(
    tool: str,
    target: Sequence[str],
    folder: Path,
    *,
    until: float,
    peak_bytes_per_s: float | None,
) -> tuple[tuple[KernelProfile, ...], str]:
    """What its runs counted, and one sentence on the runs that failed; empty if none did.

    until: monotonic seconds; each run has an equal share of what is left when it starts.
    peak: of device memory. Raises BadTable when every run failed.
    """
    texts: list[str] = []
    failures: list[str] = []
    for number, group in enumerate(ROCPROF_GROUPS):
        now = time.monotonic()
        share_s = (until - now) / (len(ROCPROF_GROUPS) - number)
        try:
            texts += _counted(tool, target, folder, group, until=now + share_s)
        except BadTable as bad:
            failures.append(f"{', '.join(group)} ({bad})")
    missing = f"not counted: {'; '.join(failures)}" if failures else ""
    if not texts:
        raise BadTable(missing)
    kernels = _read("rocprofv3", lambda: read_rocprof(texts, peak_bytes_per_s=peak_bytes_per_s))
    return kernels, missing


def _counted(
    tool: str, target: Sequence[str], folder: Path, group: Sequence[str], *, until: float
) -> list[str]:
    """The tables of one run, each read on trial. Raises BadTable."""
    place = folder / group[0]
    options = ["--output-format", "csv", "-d", str(place), "-o", "profile"]
    said = _run([tool, *options, "--pmc", *group, "--", *target], folder, until)
    texts = [file.read_text(errors="replace") for file in place.glob("**/*counter_collection.csv")]
    if not texts:
        last = next((line for line in reversed(said.splitlines()) if line.strip()), "nothing")
        raise BadTable(
            f"rocprofv3 wrote no table; it said: {printable(last.strip())[:SAID_CHARACTERS]}"
        )
    _read("rocprofv3", lambda: read_rocprof(texts, peak_bytes_per_s=None))
    return texts


def _read(tool: str, read: Callable[[], _Table]) -> _Table:
    """A table that is not as documented, in whatever way, is a BadTable."""
    try:
        return read()
    except BadTable:
        raise
    except (KeyError, ValueError, csv.Error) as error:
        raise BadTable(f"{tool}: its table can't be read: {error}") from error


def _run(command: Sequence[str], folder: Path, until: float) -> str:
    """What it printed. Raises BadTable when it takes too long."""
    root = str(Path(__file__).resolve().parents[2])
    environment = {
        **device_variables(),
        "HOME": str(folder),  # both tools keep files there
        "PYTHONPATH": os.pathsep.join([root, *filter(None, sys.path)]),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    deadline_s = max(1.0, until - time.monotonic())
    # A profiler talks to the program it watches over sockets.
    done = run_confined(
        command,
        cwd=folder,
        env=environment,
        deadline_s=deadline_s,
        memory_bytes=ADDRESSES_BYTES,
        network=True,
        reads=None,  # it loads a driver, and whatever the program it watches does
    )
    said = (done.stdout + done.stderr).decode(errors="replace")
    with (folder / SAID).open("a", encoding="utf-8", errors="replace") as file:
        file.write(said)
    if done.timed_out:
        raise BadTable(f"{Path(command[0]).name} was ended at its deadline")
    return said


def keep_raw(folder: Path, keep: Path) -> None:
    """Copy what the tool wrote and said in a run's folder, as it is, into a folder to be made."""
    for file in (*folder.glob("**/*.csv"), folder / SAID):
        if file.is_file() and not file.is_symlink():
            copy = keep / file.relative_to(folder)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
