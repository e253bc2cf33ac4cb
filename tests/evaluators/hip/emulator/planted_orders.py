"""More planted faults: of wavefronts that talk through LDS by other means than barriers."""

import numpy as np

from evaluators.acceptance.launching import launch
from tests.evaluators.hip.emulator.planted_kernels import Array, Fault, Twin
from tests.evaluators.hip.emulator.real_case import INTS


def _block(name: str, x: Array, y: Array, *args: int, threads: int = 256) -> Twin:
    step = launch(name, ["x", "y", *args], block=(threads, 1, 1))
    return Twin(name=name, step=step, given={"x": x}, outputs={"y": y}, read_only=("x",))


def _compacted() -> Twin:
    x = INTS[:256].copy()
    odd = x[x & 1 == 1]
    return _block("compacted", x, np.full(256, odd.sum() + odd.size, np.int32))


def _bytes() -> Twin:
    x = INTS[:256].astype(np.uint8)
    return _block("byte_tile", x, (x[np.arange(256) ^ 64] + np.uint8(1))[::-1].copy())


def _own_barrier() -> Twin:
    y = INTS[:256].copy()
    for i in range(4):
        y = y + (y + i)[::-1]
    return _block("own_barrier", INTS[:256], y.astype(np.int32))


def _guarded() -> Twin:
    x = INTS[:1024]
    most = [*x.reshape(-1, 8).max(0), x[:256].max()]
    return _block("guarded", x, np.array(most, np.int32))


def _loaded() -> Twin:
    rows = INTS[:256].reshape(4, 64)[:, ::-1]
    return _block("loaded_to_lds", INTS[:256], rows.sum(0).astype(np.int32), threads=64)


def _unwritten() -> Twin:
    x, y = np.abs(INTS[:64]), np.zeros(1, np.int32)
    step = launch("unwritten_atomic", ["x", "y"], block=(64, 1, 1))
    outputs = {"y": np.array([x.max()], np.int32)}
    return Twin(name="unwritten_atomic", step=step, given={"x": x, "y": y}, outputs=outputs)


def _lost_update() -> Twin:
    sums = INTS[:512].reshape(8, 64).sum(1)
    given = {"x": INTS[:512], "y": np.zeros(2, np.int32)}
    return Twin(
        name="lost_update",
        step=launch("lost_update", ["x", "y", "told", "flag"], grid=(8, 1, 1), block=(64, 1, 1)),
        given=given | {name: np.zeros(1, np.int32) for name in ("told", "flag")},
        outputs={"y": np.array([sums.sum(), sums[0]], np.int32)},
    )


IDS = (INTS[:2048] & 63).astype(np.int32)
COUNTS = np.bincount(IDS, minlength=64).astype(np.int32)

AT_TIMES = (("lost_update", 1), ("lost_update", 2), ("guarded", 2))
"""Kernels and their faults that only show where wavefronts take turns so."""

ORDER_TWINS = {
    twin.name: twin
    for twin in (
        _block("lds_histogram", IDS, COUNTS, 2048),
        _compacted(),
        _bytes(),
        _block("last_wavefront", INTS[:256], INTS[:256].sum(keepdims=True).astype(np.int32)),
        _own_barrier(),
        _guarded(),
        _block("lds_waits", INTS[:256], (INTS[:256] + np.arange(256))[::-1].astype(np.int32)),
        _loaded(),
        _unwritten(),
        _lost_update(),
    )
}

_PLAIN = r"LDS that (no thread wrote|wavefront \d (reads|wrote)|several wavefronts read)"
_ATOMIC = (
    r"LDS that (wavefront \d changes|several wavefronts change) by atomic operations, with no "
)
_EITHER = rf"{_PLAIN}|{_ATOMIC}"

ORDER_FAULTS = (
    Fault(name="no barrier before atomics", of="lds_histogram", said=_PLAIN),
    Fault(name="no barrier behind atomics", of="lds_histogram", planted=2, said=_EITHER),
    Fault(name="a fence for a barrier", of="lds_histogram", planted=3, said=_EITHER),
    Fault(name="no atomic in LDS", of="lds_histogram", planted=4, said=_PLAIN),
    Fault(name="no barrier behind places", of="compacted", said=_PLAIN),
    Fault(name="no barrier before a number", of="compacted", planted=2, said=_EITHER),
    Fault(name="no first barrier of bytes", of="byte_tile", said=_PLAIN),
    Fault(name="no second barrier of bytes", of="byte_tile", planted=2, said=_PLAIN),
    Fault(name="no third barrier of bytes", of="byte_tile", planted=3, said=_PLAIN),
    Fault(name="counted before written", of="last_wavefront", said=_PLAIN),
    Fault(name="half of one's own barriers", of="own_barrier", said=_PLAIN),
    Fault(name="no barrier behind a maximum", of="guarded", said=_EITHER),
    Fault(
        name="a store to LDS not waited for",
        of="lds_waits",
        said=r"of LDS before wavefront \d's store to them is through: s_waitcnt lgkmcnt\(0\) is ",
    ),
    Fault(
        name="a load to LDS not waited for",
        of="lds_waits",
        planted=2,
        said=r"of LDS before wavefront \d's load to them is through: s_waitcnt vmcnt\(0\) is ",
    ),
    Fault(
        name="one's own load to LDS not waited for",
        of="loaded_to_lds",
        said=r"of LDS before wavefront 0's load to them is through: s_waitcnt vmcnt\(0\) is ",
    ),
    Fault(
        name="an atomic of a register never written",
        of="unwritten_atomic",
        said="stores a register that was never written",
    ),
)
