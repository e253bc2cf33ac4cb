"""AMD's accelerators: told apart by what identifies them, with the peaks of their data sheets."""

from pathlib import Path

import pytest

from evaluators.device_info import DeviceInfo
from evaluators.hip.products import PRODUCTS, pci_id_of, recognise

GIB = 1 << 30


@pytest.mark.parametrize(
    ("units", "gib", "pci_id", "name", "partition"),
    [
        (304, 192, 0x74A1, "MI300X", "SPX"),
        (304, 192, 0x74B5, "MI300X", "SPX"),  # a virtual function
        (152, 192, 0x74A1, "MI300X", "DPX"),
        (76, 48, 0x74A1, "MI300X", "QPX"),
        (38, 24, 0x74A1, "MI300X", "CPX"),
        (38, 24, 0x74A5, "MI325X", "CPX"),
        (228, 128, 0x74A0, "MI300A", "SPX"),
        (76, 128, 0x74A0, "MI300A", "TPX"),
        (38, 128, 0x74A0, "MI300A", "CPX"),
        (80, 192, 0x74A2, "MI308X", "SPX"),
        (20, 48, 0x74A2, "MI308X", "CPX"),
        (304, 192, None, "MI300X", "SPX"),  # where sysfs is not mounted
        (304, 256, None, "MI325X", "SPX"),
        (228, 128, None, "MI300A", "SPX"),
        (80, 192, 0x9999, "MI308X", "SPX"),  # a variant newer than the table
        (304, 192, 0x74A5, "MI325X", "SPX"),
        (300, 192, 0x74A1, "MI300X", ""),
    ],
)
def test_what_identifies_a_gpu(
    units: int, gib: int, pci_id: int | None, name: str, partition: str
) -> None:
    found = recognise("gfx942", compute_units=units, memory_bytes=gib * GIB, pci_id=pci_id)
    assert found is not None
    assert (found.name, found.partition(units)) == (f"AMD Instinct {name}", partition)


@pytest.mark.parametrize(
    ("arch", "units", "pci_id"),
    [("gfx942", 38, None), ("gfx90a", 104, 0x740F), ("gfx950", 304, 0x74A1)],
)
def test_what_no_table_knows_is_nothing(arch: str, units: int, pci_id: int | None) -> None:
    found = recognise(arch, compute_units=units, memory_bytes=64 * GIB, pci_id=pci_id)
    assert found is None


# Tera-FLOP/s, dense, and TB/s, of AMD's data sheets.
SHEETS = {
    "MI300A": (228, 1961.2, 980.6, 490.3, 122.6, 5.3),
    "MI300X": (304, 2614.9, 1307.4, 653.7, 163.4, 5.3),
    "MI325X": (304, 2614.9, 1307.4, 653.7, 163.4, 6.0),
}


@pytest.mark.parametrize("name", SHEETS)
def test_peaks_are_those_of_the_data_sheets(name: str) -> None:
    units, fp8, fp16, xf32, fp32, dram = SHEETS[name]
    (product,) = (one for one in PRODUCTS if one.name.endswith(name))
    peaks = product.peaks(product.compute_units)
    assert product.compute_units == units
    found = [peaks.flops[d] / 1e12 for d in ("float8_e4m3fnuz", "float16", "xf32", "float32")]
    assert found == pytest.approx([fp8, fp16, xf32, fp32], rel=1e-3)
    assert peaks.bytes_per_s["dram"] == dram * 1e12
    assert peaks.cache_bytes == 256 << 20


def test_a_partition_computes_by_its_units_and_keeps_the_memory() -> None:
    (product,) = (one for one in PRODUCTS if one.name.endswith("MI300X"))
    whole, part = product.peaks(304), product.peaks(38)
    assert part.flops["float16"] == pytest.approx(whole.flops["float16"] / 8)
    assert part.bytes_per_s == whole.bytes_per_s


def device(units: int, partition: str) -> DeviceInfo:
    return DeviceInfo(
        backend="hip" if units else "cuda",
        name="a GPU",
        arch="a",
        engine="e",
        compiler="c",
        wavefront=64,
        lds_bytes=1,
        max_threads=1,
        cache_bytes=1,
        compute_units=units,
        partition=partition,
    )


def test_partitions_of_one_gpu_are_classes_of_their_own_and_other_vendors_keep_theirs() -> None:
    assert device(304, "SPX").device_class == "hip/a GPU/304 CUs SPX/a/e"
    assert device(38, "CPX").device_class == "hip/a GPU/38 CUs CPX/a/e"
    assert device(0, "").device_class == "cuda/a GPU/a/e"


def test_the_id_that_sysfs_tells(tmp_path: Path) -> None:
    for address, vendor in (("0000:c1:00.0", "0x1002"), ("0000:02:00.0", "0x10de")):
        (tmp_path / address).mkdir()
        (tmp_path / address / "vendor").write_text(f"{vendor}\n")
        (tmp_path / address / "device").write_text("0x74a1\n")
    assert pci_id_of("0000:c1:00.0", tmp_path) == 0x74A1
    assert pci_id_of("0000:02:00.0", tmp_path) is None
    assert pci_id_of("0000:ff:00.0", tmp_path) is None
