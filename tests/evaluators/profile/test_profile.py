"""Profilers' tables read into profiles, profiles into advice; absent tools are no error."""

import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from engine.actors.lifeline import alive
from evaluators.profile.profiler import Profile, advice, profile, profile_source
from evaluators.profile.run import find_tool
from evaluators.profile.tables import (
    NCU_METRICS,
    ROCPROF_GROUPS,
    BadTable,
    KernelProfile,
    read_ncu,
    read_rocprof,
)
from evaluators.profile.target import shape_of
from evaluators.tasks.task_file import SHIPPED, load_task
from scripts.bench_engine import INFO

FIXTURES = Path(__file__).parent / "fixtures"
ROCPROF = sorted(FIXTURES.glob("rocprof_*_counter_collection.csv"))
SOFTMAX = SHIPPED / "softmax" / "seeds" / "naive.hip"
PLAIN = KernelProfile(kernel="k", launches=3, time_us=10.0, memory=30.0, compute=30.0)

# A profiler that runs what it is given, then writes a table kept from a documented format.
TOOL = """#!{python}
import pathlib, shutil, subprocess, sys
arguments = sys.argv[1:]
at = next(i for i, word in enumerate(arguments) if word == sys.executable)
assert arguments[at + 1 : at + 3] == ["-m", "evaluators.profile.target"], arguments
here = pathlib.Path({fixtures!r})
{write}
"""
NCU = """
assert "--clock-control none" in " ".join(arguments)
log = arguments[arguments.index("--log-file") + 1]
shutil.copy(here / {fixture!r}, log)
"""
ROCPROFV3 = """
place = pathlib.Path(arguments[arguments.index("-d") + 1])
place.mkdir()
counters = arguments[arguments.index("--pmc") + 1 : arguments.index("--")]
for file in here.glob("rocprof_*_counter_collection.csv"):
    if '"' + counters[0] + '"' in file.read_text():
        shutil.copy(file, place)
"""


def ncu(name: str) -> tuple[KernelProfile, ...]:
    return read_ncu((FIXTURES / name).read_text())


def rocprof(peak: float | None = 5.3e12) -> tuple[KernelProfile, ...]:
    return read_rocprof([file.read_text() for file in ROCPROF], peak_bytes_per_s=peak)


def test_ncu_medians_over_launches() -> None:
    (softmax,) = ncu("ncu_memory_bound.csv")
    assert softmax.kernel == "softmax(const float *, float *, int, int)"
    assert (softmax.launches, softmax.time_us, softmax.registers) == (3, 135.04, 24)
    assert (softmax.memory, softmax.compute, softmax.sectors) == (88.41, 31.2, 4.0)
    assert softmax.lds_conflicts == 0
    assert softmax.waiting == (("memory", 9.42), ("LDS", 0.88), ("barrier", 3.11))


def test_ncu_several_kernels_and_what_was_not_counted() -> None:
    transpose, reduce = ncu("ncu_latency_and_conflicts.csv")
    assert transpose.kernel == "void transpose_tile<32>(const float *, float *, int, int)"
    assert (transpose.launches, reduce.launches) == (3, 1)
    assert transpose.cache_hits is None
    assert transpose.sectors == 32
    assert transpose.lds_conflicts == pytest.approx(93.94, abs=0.01)
    assert reduce.lds_conflicts is None


def test_ncu_advice() -> None:
    (softmax,) = ncu("ncu_memory_bound.csv")
    said = advice(softmax)
    assert said[0].startswith("softmax(const float *, float *, int, int) (135 us): bound by device")
    assert "88% of memory bandwidth" in said[0]
    assert any("device memory whenever one issues" in sentence for sentence in said)
    assert any("22% of accesses hit the L2" in sentence for sentence in said)
    transpose, reduce = ncu("ncu_latency_and_conflicts.csv")
    told = "\n".join(advice(transpose))
    assert "bound by latency (22% of memory bandwidth, 36% of the busiest unit)" in told
    assert "94% of LDS cycles are lost to bank conflicts: pad" in told
    assert "takes 32.0 pieces of 32 bytes" in told
    assert "occupancy is 22%, held down by registers or LDS (168 registers a thread)" in told
    assert "occupancy is 11% where 100% would fit: too few or unequal blocks" in "\n".join(
        advice(reduce)
    )


def test_rocprof_joins_the_groups() -> None:
    gemm, copy = rocprof()
    assert gemm.kernel.startswith("void gemm<32, 128, 128, 64>(unsigned char const*")
    assert (gemm.launches, gemm.registers) == (3, 156)
    assert (gemm.time_us, gemm.compute, gemm.lds_conflicts) == (614.0, 44.5, 18.75)
    assert copy.memory == pytest.approx(100 * 1024 * 2097156 / 412e-6 / 5.3e12, rel=1e-6)
    assert (copy.cache_hits, copy.occupancy, copy.memory_stalled) == (12.5, 87.25, 31.0)


