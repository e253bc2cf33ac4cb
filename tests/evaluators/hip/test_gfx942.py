"""hiprtc in its child process: what it compiles for gfx942, and what it does when it can't."""

import os
import signal
import time
from pathlib import Path

import pytest

from evaluators.acceptance.contract import LDS
from evaluators.device_info import BackendMissing
from evaluators.evaluation import Rejected, Status
from evaluators.gpu.resources import read_resources
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.hip.rocm import Toolchain, find_toolchain
from evaluators.hip.runtime import runtime_library

SCALE = """
template <typename T, int N> __global__ void scale(T* x) { x[threadIdx.x] *= N; }
"""
COPY = "__global__ void copy(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x]; }"


def test_name_expressions(gfx942: HiprtcChild) -> None:
    names = ("scale<float, 2>", "scale<int, 1 + 1>")
    made = gfx942.compile(SCALE, arch="gfx942", names=names)
    assert made.code.startswith(b"\x7fELF")
    assert tuple(made.symbols) == names
    assert {r.symbol for r in read_resources(made.code)} == set(made.symbols.values())


def test_hip_headers_of_every_number_format(gfx942: HiprtcChild) -> None:
    source = """
    #include <hip/hip_runtime.h>
    #include <hip/hip_fp16.h>
    #include <hip/hip_bf16.h>
    #include <hip/hip_fp8.h>
    __global__ void mix(__half* h, __hip_bfloat16* b, __hip_fp8_e4m3_fnuz* f) {
        f[threadIdx.x] = __hip_fp8_e4m3_fnuz(__half2float(h[threadIdx.x]) + float(b[threadIdx.x]));
    }"""
    made = gfx942.compile(source, arch="gfx942", names=("mix",))
    assert "v_cvt_pk_fp8_f32" in made.mnemonics[made.symbols["mix"]]


def test_the_contract_reads_lds_after_it_is_written(gfx942: HiprtcChild) -> None:
    """Mnemonics come in the order of their first place in the machine code."""
    made = gfx942.compile(LDS, arch="gfx942", names=("k",))
    order = [m for m in made.mnemonics[made.symbols["k"]] if m.startswith(("ds_", "s_barrier"))]
    kinds = [mnemonic.split("_")[1].rstrip("2") for mnemonic in order]
    writes, reads = kinds.count("write"), kinds.count("read")
    assert kinds == ["write"] * writes + ["barrier"] + ["read"] * reads
    assert writes and reads


def test_masks_have_64_bits(gfx942: HiprtcChild) -> None:
    """As the CPU's headers ask for where wavefronts have 64 lanes."""
    if gfx942.version.startswith("hiprtc 6."):
        pytest.skip("ROCm 6 has no __shfl_down_sync")
    source = "__global__ void f(int* x) {{ x[0] = __shfl_down_sync({mask}, x[0], 1); }}"
    made = gfx942.compile(source.format(mask="~0ull"), arch="gfx942", names=("f",))
    assert "s_trap" in made.mnemonics[made.symbols["f"]]  # where it isn't the active lanes
    with pytest.raises(Rejected) as caught:
        gfx942.compile(source.format(mask="0xffffffff"), arch="gfx942", names=("f",))
    assert caught.value.status is Status.COMPILE_ERROR
    assert "the mask of a _sync operation has 32 bits" in caught.value.reason
    assert "__shfl_down(x, d, 32)" in caught.value.reason


