"""Every name of the list compiles on every backend without an #include, and gives what it says."""

from collections.abc import Iterator

import pytest

from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cuda import device as cuda
from evaluators.hip import device as hip
from evaluators.hip.emulator.device import open_emulated
from evaluators.hip.hiprtc import HiprtcChild
from tests.evaluators.prelude.listed import FOLDER, Made, make, names, wrong

FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
NOT_ON_NVIDIA = "tile of 64"
"""A warp has 32 lanes."""


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("engine", ["cpu-fission", fibers.ENGINE])
def test_names_on_cpu(file: str, engine: str) -> None:
    made = make(cpu.compiler(engine=engine), names(file))
    assert made.refused == {}
    assert wrong(cpu.open_device(0), made) == {}


def test_names_for_sm_90() -> None:
    compiler = cuda.compiler(arch="sm_90")
    made = make(compiler, [name for name in names() if NOT_ON_NVIDIA not in name.label])
    compiler.close()
    assert made.refused == {}
    assert made.compiled.log == ""


@pytest.fixture(scope="module")
def for_gfx942(gfx942: HiprtcChild) -> Iterator[Made]:
    yield make(hip.compiler(arch="gfx942", child=gfx942), names())


def test_names_for_gfx942(for_gfx942: Made) -> None:
    assert for_gfx942.refused == {}
    assert for_gfx942.compiled.log == ""


def test_names_on_an_emulated_mi300(for_gfx942: Made) -> None:
    assert wrong(open_emulated(0, order=0), for_gfx942) == {}
