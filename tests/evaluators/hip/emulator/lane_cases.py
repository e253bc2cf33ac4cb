"""Lanes read, written and counted by their numbers; permutations and swizzles through LDS."""

import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Case, case
from tests.evaluators.hip.emulator.dpp_cases import HALF_OFF, Source
from tests.evaluators.hip.emulator.integer_cases import brev

READS = (
    *(
        case(
            f"v_readlane_b32 {{d}}, {{a}}, {lane}",
            "d=s.u32",
            "a=u32",
            lambda a, lane=lane: [int(a[lane])] * LANES,
            whole=True,
        )
        for lane in (0, 17, 63)
    ),
    case(
        "s_nop 4\\nv_readlane_b32 {d}, {a}, {b}",
        "d=s.u32",
        "a=u32 b=s.u32",
        lambda a, b: [int(a[int(b[0]) % 64])] * LANES,
        whole=True,
        rows=16 * LANES,
        name="v_readlane_b32 by an SGPR",
    ),
    case(
        "s_nop 4\\nv_writelane_b32 {d}, -7, {b}",
        "d=u32<z",
        "b=s.u32 z=u32",
        lambda b, z: [-7 if n == int(b[0]) % 64 else int(z[n]) for n in range(LANES)],
        whole=True,
        rows=16 * LANES,
        name="v_writelane_b32 by an SGPR",
    ),
    case(
        "v_writelane_b32 {d}, {a}, 41",
        "d=u32<z",
        "a=s.u32 z=u32",
        lambda a, z: [int(a[0] if n == 41 else z[n]) for n in range(LANES)],
        whole=True,
    ),
    case(
        """s_mov_b64 {t}, exec
        s_mov_b64 exec, 1
        v_writelane_b32 {d}, {a}, 41
        s_mov_b64 exec, {t}""",
        "d=u32<z t=s.u64?",
        "a=s.u32 z=u32",
        lambda a, z: [int(a[0] if n == 41 else z[n]) for n in range(LANES)],
        whole=True,
        name="v_writelane_b32 to a lane that is off",
    ),
    case(
        "v_readfirstlane_b32 {d}, {a}",
        "d=s.u32",
        "a=u32",
        lambda a: [int(a[0])] * LANES,
        whole=True,
    ),
    case(
        """s_mov_b64 {t}, exec
        s_mov_b64 exec, {e}
        v_readfirstlane_b32 {d}, {a}
        s_mov_b64 exec, {t}""",
        "d=s.u32 t=s.u64?",
        "a=u32 e=s.u64:0xff00000000000000ull",
        lambda a: [int(a[56])] * LANES,
        whole=True,
        rows=LANES,
        name="v_readfirstlane_b32, the first lanes off",
    ),
    case(
        """s_mov_b64 {t}, exec
        s_mov_b64 exec, 0
        v_readfirstlane_b32 {d}, {a}
        s_mov_b64 exec, {t}""",
        "d=s.u32 t=s.u64?",
        "a=u32",
        lambda a: [int(a[0])] * LANES,
        whole=True,
        rows=LANES,
        name="v_readfirstlane_b32, all lanes off",
    ),
    *(
        case(
            f"v_mbcnt_{part}_u32_b32 {{d}}, {{a}}, {{b}}",
            "d=u32",
            "a=u32 b=u32",
            lambda a, b, first=first: [
                (int(a[n]) & ((1 << max(0, min(32, n - first))) - 1)).bit_count() + int(b[n])
                for n in range(LANES)
            ],
            whole=True,
        )
        for part, first in (("lo", 0), ("hi", 32))
    ),
)