@pytest.mark.parametrize(
    ("source", "names", "said"),
    [
        (
            "__global__ void f() { missing; }",
            ("f",),
            "line 1: use of undeclared identifier 'missing'",
        ),
        ("#include <nowhere.h>", (), "'nowhere.h' file not found"),
        (COPY, ("paste<3>",), "the code has no kernel that 'paste<3>' names: use of undeclared"),
        (
            "__global__ void f(float* x) { __shared__ float s[20000]; s[threadIdx.x] = x[0];"
            " __syncthreads(); x[1] = s[7]; }",
            ("f",),
            "f(float*): 80000 bytes of static LDS, at most 65536 are allowed",
        ),
    ],
)
def test_a_compile_error_is_one_line_and_a_log(
    gfx942: HiprtcChild, source: str, names: tuple[str, ...], said: str
) -> None:
    found = []
    for _ in range(2):
        with pytest.raises(Rejected) as caught:
            gfx942.compile(source, arch="gfx942", names=names)
        found.append(caught.value)
    assert found[0].status is (Status.LAUNCH_ERROR if "LDS" in said else Status.COMPILE_ERROR)
    assert said in found[0].reason
    assert "\n" not in found[0].reason
    # The compiler works in folders with random names: none may show, or equal logs differ.
    assert found[0].log == found[1].log != ""


def test_warnings_are_in_the_log(gfx942: HiprtcChild) -> None:
    made = gfx942.compile("#warning careful\n" + COPY, arch="gfx942", names=("copy",))
    assert "kernel.hip:1:2: warning: careful" in made.log


@pytest.mark.parametrize("arch", ["gfx940", "sm_90", ""])
def test_an_unknown_architecture_is_named(gfx942: HiprtcChild, arch: str) -> None:
    with pytest.raises(BackendMissing, match=f"does not know the architecture '{arch}'"):
        gfx942.compile(COPY, arch=arch, names=("copy",))


def test_another_known_architecture(gfx942: HiprtcChild) -> None:
    made = gfx942.compile(COPY, arch="gfx90a", names=("copy",))
    assert [kernel.arch for kernel in read_resources(made.code)] == ["gfx90a"]


def test_a_compiler_that_crashes_is_an_answer(gfx942: HiprtcChild) -> None:
    with pytest.raises(Rejected) as caught:
        gfx942.compile("#pragma clang __debug crash\n", arch="gfx942")
    assert caught.value.status is Status.COMPILE_ERROR
    assert "the compiler itself ended with SIG" in caught.value.reason
    assert gfx942.compile(COPY, arch="gfx942", names=("copy",)).code


def test_a_compilation_that_does_not_end_is_stopped(gfx942: HiprtcChild) -> None:
    endless = """
    constexpr long f(long n) { long s = 0; for (long i = 0; i < n; ++i) s += i; return s; }
    __global__ void g(long* p) { constexpr long z = f(1L << 60); *p = z; }"""
    with pytest.raises(Rejected) as caught:
        gfx942.compile(
            endless, arch="gfx942", options=("-fconstexpr-steps=4000000000",), deadline_s=1.5
        )
    assert caught.value.status is Status.TIMEOUT
    assert gfx942.compile(COPY, arch="gfx942", names=("copy",)).code


def children_of_this_process() -> set[int]:
    return {
        int(pid)
        for task in Path("/proc/self/task").iterdir()
        for pid in (task / "children").read_text().split()
    }


def test_children_are_recycled_replaced_and_ended(gfx942: HiprtcChild) -> None:
    before = children_of_this_process()
    seen: list[int] = []
    # The first of three is the question whether the architecture is known.
    with HiprtcChild(gfx942.toolchain, recycle_after=3) as mine:
        for _ in range(4):
            mine.compile(COPY, arch="gfx942", names=("copy",))
            (pid,) = children_of_this_process() - before
            seen.append(pid)
        assert seen[0] == seen[1] != seen[2] == seen[3]
        os.kill(seen[3], signal.SIGKILL)  # as the kernel does when memory is short
        mine.compile(COPY, arch="gfx942", names=("copy",))
        (pid,) = children_of_this_process() - before
        assert pid not in seen
    assert children_of_this_process() == before


