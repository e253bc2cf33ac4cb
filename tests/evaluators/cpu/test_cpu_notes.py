"""What is told of a processor: nothing that this machine does not have."""

import pytest

from evaluators.cpu.device import open_device
from evaluators.cpu.processor.notes import device_notes, vector_functions, vector_note
from evaluators.cpu.toolchain import toolchain


def test_a_device_tells_its_flags_vectors_and_functions() -> None:
    notes = open_device(0).info.notes
    assert notes == device_notes()  # the same words each time
    text = "\n".join(notes)
    for told in ("-O3 -march=native", "Vectors: ", "expf", "One core"):
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
