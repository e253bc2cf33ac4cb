"""Every compiler that kernels are given to, and a planted file and variable."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluators.cpu.compiler import CpuCompiler
from evaluators.cuda import device as cuda
from evaluators.device import Compiler
from evaluators.hip import device as hip
from evaluators.hip.clang import ClangChild
from evaluators.hip.hiprtc import HiprtcChild
from tests.adversarial.text.planted import VARIABLE, WORD, Planted

COMPILERS = ("cpu", "cuda", "hip", "clang")


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Planted:
    monkeypatch.setenv(VARIABLE, WORD)
    file = tmp_path / "host_file"
    file.write_text(f"{WORD} = 1;\n")
    return Planted(file=file)


@pytest.fixture(scope="session")
def sm_90() -> Iterator[Compiler]:
    made = cuda.compiler(arch="sm_90")
    yield made
    made.close()


@pytest.fixture(params=COMPILERS)
def any_compiler(request: pytest.FixtureRequest) -> Compiler:
    """cpu; and, with no device, NVRTC for sm_90, hiprtc and clang for gfx942."""
    if request.param == "cpu":
        return CpuCompiler()
    if request.param == "cuda":
        sm_90: Compiler = request.getfixturevalue("sm_90")
        return sm_90
    child: HiprtcChild | ClangChild = request.getfixturevalue(
        {"hip": "gfx942", "clang": "clang_amdgcn"}[request.param]
    )
    return hip.compiler(arch="gfx942", child=child)