def test_rocprof_advice() -> None:
    gemm, copy = (list(advice(kernel)) for kernel in rocprof())
    assert "bound by latency" in gemm[0]
    assert any("19% of LDS cycles" in sentence for sentence in gemm)
    assert any("156 registers a thread" in sentence for sentence in gemm)
    assert "bound by device memory (98% of memory bandwidth, 6% of the busiest unit)" in copy[0]
    assert any("stalled 31% of the time" in sentence for sentence in copy)


def test_without_a_known_peak_the_bound_is_unknown() -> None:
    assert "its bound is unknown" in advice(rocprof(None)[0])[0]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"memory": 80.0}, "bound by device memory"),
        ({"compute": 80.0}, "bound by its arithmetic or load units"),
        ({"compute": 80.0, "memory": 81.0}, "bound by device memory"),
        ({}, "bound by latency"),
        ({"waiting": (("barrier", 3.5), ("LDS", 1.0))}, "3.5 wavefronts wait for a barrier"),
        ({"waiting": (("LDS", 2.5),)}, "2.5 wavefronts wait for LDS"),
    ],
)
def test_each_bound(changed: dict[str, float], said: str) -> None:
    found = "\n".join(advice(replace(PLAIN, **changed)))  # type: ignore[arg-type]
    assert said in found


def test_a_kernel_without_faults_gets_one_sentence() -> None:
    quiet = replace(PLAIN, memory=85.0, occupancy=80.0, lds_conflicts=1.0, sectors=4.0)
    assert len(advice(quiet)) == 1


def test_the_longest_kernel_comes_first() -> None:
    short = replace(PLAIN, kernel="short", time_us=1.0)
    assert Profile(kernels=(short, PLAIN)).advice[0].startswith("k (10 us)")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "ncu: no table"),
        ("==ERROR== Failed to find metric sm__x\n", "ncu: Failed to find metric sm__x"),
        ('"ID","Kernel Name"\n"",""\n', "ncu: no kernel was launched"),
        ('"ID","Kernel Name"\n"",""\n"0","k"\n', "ncu: no time for k"),
    ],
)
def test_a_bad_table_is_one_sentence(text: str, said: str) -> None:
    with pytest.raises(BadTable, match=said):
        read_ncu(text)


def test_a_bad_table_of_rocprof() -> None:
    with pytest.raises(BadTable, match="no column Counter_Name, Counter_Value"):
        read_rocprof(["Dispatch_Id,Kernel_Name,Start_Timestamp,End_Timestamp\n"],
                     peak_bytes_per_s=None)  # fmt: skip
    with pytest.raises(BadTable, match="no kernel was launched"):
        read_rocprof([ROCPROF[0].read_text().splitlines()[0]], peak_bytes_per_s=None)


def test_every_counter_that_is_asked_for_is_in_the_fixtures() -> None:
    """A metric's name that is spelled in two ways would go unread."""
    assert set(NCU_METRICS) <= {
        name.strip('"')
        for name in (FIXTURES / "ncu_memory_bound.csv").read_text().splitlines()[2].split(",")
    }
    told = "".join(file.read_text() for file in ROCPROF)
    assert all(f'"{name}"' in told for group in ROCPROF_GROUPS for name in group)


GFX942 = yaml.safe_load((FIXTURES / "gfx942_counters.yaml").read_text())


def needs(group: Sequence[str]) -> dict[str, int]:
    """Hardware counters that a group takes, by block; one that two share is counted once."""
    taken: dict[str, set[str]] = {}
    for counter in group:
        for block, hardware in GFX942["counters"][counter].items():
            taken.setdefault(block, set()).update(hardware)
    return {block: len(hardware) for block, hardware in taken.items()}


def fits(group: Sequence[str]) -> bool:
    return all(count <= GFX942["blocks"][block] for block, count in needs(group).items())


@pytest.mark.parametrize("group", ROCPROF_GROUPS, ids="+".join)
def test_gfx942_has_every_counter_and_counts_a_group_at_once(group: tuple[str, ...]) -> None:
    assert set(group) <= GFX942["counters"].keys()
    assert fits(group), needs(group)


def test_the_bytes_of_both_ways_do_not_fit_together() -> None:
    assert not fits(("FETCH_SIZE", "WRITE_SIZE"))


def test_absent_tools_are_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = profile(SOFTMAX, "softmax", "cpu")
    assert (found.kernels, found.reason) == ((), "kernels on cpu are not profiled")
    assert found.hopeless
    if find_tool("ncu") is None:
        found = profile(SOFTMAX, "softmax", "cuda")
        assert found.reason.startswith("ncu is not on PATH") and found.hopeless


