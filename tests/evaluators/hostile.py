"""Libraries that no check has seen, for tests of the walls behind the checks."""

import os
import subprocess
from pathlib import Path

from evaluators.cpu.compiler import arch
from evaluators.cpu.emit import ENGINE, ENTRY, SIGNATURE, entry_key
from evaluators.cpu.toolchain import toolchain
from evaluators.device import Binary, Compiled
from evaluators.kernel.plan import LaunchStep
from tests.evaluators.launching import launch


def library(tmp_path: Path, body: str, *, options: tuple[str, ...] = ()) -> bytes:
    """A library that no check has seen: body is C++, with entry 0 named ENTRY."""
    unit = f"""#define WAVEFRONT 64
#include <hip/hip_runtime.h>
static constexpr KsIndex blockDim{{1, 1, 1}};
#include <ks/entry.h>
extern "C" {{ KS_EXPORT extern const KsSignature {SIGNATURE.format(0)} = {{"p"}}; }}
#define ENTRY extern "C" KS_EXPORT void {ENTRY.format(0)}(const KsLaunch *launch)
static long call(long number, long a = 0, long b = 0, long c = 0) {{
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c)
                 : "rcx", "r11", "memory");
    return result;
}}
{body}
"""
    (tmp_path / "unit.cpp").write_text(unit)
    subprocess.run(
        toolchain().build("unit.cpp", "unit.so", options),
        cwd=tmp_path,
        env={**os.environ, **toolchain().environment(tmp_path)},
        check=True,
        timeout=580,
    )
    return (tmp_path / "unit.so").read_bytes()


def hostile(tmp_path: Path, body: str) -> tuple[Compiled, LaunchStep]:
    """That library as if it had passed: the run child must do without the checks."""
    key = entry_key("k", (1, 1, 1))
    compiled = Compiled(
        kernel_id="hostile",
        backend="cpu",
        arch=arch(),
        engine=ENGINE,
        compiler=toolchain().name,
        binaries={(): Binary(data=library(tmp_path, body), symbols={key: ENTRY.format(0)})},
        resources=({"kernel": key, "defines": {}, "signature": "p", "lds_bytes": 0},),
    )
    return compiled, launch("k", ["out"])
