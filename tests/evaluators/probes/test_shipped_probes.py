"""The shipped set: it compiles for gfx942 and sm_90, and its readings tell what they are given."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evaluators.acceptance.mfma import INSTRUCTIONS, Instruction, table
from evaluators.cpu.compiler import CpuCompiler
from evaluators.cpu.device import open_device
from evaluators.cuda import device as cuda
from evaluators.cuda.nvrtc import NvrtcChild
from evaluators.device import Compiled
from evaluators.device_info import BackendMissing
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.front_matter import find_front_matter
from evaluators.probes import readings
from evaluators.probes.measured import Interval, Measured
from evaluators.probes.probe import compile_probe
from evaluators.probes.run import measure
from evaluators.probes.shipped import FOLDER, OF_ARCH, ON_CPU, ON_GPUS, catalogue
from tests.evaluators.probes.files import H100, MI300

ONE = Interval(median=1.0, low=1.0, high=1.0)


def case(values: Mapping[str, int], us: float, counted: int = 0, **shown: object) -> Measured:
    arrays = {name: np.asarray(value) for name, value in shown.items()}
    return Measured(values=values, us=ONE.scaled(us), counted=counted, repeats=9, shown=arrays)


def test_every_file_has_a_reading_and_a_device() -> None:
    files = {path.stem for path in FOLDER.glob("*.hip")}
    assert files == set(readings.READINGS)
    assert files == {*ON_CPU, *ON_GPUS, *(name for names in OF_ARCH.values() for name in names)}


@pytest.mark.parametrize("name", catalogue(MI300))
def test_every_probe_shipped_compiles_for_gfx942(gfx942: HiprtcChild, name: str) -> None:
    compiler = hip.compiler(arch="gfx942", child=gfx942)
    built = compile_probe(catalogue(MI300)[name].text, compiler, MI300)
    spilled = [one["vgpr_spills"] for one in built.compiled.resources]
    assert spilled and not any(spilled)
    if name == "mfma":
        assert all(one["mfma"] == 1 for one in built.compiled.resources)


@pytest.mark.parametrize("name", catalogue(H100))
def test_every_probe_shipped_compiles_for_sm_90(name: str) -> None:
    try:
        with NvrtcChild() as child:
            assert child.version
    except BackendMissing as missing:
        pytest.skip(str(missing))
    compiler = cuda.compiler(arch="sm_90")
    built = compile_probe(catalogue(H100)[name].text, compiler, H100)
    assert isinstance(built.compiled, Compiled)
    compiler.close()


def test_an_architecture_without_matrix_units_is_not_asked_for_them() -> None:
    assert "mfma" not in catalogue(replace(MI300, arch="gfx1100"))
    assert "tensor_cores" not in catalogue(replace(H100, arch="sm_80"))


@pytest.mark.parametrize("wavefront", [32, 64])
def test_shuffle_order_is_exact(wavefront: int) -> None:
    device = open_device(0)
    probe = catalogue(MI300)["shuffle_order"]
    built = compile_probe(probe.text, CpuCompiler(wavefront=wavefront), device.info)
    found = measure(device, built)
    assert readings.shuffle_faults(found, wavefront) == []
    assert readings.shuffle_faults(found, 96 - wavefront) != []
    (told,) = readings.of_shuffle_order(found, replace(device.info, wavefront=96 - wavefront))
    assert told.startswith("Shuffles do not do what HIP says here: down by 1 gave thread 31")


def test_what_copies_tell() -> None:
    size = 512 << 20
    copies = [
        case({"BYTES": size, "WIDTH": width, "ROUNDS": 1}, us, 2 * size)
        for width, us in ((16, 250.0), (4, 500.0))
    ]
    copies.append(case({"BYTES": 1 << 20, "WIDTH": 16, "ROUNDS": 4}, 1.0, 8 << 20))
    assert readings.of_copy(copies, H100) == (
        "A copy of 512 MiB moves 4.29 TB/s (reads and writes) with 16 bytes a thread; 2.15 TB/s "
        "with 4.",
        "Copied again and again, so that caches serve it: 8.39 TB/s of 1 MiB.",
    )


def test_what_lds_strides_tell() -> None:
    reads = [
        case({"STRIDE": stride, "COUNT": 1}, us, 1000)
        for stride, us in ((1, 20.0), (32, 320.0), (33, 20.0))
    ]
    assert readings.of_lds(reads, H100) == (
        "LDS reads of floats take, in times of those at stride 1 (20 ns for 1,024 threads): 16 at "
        "32, 1 at 33.",
    )


def test_a_cost_that_noise_hides_is_told_as_what_it_is_at_most() -> None:
    hidden = Interval(median=-1.0, low=-3.0, high=2.0)
    cases = [case({"THREADS": 64}, 12.0, 1000), case({"THREADS": 1024}, 1.0, 1000)]
    cases[1] = replace(cases[1], us=hidden)
    assert readings.of_barrier(cases, H100) == (
        "A barrier costs a block that is alone 12 ns with 64 threads, at most 2 ns with 1024 "
        "threads.",
    )
    cases[1] = replace(cases[1], us=Interval(median=-2.0, low=-3.0, high=-1.0))
    assert readings.of_barrier(cases, H100)[0].endswith("at most 0 ns with 1024 threads.")


def test_mfma_formulas_are_those_of_the_table() -> None:
    """The kernel's and the sentence's, over every lane and register of every instruction asked."""
    text = catalogue(MI300)["mfma"].text
    assert all(f"_mfma_{one.builtin}(" in text for one in INSTRUCTIONS)
    for one in INSTRUCTIONS:
        layout, side = table()[one.name], one.side
        for lane in range(64):
            for j in range(one.held):
                k = one.held * (lane // side) + j
                assert tuple(layout["A"][lane, j]) == (lane % side, k)
                assert tuple(layout["B"][lane, j]) == (k, lane % side)
            for r in range(one.sums):
                row = eval(readings.MFMA_ROWS[side].replace("/", "//"), {"lane": lane, "r": r})
                assert tuple(layout["D"][lane, r]) == (row, lane % side)
    code = text[find_front_matter(text).end :].replace("sum", "r")
    for formula in readings.MFMA_ROWS.values():
        assert formula in code


def numbers_of(rows: int, columns: int, salt: int, most: int = 63) -> np.ndarray[Any, Any]:
    """The function number() of mfma.hip and tensor_cores.hip."""
    row, column = np.indices((rows, columns)).astype(np.uint32)
    x = row * np.uint32(2654435761) + column * np.uint32(40503)
    x = x + np.uint32(salt * 2246822519 % 2**32)
    x = (x ^ (x >> np.uint32(15))) * np.uint32(2246822519)
    numbers: np.ndarray[Any, Any] = (x >> np.uint32(26)) & np.uint32(most)
    return numbers.astype(int)


@pytest.mark.parametrize("one", INSTRUCTIONS, ids=lambda one: one.name)
def test_another_layout_would_come_out_wrong(one: Instruction) -> None:
    """Two rows of D, two columns, or two ks of A alone, taken for one another."""
    side, depth = one.side, one.depth
    most = 3 if one.dtype.itemsize == 1 else 63
    a, b = numbers_of(side, depth, 1, most), numbers_of(depth, side, 2, most)
    product = a @ b
    assert (a.astype(one.dtype).astype(int) == a).all()
    for i in range(side - 1):
        assert (product[i] != product[i + 1]).any()
        assert (product[:, i] != product[:, i + 1]).any()
    for k in range(depth - 1):
        swapped = a.copy()
        swapped[:, [k, k + 1]] = a[:, [k + 1, k]]
        assert (swapped @ b != product).any()


def test_mfma_that_contradicts_is_told() -> None:
    right = [case({"WHICH": 0}, 1.0, wrong=[0] * 64)]
    wrong = case({"WHICH": 3}, 1.0, wrong=[0] * 63 + [2])
    assert "checked here" in readings.of_mfma(right, MI300)[0]
    (told,) = readings.of_mfma([*right, wrong], MI300)
    assert re.search(r"cases 3 of the probe", told)


def test_tensor_cores_tell_their_rate_unless_they_are_wrong() -> None:
    cases = [case({"BLOCKS": 1}, 1.0, 1, wrong=[0] * 32), case({"BLOCKS": 2}, 8.192, 1000000)]
    cases[1] = replace(cases[1], shown=cases[0].shown)
    assert readings.of_tensor_cores(cases, H100)[1] == "They reach 1,000 TFLOP/s from registers."
    bad = replace(cases[0], shown={"wrong": np.array([1])})
    assert "do not use them" in readings.of_tensor_cores([bad, cases[1]], H100)[0]
