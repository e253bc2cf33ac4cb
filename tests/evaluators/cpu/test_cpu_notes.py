"""What is told of a processor: nothing that this machine does not have."""

import os
from pathlib import Path

import pytest

from evaluators.cpu.device import open_device
from evaluators.cpu.notes import caches, device_notes, vector_functions, vector_note
from evaluators.cpu.toolchain import toolchain


def test_a_device_tells_its_flags_vectors_caches_and_functions() -> None:
    core = min(os.sched_getaffinity(0))
    notes = open_device(0).info.notes
    assert notes == device_notes(core)  # the same words each time
    text = "\n".join(notes)
    for told in ("-O3 -march=native", "Vectors: ", "L1 data", "expf", "One core"):
        assert told in text
    assert not any(flag in text for flag in ("-I", "-nostdinc", "-fPIC"))


def test_functions_of_our_own_headers_become_vectors_and_libms_do_not() -> None:
    vectorised, called = vector_functions(toolchain())
    assert {"expf", "logf", "tanhf", "sqrtf", "fmaxf"} <= set(vectorised)
    assert {"sinf", "powf", "erff"} <= set(called)
    assert not set(vectorised) & set(called)


@pytest.mark.parametrize(
    ("flags", "machine", "told"),
    [
        ({"avx", "avx2", "avx512f"}, "x86_64", "AVX-512, 64 bytes (16 floats) in each of 32"),
        ({"avx", "avx2"}, "x86_64", "AVX2, 32 bytes (8 floats) in each of 16"),
        ({"sse2"}, "x86_64", "SSE, 16 bytes (4 floats) in each of 16"),
        ({"asimd"}, "aarch64", "NEON, 16 bytes (4 floats) in each of 32"),
    ],
)
def test_vectors_are_the_widest_of_the_processor(flags: set[str], machine: str, told: str) -> None:
    assert told in vector_note(frozenset(flags), machine)


def test_caches_are_read_as_linux_lists_them(tmp_path: Path) -> None:
    for index, values in enumerate(
        [("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "1024K")]
    ):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, value in zip(("level", "type", "size"), values, strict=True):
            (folder / name).write_text(value + "\n")
    assert caches(tmp_path) == ["L1 data 48 KiB", "L2 1 MiB"]
    assert caches(tmp_path / "none") == ["Linux does not list them"]