def _permuted(a: Array, b: Array, offset: int, on: int) -> list[int]:
    """ds_permute: a lane sends b to the lane that a names; the highest one wins."""
    made = [0] * LANES
    for lane in range(LANES):
        if on >> lane & 1:
            made[(int(a[lane]) + offset) // 4 % 64] = int(b[lane])
    return made


def _fetched(a: Array, b: Array, offset: int, on: int) -> list[int]:
    places = [(int(address) + offset) // 4 % 64 for address in a]
    return [int(b[at]) if on >> at & 1 else 0 for at in places]


def _addresses(seed: int) -> Array:
    random = np.random.default_rng(seed)
    return np.asarray(random.integers(0, 64, LANES, np.uint64) * np.uint64(4))


ALL_ON = (1 << LANES) - 1
PERMUTATIONS = tuple(
    case(
        f"ds_{name}_b32 {{d}}, {{a}}, {{b}}{text}\\ns_waitcnt lgkmcnt(0)"
        if on == ALL_ON
        else f"""s_mov_b64 {{t}}, exec
        s_mov_b64 exec, {{e}}
        ds_{name}_b32 {{d}}, {{a}}, {{b}}{text}
        s_waitcnt lgkmcnt(0)
        s_mov_b64 exec, {{t}}""",
        "d=u32<z" + ("" if on == ALL_ON else " t=s.u64?"),
        "a=u32 b=u32 z=u32" + ("" if on == ALL_ON else f" e=s.u64:0x{on:x}ull"),
        lambda a, b, z, f=f, offset=offset, on=on: [
            made if on >> n & 1 else int(z[n]) for n, made in enumerate(f(a, b, offset, on))
        ],
        whole=True,
        rows=LANES,
        values={
            "a": _addresses(offset),
            "b": np.arange(1000, 1000 + LANES, dtype=np.uint64),
            "z": np.full(LANES, 7, np.uint64),
        },
        name=f"ds_{name}_b32{text}" + ("" if on == ALL_ON else ", some lanes off"),
    )
    for name, f in (("permute", _permuted), ("bpermute", _fetched))
    for text, offset in (("", 0), (" offset:12", 12))
    for on in (ALL_ON, HALF_OFF)
)


def _swizzled(text: str, source: Source) -> Case:
    return case(
        f"ds_swizzle_b32 {{d}}, {{a}} offset:{text}\\ns_waitcnt lgkmcnt(0)",
        "d=u32",
        "a=u32",
        lambda a: [int(a[source(n)]) for n in range(LANES)],
        whole=True,
        rows=LANES,
        name=f"ds_swizzle_b32 {text}",
    )


def _masked(and_: int, or_: int, xor: int) -> Source:
    return lambda n: n & 32 | ((n & and_ | or_) ^ xor) & 31


def _turned(by: int, mask: int) -> Source:
    return lambda n: n & 32 | (n & mask | (n + by) & ~mask) & 31


def _butterfly(mask: int) -> Source:
    """The order of a fast Fourier transform: bits reversed, those of the mask kept."""
    return lambda n: n & 32 | brev(n & 31, 5) >> mask.bit_count() | n & mask


SWIZZLES = (
    _swizzled("swizzle(QUAD_PERM,3,1,0,2)", lambda n: n & ~3 | (3, 1, 0, 2)[n % 4]),
    _swizzled('swizzle(BITMASK_PERM,\\"01pip\\")', _masked(0b00111, 0b01000, 0b00010)),
    _swizzled("swizzle(BROADCAST,8,3)", lambda n: n & ~7 | 3),
    _swizzled("swizzle(SWAP,16)", lambda n: n ^ 16),
    _swizzled("swizzle(REVERSE,32)", lambda n: n ^ 31),
    *(
        _swizzled(str(xor << 10 | or_ << 5 | and_), _masked(and_, or_, xor))
        for and_, or_, xor in ((31, 0, 1), (0b10101, 0b00010, 0b11000), (0, 7, 0), (15, 16, 0))
    ),
    # Within 32 lanes, by so many; a lane's bits in the mask stay.
    *(
        _swizzled(str(0xC000 | back << 10 | by << 5 | mask), _turned(-by if back else by, mask))
        for back, by, mask in ((0, 3, 0), (1, 5, 0), (0, 9, 0b10010))
    ),
    *(_swizzled(str(0xE000 | mask), _butterfly(mask)) for mask in (0, 0x10, 0x1F, 0x18)),
)

CASES = (*READS, *PERMUTATIONS, *SWIZZLES)
