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
from tests.soaked import one_in

FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("engine", one_in(2, ["cpu-fission", fibers.ENGINE]))
def test_names_on_cpu(file: str, engine: str) -> None:
    made = make(cpu.compiler(engine=engine), names(file))
    assert made.refused == {}
    assert wrong(cpu.open_device(0), made) == {}


def test_names_for_sm_90() -> None:
    compiler = cuda.compiler(arch="sm_90")
    made = make(compiler, names(lanes=32))
    compiler.close()
    assert made.refused == {}
    assert made.compiled.log == ""


@pytest.mark.hardware
def test_names_on_an_nvidia_gpu() -> None:
    if not cuda.device_count():
        pytest.skip("no NVIDIA GPU here")
    device = cuda.open_device(0)
    compiler = cuda.compiler(arch=device.info.arch)
    made = make(compiler, names(lanes=32))
    compiler.close()
    assert made.refused == {}
    assert wrong(device, made) == {}


@pytest.mark.hardware
def test_names_on_an_amd_gpu() -> None:
    if not hip.device_count():
        pytest.skip("no AMD GPU here")
    device = hip.open_device(0)
    made = make(hip.compiler(arch=device.info.arch), names())
    assert made.refused == {}
    assert wrong(device, made) == {}


@pytest.fixture(scope="module")
def for_gfx942(gfx942: HiprtcChild) -> Iterator[Made]:
    yield make(hip.compiler(arch="gfx942", child=gfx942), names())


def test_names_for_gfx942(for_gfx942: Made) -> None:
    assert for_gfx942.refused == {}
    assert for_gfx942.compiled.log == ""


def test_names_on_an_emulated_mi300(for_gfx942: Made) -> None:
    assert wrong(open_emulated(0, order=0), for_gfx942) == {}
