"""Kernels with a fault each, and their twins without: what they are given, and what is said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from evaluators.acceptance.launching import MEMORY_BYTES, launch, plan
from evaluators.checks.compare import compare
from evaluators.device import Binary, Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.hip.emulator.device import EmulatedDevice
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.kernel.plan import LaunchStep

FOLDER = Path(__file__).parents[3] / "kernels" / "emulated"
ARCH = "gfx942"
DEADLINE_S = 60.0

Array = np.ndarray[Any, Any]
Arrays = Mapping[str, Array]


@dataclass(frozen=True, slots=True, kw_only=True)
class Twin:
    """A kernel without its fault. outputs: what it should leave, by buffer."""

    name: str  # of its file, its kernel and the entry
    step: LaunchStep
    given: Arrays
    outputs: Arrays
    read_only: Sequence[str] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """said: what the sentence must match."""

    name: str
    of: str
    said: str
    planted: int = 1
    status: Status = Status.WRONG


@cache
def compiled(child: HiprtcChild, name: str, planted: int) -> Compiled:
    """Not as campaigns do, which refuse some of it before. planted: 0 for the twin."""
    options = ("-std=c++17", *((f"-DPLANTED={planted}",) if planted else ()))
    made = child.compile((FOLDER / f"{name}.hip").read_text(), arch=ARCH, options=options)
    return Compiled(
        kernel_id=name,
        backend="hip",
        arch=ARCH,
        engine="hip",
        compiler=child.version,
        binaries={(): Binary(data=made.code, symbols={name: name})},
    )


def outcome(
    device: EmulatedDevice, made: Compiled, twin: Twin, *, deadline_s: float = DEADLINE_S
) -> tuple[Status, str]:
    """Verdict and sentence of one launch, its outputs compared with what they should be."""
    arrays = {**twin.given, **{name: _unwritten(a) for name, a in twin.outputs.items()}}
    arrays |= {name: a for name, a in twin.given.items() if name in twin.outputs}
    with device.open(made, memory_bytes=MEMORY_BYTES, fenced=True) as session:
        buffers = {}
        for name, array in arrays.items():
            buffer = session.alloc(array.nbytes)
            session.write(buffer, array)
            buffers[name] = buffer.view(0, buffer.nbytes, read_only=name in twin.read_only)
        try:
            session.run(plan(twin.step), buffers, deadline_s=deadline_s)
        except Rejected as rejected:
            return rejected.status, rejected.reason
        for name, wanted in twin.outputs.items():
            found = session.read(buffers[name], arrays[name].dtype, wanted.shape)
            wide = np.int64 if wanted.dtype.kind in "iu" else np.float64
            judged = compare(found, wanted.astype(wide), rtol=1e-6, atol=1e-6)
            if judged.wrong.any():
                return Status.WRONG, f"{name}: {judged.wrong.sum()} of {wanted.size} are wrong"
    return Status.PASSED, ""


def _unwritten(array: Array) -> Array:
    return np.full(array.nbytes, 0xA5, np.uint8).view(array.dtype).reshape(array.shape)


SLOW_STEPS = 64 * 200
RNG = np.random.default_rng(5)
E4M3 = ml_dtypes.float8_e4m3fnuz


def _normal(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def _transpose() -> Twin:
    x = _normal(45, 70)
    step = launch("transpose_tile", ["x", "y", 45, 70], grid=(3, 2, 1), block=(32, 8, 1))
    given, outputs = {"x": x}, {"y": x.T.copy()}
    return Twin(name="transpose_tile", step=step, given=given, outputs=outputs)


def _block_sum(name: str = "block_sum", threads: int = 256, n: int = 1000) -> Twin:
    x = RNG.integers(1, 9, n).astype(np.float32)
    blocks = -(-n // threads)
    sums = np.add.reduceat(x, np.arange(0, n, threads))
    step = launch(name, ["x", "sums", n], grid=(blocks, 1, 1), block=(threads, 1, 1))
    return Twin(name=name, step=step, given={"x": x}, outputs={"sums": sums})


def _axpy() -> Twin:
    x, y = _normal(2, 300)
    step = launch("axpy", ["x", "y", 2.0, 300], grid=(3, 1, 1), block=(128, 1, 1))
    return Twin(name="axpy", step=step, given={"x": x, "y": y}, outputs={"y": 2 * x + y})


def _mfma() -> Twin:
    a, b = (RNG.integers(-8, 9, (32, 48)).astype(E4M3) for _ in range(2))
    c = a.astype(np.float32) @ b.astype(np.float32).T
    step = launch("mfma_tile", ["a", "b", "c", 48], block=(64, 1, 1))
    return Twin(name="mfma_tile", step=step, given={"a": a, "b": b}, outputs={"c": c})


def _fp8() -> Twin:
    """All values; given to be rounded: each, each tie between two, and what is beside both."""
    every = np.arange(256, dtype=np.uint8)
    finite = np.sort(every.view(E4M3).astype(np.float32)[every != 0x80])
    ties = (finite[1:] + finite[:-1]) / 2
    near = [np.nextafter(x, np.float32(s)) for x in (finite, ties) for s in (-240, 240)]
    given = np.concatenate([finite, ties, *near]).astype(np.float32)
    rounded = given.astype(E4M3).view(np.uint8)
    values = np.resize(every.view(E4M3).astype(np.float32), given.size)
    blocks = -(-given.size // 64)
    args: list[str | int | float] = ["bytes", "values", "given", "rounded", given.size]
    return Twin(
        name="fp8_values",
        step=launch("fp8_values", args, grid=(blocks, 1, 1), block=(64, 1, 1)),
        given={"bytes": every, "given": given},
        outputs={"values": values, "rounded": rounded},
    )


def _buffered(name: str) -> Twin:
    x = RNG.integers(-9, 9, (3, 5, 128)).astype(np.float32)
    at = (np.arange(128)[:, None] + 17 * np.arange(8)) % 128
    step = launch(name, ["x", "y", 5], grid=(3, 1, 1), block=(128, 1, 1))
    return Twin(name=name, step=step, given={"x": x}, outputs={"y": x[:, :, at].sum((1, 3))})


def _one_block(name: str, x: Array, y: Array, *args: int, lds_bytes: int = 0) -> Twin:
    step = launch(name, ["x", "y", *args], block=(y.size, 1, 1), lds_bytes=lds_bytes)
    return Twin(name=name, step=step, given={"x": x}, outputs={"y": y}, read_only=("x",))


def _slow() -> Twin:
    """Turns of wavefronts in order are shorter than that: they must go on where they ended."""
    x = _normal(256)
    last = np.float32(0)
    for i in range(SLOW_STEPS - 99, SLOW_STEPS):  # what came before is halved away
        last = last * np.float32(0.5) + x[i % 64]
    return _one_block("slow_wavefront", x, np.full(256, last, np.float32), SLOW_STEPS)


def _twins() -> Mapping[str, Twin]:
    x, wide, bins = _normal(64), _normal(128), RNG.integers(0, 5000, (64, 20)).astype(np.int32)
    fours, most = RNG.integers(-9, 9, (64, 4)).astype(np.float32), np.full(64, x[:50].max())
    full = [np.bincount(np.minimum(row, 15), minlength=16).argmax() for row in bins]
    flag = launch("endless_loop", ["flag", "y"], block=(128, 1, 1))
    found = (
        _transpose(),
        _block_sum(),
        _block_sum("shuffle_mask", 64, 200),
        _axpy(),
        _mfma(),
        _fp8(),
        _buffered("double_buffer"),
        _buffered("single_buffer"),
        _one_block("broadcast", wide, wide - wide[0]),
        _slow(),
        _one_block("dynamic_lds", fours, fours.sum(1), lds_bytes=1024),
        _one_block("unwritten_lds", x[:50], most, 50),
        _one_block("unwritten_register", x, np.where(np.arange(64) < 40, x, -1), 40),
        _one_block("lds_overrun", wide, np.diff(wide, append=wide[-1:])),
        _one_block("scratch_overrun", bins, np.array(full, np.int32), 20),
        _one_block("read_only", x, x * x),
        _one_block("wait_count", x, x + x),
        _one_block("unknown_instruction", x, x),
        Twin(
            name="endless_loop",
            step=flag,
            given={"flag": np.zeros(1, np.int32)},
            outputs={"y": np.full(128, 7, np.int32)},
        ),
    )
    return {twin.name: twin for twin in found}


TWINS = _twins()

_NO_BARRIER = (
    r"LDS that (no thread wrote|wavefront \d (reads|wrote), with no barrier between "
    r"the two|several wavefronts read, with no barrier between them), in lane "
)

FAULTS = (
    Fault(name="no barrier", of="transpose_tile", said=_NO_BARRIER),
    Fault(name="no barrier behind a broadcast", of="broadcast", said=_NO_BARRIER),
    Fault(name="no wait for a slow one", of="slow_wavefront", said=_NO_BARRIER),
    Fault(name="half a wavefront", of="block_sum", said="sums: 4 of 4 are wrong"),
    Fault(name="a 32-wide shuffle", of="block_sum", planted=2, said="sums: 4 of 4 are wrong"),
    Fault(
        name="a missing bound of a load",
        of="block_sum",
        planted=3,
        said=r"reads 4 bytes .*x \(4,000 bytes\), in lane \d+ of wavefront \d of block \(3, 0, 0\)",
    ),
    Fault(
        name="a missing bound of a store",
        of="axpy",
        said=r"writes 4 bytes .*y \(1,200 bytes\), in lane \d+ of wavefront \d of block \(2, 0, ",
    ),
    Fault(
        name="a mask that differs from the active lanes",
        of="shuffle_mask",
        status=Status.CRASHED,
        said=r"trapped \(s_trap 2\): an assertion or abort\(\), in wavefront 0 of block \(3, ",
    ),
    Fault(name="a wrong row of an MFMA", of="mfma_tile", said=r"c: \d{3} of 1024 are wrong"),
    Fault(name="a wrong k", of="mfma_tile", planted=2, said=r"c: \d{3,4} of 1024 are wrong"),
    Fault(name="bf8 for fp8", of="mfma_tile", planted=3, said=r"c: \d{3,4} of 1024 are wrong"),
    Fault(name="bf8 for one", of="mfma_tile", planted=4, said=r"c: \d{3,4} of 1024 are wrong"),
    Fault(name="OCP's fp8", of="fp8_values", said=r"values: \d{4} of \d{4} are wrong"),
    Fault(name="bf8's values", of="fp8_values", planted=2, said=r"values: \d{4} of \d{4} are"),
    Fault(name="a barrier of two buffers", of="double_buffer", said=_NO_BARRIER),
    Fault(name="the second barrier", of="single_buffer", said=_NO_BARRIER),
    Fault(name="two dynamic LDS arrays", of="dynamic_lds", said="LDS that no thread wrote"),
    Fault(
        name="LDS never written",
        of="unwritten_lds",
        said="the kernel reads .* of LDS that no thread wrote",
    ),
    Fault(
        name="an address never written",
        of="unwritten_register",
        said="uses a register that was never written as an address",
    ),
    Fault(
        name="lanes by a register never written",
        of="unwritten_register",
        planted=2,
        said="which lanes are active depends on a register that was never written",
    ),
    Fault(
        name="a branch by a register never written",
        of="unwritten_register",
        planted=3,
        said="branches on a register that was never written",
    ),
    Fault(
        name="a register never written is stored",
        of="unwritten_register",
        planted=4,
        said="stores a register that was never written",
    ),
    Fault(name="no s_waitcnt", of="wait_count", said=r"uses v\d+ before its load is through"),
    Fault(
        name="beyond LDS",
        of="lds_overrun",
        said="reads 4 bytes at 512 of LDS, beyond what its block has, in lane 63 of wavefront 1",
    ),
    Fault(
        name="beyond scratch",
        of="scratch_overrun",
        said=r"(reads|writes) 4 bytes at \d+ of scratch, beyond what a lane has",
    ),
    Fault(
        name="an input written",
        of="read_only",
        said=r"writes 4 bytes of x \(256 bytes\), which is read-only",
    ),
    Fault(
        name="an instruction not known",
        of="unknown_instruction",
        status=Status.UNSUPPORTED,
        said="the emulator does not know the instruction v_cubeid_f32: `v_cubeid_f32 ",
    ),
)