@pytest.mark.parametrize(
    ("fixture", "reason", "kernels"),
    [
        ("ncu_memory_bound.csv", "", 1),
        ("ncu_latency_and_conflicts.csv", "", 2),
        ("ncu_no_rights.txt", "ncu may not read the GPU's counters: run it as root", 0),
    ],
)
def test_how_ncu_is_called(
    fixture: str, reason: str, kernels: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = NCU.format(fixture=fixture)
    put_tool(tmp_path / "ncu", write, monkeypatch)
    found = profile(SOFTMAX, "softmax", "cuda")
    assert len(found.kernels) == kernels, found.reason
    assert found.reason.startswith(reason)
    assert found.hopeless == (kernels == 0)
    assert found.seconds > 0


def put_tool(tool: Path, write: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On PATH, before any real one."""
    tool.write_text(TOOL.format(python=sys.executable, fixtures=str(FIXTURES), write=write))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tool.parent), prepend=":")


def test_how_rocprofv3_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_tool(tmp_path / "rocprofv3", ROCPROFV3, monkeypatch)
    device = replace(INFO, peak_bytes_per_s={"dram": 5.3e12})
    found = profile_source(SOFTMAX.read_text(), "softmax", "hip", info=device, deadline_s=60.0)
    assert found.kernels == rocprof(), found.reason
    assert found.advice[0].startswith("void gemm<32, 128, 128, 64>")
    assert not found.hopeless


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ("time.sleep(600)", "rocprofv3 was ended at its deadline"),
        ('(place / "a_counter_collection.csv").write_text("what?")', "its table has no column"),
        ("sys.exit('no room for this group')", "it said: no room for this group"),
    ],
    ids=["hangs", "bad table", "no table"],
)
def test_what_other_groups_counted_is_kept(
    broken: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first group, FETCH_SIZE, fails; bandwidth is unknown then, and all else is as it was."""
    begin, copy = ROCPROFV3.split("for file")
    fails = f'import time\nif "FETCH_SIZE" in counters:\n    {broken}\n'
    put_tool(tmp_path / "rocprofv3", f"{begin}{fails}for file{copy}", monkeypatch)
    device = replace(INFO, peak_bytes_per_s={"dram": 5.3e12})
    source = SOFTMAX.read_text()
    found = profile_source(source, "softmax", "hip", info=device, deadline_s=60.0)
    assert found.kernels == tuple(replace(kernel, memory=None) for kernel in rocprof())
    assert "FETCH_SIZE" in found.reason and reason in found.reason
    assert "\n" not in found.reason
    assert found.advice and not found.hopeless


@pytest.mark.parametrize(
    ("write", "reason"),
    [
        ("sys.exit('its driver is too old')", "ncu: no table in its output"),
        ("os.kill(os.getpid(), 11)", "ncu: no table in its output"),
        ('print(\'"ID"\\n"",""\\n"0","k"\')', "ncu: its table can't be read: 'Kernel Name'"),
    ],
)
def test_a_profiler_that_breaks_is_a_reason(
    write: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_tool(tmp_path / "ncu", f"import os\n{write}", monkeypatch)
    found = profile(SOFTMAX, "softmax", "cuda")
    assert (found.kernels, found.reason, found.hopeless) == ((), reason, False)


def test_a_profiler_that_hangs_is_ended_with_what_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = f"""
import time
child = subprocess.Popen(["sleep", "600"])
pathlib.Path({str(tmp_path / "child")!r}).write_text(str(child.pid))
time.sleep(600)
"""
    put_tool(tmp_path / "ncu", write, monkeypatch)
    found = profile(SOFTMAX, "softmax", "cuda", deadline_s=5.0)
    assert (found.reason, found.hopeless) == ("ncu was ended at its deadline", False)
    child = int((tmp_path / "child").read_text())
    until = time.monotonic() + 100
    while alive(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not alive(child)


def test_a_profiler_sees_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = tmp_path / "seen"
    write = f"import os\npathlib.Path({str(seen)!r}).write_text(repr(dict(os.environ)))"
    put_tool(tmp_path / "ncu", write, monkeypatch)
    monkeypatch.setenv("KEY_OF_THIS_TEST", "sk-of-this-test")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    profile(SOFTMAX, "softmax", "cuda")
    told = seen.read_text()
    assert "sk-of-this-test" not in told
    assert "'CUDA_VISIBLE_DEVICES': '3'" in told


def test_what_the_profiler_watches_runs() -> None:
    command = [sys.executable, "-m", "evaluators.profile.target", str(SOFTMAX)]
    command += ["--task", "softmax", "--backend", "cpu", "--shape", "R=64 C=8192"]
    subprocess.run(command, check=True, timeout=60)


def test_the_largest_shape_unless_one_is_named() -> None:
    task = load_task("softmax")
    assert shape_of(task, "cpu").label == "R=64 C=8192"
    assert shape_of(task, "cpu", "R=2048 C=128").dims == {"R": 2048, "C": 128}
    with pytest.raises(ValueError, match="softmax has no benchmark shape 'R=1': choose one of R="):
        shape_of(task, "cpu", "R=1")
