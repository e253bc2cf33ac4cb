"""Roofs: which arithmetic a task admits, which memory its bytes come from, what operations cost."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.device_info import OPERATION_FLOPS, DeviceInfo
from evaluators.evaluation import Rejected
from evaluators.gpu.peaks import Peaks, peaks_of
from evaluators.hip.products import PRODUCTS
from evaluators.measuring.arithmetic import arithmetic, refused, rounded
from evaluators.measuring.policy import TimingPolicy
from evaluators.measuring.speed_of_light import least_us, roof, speed_of_light
from evaluators.tasks.arguments import DTYPES
from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task, shipped_tasks
from tests.evaluators.shipped import KERNELS

CPU = DeviceInfo(
    backend="cpu",
    judges_on_device=False,
    private_process=False,
    name="test",
    arch="x86-64",
    engine="cpu-fission",
    compiler="g++",
    wavefront=64,
    lds_bytes=65536,
    max_threads=1024,
    cache_bytes=1 << 20,
    peak_flops=dict.fromkeys(("float32", "float16"), 1e11),
    peak_bytes_per_s={"L1": 4e11, "L2": 1e11, "dram": 1e10},
    level_bytes={"L1": 1 << 15, "L2": 1 << 20},
    peak_margin=1.5,
)


def gpu(backend: str, peaks: Peaks) -> DeviceInfo:
    return replace(
        CPU,
        backend=backend,
        judges_on_device=True,
        private_process=True,
        cache_bytes=peaks.cache_bytes,
        peak_flops=peaks.flops,
        special_per_s=peaks.special_per_s,
        peak_bytes_per_s=peaks.bytes_per_s,
        level_bytes={},
        peak_margin=1.0,
    )


H200 = gpu("cuda", peaks_of("NVIDIA H200", cache_bytes=1))
(MI300X,) = (gpu("hip", one.peaks(304)) for one in PRODUCTS if one.name.endswith("MI300X"))


def made(folder: Path, reference: str, *lines: str) -> Task:
    """A task y = reference of x (and w), with lines of its task.yaml."""
    (folder / "seeds").mkdir(parents=True)
    (folder / "seeds" / "naive.hip").write_text("none")
    (folder / "reference.py").write_text(
        f"import numpy as np\ndef reference(x, w, N):\n    return {{'y': {reference}}}\n"
    )
    (folder / "task.yaml").write_text(
        "\n".join(["dims: [N]", *lines, "tests: [{N: 64}, {N: 512}]", "benchmarks: [{N: 1000}]"])
    )
    return load_task(folder)


def arguments(x: str, y: str) -> str:
    return (
        "arguments:\n"
        f"  - {{name: x, shape: [N, N], role: in, {x}}}\n"
        f"  - {{name: w, shape: [N, N], role: constant, {x}}}\n"
        f"  - {{name: y, shape: [N, N], role: out, {y}}}\n"
        'flops: "2 * N * N * N"'
    )


@pytest.mark.parametrize("name", shipped_tasks())
@pytest.mark.parametrize(("device", "matrix"), [(H200, "tf32"), (MI300X, "xf32")])
def test_shipped_tasks_admit_their_own_precision_and_nothing_faster(
    name: str, device: DeviceInfo, matrix: str
) -> None:
    task = load_task(name)
    if task.flops is None:
        assert arithmetic(task, device) == ""
        return
    arguments = [one for a in task.arguments for one in (a, *a.each.values())]
    own = {one.dtype for one in arguments if one.floating}
    found = arithmetic(task, device)
    wanted = task.compute_dtype == "" and "float32" in own
    assert found in own and (found == "float32") == wanted
    halves = {matrix, "float16", "bfloat16"} if found == "float32" else set()
    faster = {"float8_e4m3fnuz", *halves} - {found}
    assert faster == {*refused(task, device)}


def test_sgemm_is_shown_the_peak_of_float32() -> None:
    """6% of tf32's peak was 44% of float32's."""
    task = load_task("sgemm")
    (workload,) = (w for w in task.workloads("benchmarks", "cuda") if w.dims["K"] == 2048)
    light = roof(task, workload, H200)
    assert light is not None and light.bound == "arithmetic"
    assert light.time_us == pytest.approx(2 * 2048**3 / 67e12 * 1e6)
    assert (least_us(task, workload, H200) or 1e9) < light.time_us / 7  # of tf32


@pytest.mark.parametrize(
    ("x", "y", "admitted"),
    [
        ("dtype: float32", "dtype: float32, rtol: 1.0e-4, atol: 1.0e-4", "float32"),
        # within the tolerance, but not within what rounding to float32 leaves
        ("dtype: float32", "dtype: float32, rtol: 0.5, atol: 10", "float32"),
        ("dtype: float32", "dtype: bfloat16, rtol: 0.05, atol: 1", "bfloat16"),
        ("dtype: bfloat16", "dtype: float32, rtol: 1.0e-4, atol: 1.0e-4", "bfloat16"),
        ("dtype: float16", "dtype: float16, rtol: 1.0e-2, atol: 1.0e-2", "float16"),
        ("dtype: float8_e4m3fnuz", "dtype: float32, rtol: 1.0e-4, atol: 0", "float8_e4m3fnuz"),
        (
            "dtype: float32, distribution: {kind: normal, through: float8_e4m3fnuz}",
            "dtype: float32, rtol: 1.0e-5, atol: 1.0e-6",
            "float8_e4m3fnuz",
        ),
        (
            "dtype: int32, distribution: {kind: integers, high: 9}",
            "dtype: int32, rtol: 0, atol: 0",
            "",
        ),
    ],
)
def test_a_product_admits_the_fastest_arithmetic_that_is_exact_enough(
    x: str, y: str, admitted: str, tmp_path: Path
) -> None:
    assert arithmetic(made(tmp_path / "a", "x @ w", arguments(x, y)), H200) == admitted


def test_what_a_task_states_is_believed(tmp_path: Path) -> None:
    tolerance = "dtype: float32, rtol: 1.0e-4, atol: 1.0e-4"
    stated = arguments("dtype: float32", tolerance) + "\ncompute_dtype: bfloat16"
    assert arithmetic(made(tmp_path / "a", "x @ w", stated), H200) == "bfloat16"
    fp8 = load_task(KERNELS / "fp8_mfma_gemm")
    assert arithmetic(fp8, MI300X) == "float8_e4m3fnuz"
    assert refused(fp8, MI300X) == ()


def test_what_the_reference_refuses_is_not_admitted(tmp_path: Path) -> None:
    checked = "x @ w if np.all(x.astype(np.float32) == x) and x[0, 0] * 2**30 % 2**16 else 1 / 0"
    tolerance = "dtype: bfloat16, rtol: 0.05, atol: 1"
    task = made(tmp_path / "a", checked, arguments("dtype: float32", tolerance))
    assert arithmetic(task, H200) == "float32"


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 11), ("bfloat16", 8)])
def test_rounding_is_that_of_the_types(dtype: str, bits: int) -> None:
    values = np.random.default_rng(1).standard_normal(999).astype(np.float32)
    narrow = rounded({"x": values, "i": np.arange(3)}, bits)
    assert np.array_equal(narrow["x"], values.astype(DTYPES[dtype]).astype(np.float64))
    assert np.array_equal(narrow["i"], np.arange(3))


def moving(folder: Path, nbytes: int, **dims: int) -> Task:
    """Doubles N floats; moves as many bytes as told."""
    task = made(
        folder,
        "2 * x",
        "arguments:",
        "  - {name: x, dtype: float32, shape: [N], role: in}",
        "  - {name: w, dtype: float32, shape: [1], role: constant}",
        "  - {name: y, dtype: float32, shape: [N], role: out, rtol: 0, atol: 0}",
        f'bytes: "{nbytes} * N"',
    )
    workloads = {"default": (replace(task.workloads("benchmarks", "cpu")[0], dims=dims),)}
    return replace(task, suites={**task.suites, "benchmarks": workloads})


@pytest.mark.parametrize(
    ("n", "once_us", "rotated_us"),
    [
        (1000, 8000 / 4e5, (32768 / 4e5 + (256000 - 32768) / 1e5) / 32),
        (20_000, 32768 / 4e5 + (160_000 - 32768) / 1e5, None),
        (2_000_000, 32768 / 4e5 + (1048576 - 32768) / 1e5 + (16_000_000 - 1048576) / 1e4, None),
    ],
)
def test_what_a_level_holds_comes_from_there_and_the_rest_from_beyond(
    n: int, once_us: float, rotated_us: float | None, tmp_path: Path
) -> None:
    task = moving(tmp_path / "a", 8, N=n)
    (workload,) = task.workloads("benchmarks", "cpu")
    assert least_us(task, workload, CPU) == pytest.approx(once_us)
    alone = roof(task, workload, CPU, TimingPolicy(max_copies=1))
    assert alone is not None and alone.time_us == pytest.approx(once_us)
    rotating = roof(task, workload, CPU)
    assert rotating is not None and rotating.time_us >= once_us
    if rotated_us is not None:
        assert rotating.time_us == pytest.approx(rotated_us)


def test_a_kernel_that_is_long_enough_for_a_call_rotates_over_nothing(tmp_path: Path) -> None:
    task = moving(tmp_path / "a", 800, N=200_000)  # 160 MB moved over 1.6 MB: 15 ms
    (workload,) = task.workloads("benchmarks", "cpu")
    alone = roof(task, workload, CPU)
    assert alone is not None and alone.time_us == pytest.approx(least_us(task, workload, CPU))


def test_a_gpus_cache_serves_what_all_bindings_fit_in(tmp_path: Path) -> None:
    small, large = moving(tmp_path / "a", 8, N=1000), moving(tmp_path / "b", 8, N=4_000_000)
    for task, rate in ((small, 17e12), (large, 5.3e12)):
        (workload,) = task.workloads("benchmarks", "hip")
        light = roof(task, workload, MI300X)
        assert light is not None and light.bound == "memory"
        assert light.time_us == pytest.approx(8 * workload.dims["N"] / rate * 1e6)
        assert least_us(task, workload, MI300X) == pytest.approx(
            8 * workload.dims["N"] / 17e12 * 1e6
        )


def operating(folder: Path, flops: str, **operations: str) -> Task:
    counts = ", ".join(f'{name}: "{count}"' for name, count in operations.items())
    lines = arguments("dtype: float32", "dtype: float32, rtol: 1.0e-4, atol: 0")
    return made(
        folder, "np.exp(x)", lines.replace('"2 * N * N * N"', flops), f"operations: {{{counts}}}"
    )


def test_operations_add_to_the_work_where_one_unit_does_both(tmp_path: Path) -> None:
    task = operating(tmp_path / "a", "4 * N", exp="N", div="2 * N")
    (workload,) = task.workloads("benchmarks", "cpu")
    light = roof(task, workload, CPU)
    assert light is not None and light.bound == "operations"
    assert light.time_us == pytest.approx((4 + 12 + 8) * 1000 / 1e11 * 1e6)
    assert least_us(task, workload, CPU) == pytest.approx((4 + 3) * 1000 / 1e11 * 1e6)


@pytest.mark.parametrize(
    "counts", [{"exp": 1}, {"rsqrt": 5, "exp": 1}, {"div": 3, "exp": 2, "pow": 1}]
)
def test_no_division_of_labour_between_units_beats_the_roof(
    counts: Mapping[str, int], tmp_path: Path
) -> None:
    task = operating(tmp_path / "a", "0", **{name: f"{n} * N" for name, n in counts.items()})
    (workload,) = task.workloads("benchmarks", "cuda")
    light = roof(task, workload, H200)
    assert light is not None and light.bound == "operations"
    vector, special = H200.peak_flops["float32"], H200.special_per_s
    shares = np.meshgrid(*(np.linspace(0, n, 61) for n in counts.values()))  # made specially
    costs = [OPERATION_FLOPS[name] for name in counts]
    left = sum(
        cost * (n - share) for cost, n, share in zip(costs, counts.values(), shares, strict=True)
    )
    best = float(np.maximum(sum(shares) / special, left / vector).min()) * 1000 * 1e6
    assert light.time_us <= best * (1 + 1e-9)
    assert light.time_us == pytest.approx(best, rel=0.05)


def test_a_time_is_impossible_only_beyond_the_margin_of_what_is_nearest(tmp_path: Path) -> None:
    task = moving(tmp_path / "a", 8, N=1000)
    workloads = task.workloads("benchmarks", "cpu")
    least, label = 8000 / 4e5, workloads[0].label
    light = speed_of_light(task, workloads, CPU, {label: least / 1.4})
    assert light[label] > 1.4
    with pytest.raises(Rejected, match="faster than the speed of light"):
        speed_of_light(task, workloads, CPU, {label: least / 1.6})


def test_nothing_is_known_without_peaks_or_counts(tmp_path: Path) -> None:
    bare = replace(CPU, peak_flops={}, peak_bytes_per_s={}, level_bytes={})
    for name in shipped_tasks():
        (workload, *_) = load_task(name).workloads("benchmarks", "cpu")
        assert roof(load_task(name), workload, bare) is None
        assert least_us(load_task(name), workload, bare) is None


@pytest.mark.parametrize(
    ("name", "bytes_per_s"),
    [
        ("NVIDIA H200", 4.8e12),
        ("NVIDIA H100 80GB HBM3", 3.35e12),
        ("NVIDIA A100-SXM4-80GB", 2.039e12),
        ("NVIDIA GH200 480GB", None),
        ("NVIDIA H100 PCIe", None),
    ],
)
def test_a_gpu_has_the_peaks_of_its_own_data_sheet_or_none(
    name: str, bytes_per_s: float | None
) -> None:
    peaks = peaks_of(name, cache_bytes=7)
    assert peaks.bytes_per_s.get("dram") == bytes_per_s
    assert bool(peaks.flops) == bool(peaks.special_per_s) == (bytes_per_s is not None)
    assert bytes_per_s or peaks.cache_bytes == 7