def test_the_child_gets_no_secrets(gfx942: HiprtcChild, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted")
    before = children_of_this_process()
    with HiprtcChild(gfx942.toolchain) as mine:
        mine.compile(COPY, arch="gfx942", names=("copy",))
        (pid,) = children_of_this_process() - before
        assert b"planted" not in Path(f"/proc/{pid}/environ").read_bytes()


def test_the_child_dies_with_its_parent(gfx942: HiprtcChild, tmp_path: Path) -> None:
    report = tmp_path / "pid"
    if (orphan := os.fork()) == 0:
        try:
            mine = HiprtcChild(gfx942.toolchain)
            mine.compile(COPY, arch="gfx942", names=("copy",))
            (pid,) = children_of_this_process()
            report.write_text(str(pid))
        finally:
            os._exit(0)  # without closing anything
    os.waitpid(orphan, 0)
    pid = int(report.read_text())
    give_up = time.monotonic() + 100
    while Path(f"/proc/{pid}").exists() and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()


def test_no_toolchain_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(BackendMissing, match=r"holds no toolchain\.json: run scripts/rocm_tool"):
        find_toolchain({"KERNEL_SCIENTIST_ROCM": str(tmp_path)})
    with pytest.raises(BackendMissing, match=r"ROCM_PATH is .*libhiprtc\.so is missing: run"):
        find_toolchain({"ROCM_PATH": str(tmp_path)})


def test_an_installed_rocm_comes_before_the_fetched_one(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libhiprtc.so").touch()
    (tmp_path / ".info").mkdir()
    (tmp_path / ".info" / "version").write_text("7.1.0-20\n")
    found = find_toolchain({"ROCM_HOME": str(tmp_path)})
    assert isinstance(found, Toolchain)
    assert (found.loader, found.comgr, found.version) == (None, None, "7.1.0-20")


@pytest.mark.parametrize("names", [["libhiprtc.so.7"], ["libhiprtc.so.6", "libhiprtc.so.7"]])
def test_a_library_with_nothing_but_a_version_in_its_name_is_found(
    tmp_path: Path, names: list[str]
) -> None:
    (tmp_path / "lib").mkdir()
    for name in [*names, "libhiprtc.so.7.bak", "libamd_comgr.so.3", "libhiprtc-builtins.so.7"]:
        (tmp_path / "lib" / name).touch()
    found = find_toolchain({"ROCM_PATH": str(tmp_path)})
    assert isinstance(found, Toolchain)
    assert found.hiprtc == tmp_path / "lib" / "libhiprtc.so.7"
    assert found.comgr == tmp_path / "lib" / "libamd_comgr.so.3"


def test_rocms_wheels_are_found_off_the_loaders_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if Path("/opt/rocm").exists():
        pytest.skip("an installed ROCm comes before the wheels")
    core, devel = tmp_path / "_rocm_sdk_core", tmp_path / "_rocm_sdk_devel"
    for folder in (core / "lib", devel / "include", tmp_path / "rocm_sdk_core-7.2.0.dist-info"):
        folder.mkdir(parents=True)
    for package in (core, devel):
        (package / "__init__.py").touch()
    for name in ("libhiprtc.so.7", "libamdhip64.so.7"):
        (core / "lib" / name).touch()
    stamp = tmp_path / "rocm_sdk_core-7.2.0.dist-info" / "METADATA"
    stamp.write_text("Metadata-Version: 2.1\nName: rocm-sdk-core\nVersion: 7.2.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    found = find_toolchain({})
    assert isinstance(found, Toolchain)
    assert (found.hiprtc, found.include) == (core / "lib" / "libhiprtc.so.7", devel / "include")
    assert found.compiler == "hiprtc 7.2.0"
    assert runtime_library({}) == str(core / "lib" / "libamdhip64.so.7")


def test_a_library_that_cannot_be_loaded_is_one_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "libhiprtc.so"
    broken.write_text("no library")
    toolchain = Toolchain(
        hiprtc=broken, comgr=None, include=tmp_path, libraries=tmp_path, version="7.2"
    )
    with (
        HiprtcChild(toolchain) as mine,
        pytest.raises(
            BackendMissing, match=r"hiprtc cannot be used .*: run scripts/rocm_toolchain"
        ),
    ):
        mine.compile(COPY, arch="gfx942")
