"""What moves data between lanes: DPP, readlane, permutations, swizzles."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Case, case
from tests.evaluators.hip.emulator.integer_cases import brev, sext

Source = Callable[[int], int | None]  # lane -> the lane that it reads, None outside


def _row(lane: int) -> int:
    return lane & ~15


def shifted(lane: int, by: int) -> int | None:
    """Within a row of 16."""
    at = lane % 16 + by
    return _row(lane) + at if 0 <= at < 16 else None


def rotated(lane: int, by: int) -> int:
    return _row(lane) + (lane % 16 + by) % 16


CONTROLS: dict[str, Source] = {
    "quad_perm:[3,2,1,0]": lambda n: n & ~3 | 3 - n % 4,
    "quad_perm:[1,1,3,0]": lambda n: n & ~3 | (1, 1, 3, 0)[n % 4],
    **{f"row_shl:{by}": lambda n, by=by: shifted(n, by) for by in (1, 7, 15)},
    **{f"row_shr:{by}": lambda n, by=by: shifted(n, -by) for by in (1, 7, 15)},
    **{f"row_ror:{by}": lambda n, by=by: rotated(n, -by) for by in (1, 7, 15)},
    "wave_shl:1": lambda n: n + 1 if n < 63 else None,
    "wave_rol:1": lambda n: (n + 1) % 64,
    "wave_shr:1": lambda n: n - 1 if n else None,
    "wave_ror:1": lambda n: (n - 1) % 64,
    "row_mirror": lambda n: _row(n) + 15 - n % 16,
    "row_half_mirror": lambda n: n & ~7 | 7 - n % 8,
    # Broadcasts reach the rows after the one that they read; of the others the guide says nothing.
    "row_bcast:15": lambda n: _row(n) - 1 if n >= 16 else None,
    "row_bcast:31": lambda n: 31 if n >= 32 else None,
    **{f"row_newbcast:{at}": lambda n, at=at: _row(n) + at for at in (0, 5, 15)},
}


def dpp(
    source: Source,
    values: Array,
    old: Array,
    *,
    exec_: int = (1 << LANES) - 1,
    rows: int = 15,
    banks: int = 15,
    zero: bool = False,
    operation: Callable[[int, int], int] = lambda value, lane: value,
) -> list[int]:
    """The result in every lane. zero: bound_ctrl:0, by which a source outside or off gives 0."""
    made = []
    for lane in range(LANES):
        enabled = exec_ >> lane & rows >> lane // 16 & banks >> lane % 16 // 4 & 1
        at = source(lane)
        read = at is not None and exec_ >> at & 1
        if not enabled or not (read or zero):
            made.append(int(old[lane]))
        else:
            made.append(operation(int(values[at]) if at is not None and read else 0, lane))
    return made


def _reached(control: str) -> str:
    rows = {"row_bcast:15": "0xe", "row_bcast:31": "0xc"}.get(control, "0xf")
    return f"row_mask:{rows} bank_mask:0xf"


def _moved(control: str, more: str = "", masks: str = "row_mask:0xf bank_mask:0xf") -> Case:
    told: dict[str, Any] = {"zero": "bound_ctrl:0" in more}
    for word, key in (("row_mask", "rows"), ("bank_mask", "banks")):
        told[key] = int(masks.split(f"{word}:")[1].split()[0], 16)
    return case(
        f"v_mov_b32_dpp {{d}}, {{a}} {control} {masks}{more}",
        "d=u32<z",
        "a=u32 z=u32",
        lambda a, z: dpp(CONTROLS[control], a, z, **told),
        whole=True,
        rows=LANES,
    )


HALF_OFF = 0x5AF0_33CC_FF00_9669


def _some_off(control: str, more: str) -> Case:
    """With lanes off. A source that is off counts as one outside."""
    return case(
        f"""s_mov_b64 {{t}}, exec
        s_mov_b64 exec, {{e}}
        s_nop 7
        v_mov_b32_dpp {{d}}, {{a}} {control} row_mask:0xf bank_mask:0xf{more}
        s_nop 7
        s_mov_b64 exec, {{t}}""",
        "d=u32<z t=s.u64?",
        f"a=u32 z=u32 e=s.u64:0x{HALF_OFF:x}ull",
        lambda a, z: dpp(CONTROLS[control], a, z, exec_=HALF_OFF, zero=bool(more)),
        whole=True,
        rows=LANES,
        name=f"v_mov_b32_dpp {control}{more}, some lanes off",
    )


def _operation(asm: str, expect: Callable[[int, int, int], int], control: str) -> Case:
    """expect: of the moved a, and of b and z in the lane itself."""

    def told(a: Array, b: Array, z: Array) -> list[int]:
        def operation(value: int, lane: int) -> int:
            return expect(value, int(b[lane]), int(z[lane])) & 0xFFFFFFFF

        return dpp(CONTROLS[control], a, z, operation=operation, zero="bound_ctrl" in asm)

    place = f" {control} row_mask:0xf bank_mask:0xf"
    return case(
        asm.replace(" bound_ctrl:0", "") + place + " bound_ctrl:0" * ("bound_ctrl" in asm),
        "d=u32<z",
        "a=u32 b=u32 z=u32",
        told,
        whole=True,
        rows=LANES,
    )


DPP = (
    *(_moved(control, masks=_reached(control)) for control in CONTROLS),
    *(_moved(control, " bound_ctrl:0", _reached(control)) for control in CONTROLS),
    _moved("row_shr:1", masks="row_mask:0xa bank_mask:0xf"),
    _moved("row_ror:7", masks="row_mask:0xf bank_mask:0x5"),
    _moved("row_shl:7", " bound_ctrl:0", "row_mask:0x6 bank_mask:0x9"),
    *(
        _some_off(control, more)
        for control in ("row_shl:1", "row_ror:7", "quad_perm:[1,1,3,0]", "row_newbcast:5")
        for more in ("", " bound_ctrl:0")
    ),
    _operation("v_add_u32_dpp {d}, {a}, {b}", lambda a, b, z: a + b, "row_shr:1"),
    _operation("v_add_u32_dpp {d}, {a}, {b} bound_ctrl:0", lambda a, b, z: a + b, "row_shr:1"),
    _operation("v_sub_u32_dpp {d}, {a}, {b}", lambda a, b, z: a - b, "quad_perm:[3,2,1,0]"),
    _operation(
        "v_max_i32_dpp {d}, {a}, {b}", lambda a, b, z: max(sext(a, 32), sext(b, 32)), "row_mirror"
    ),
    _operation("v_and_b32_dpp {d}, {a}, {b}", lambda a, b, z: a & b, "row_half_mirror"),
    _operation("v_not_b32_dpp {d}, {a}", lambda a, b, z: ~a, "wave_ror:1"),
    case(
        "v_add_f32_dpp {d}, -{a}, |{b}| row_ror:1 row_mask:0xf bank_mask:0xf",
        "d=f32<z",
        "a=u32 b=u32 z=u32",
        lambda a, b, z: [
            float(np.float32(abs(_float(b[n])) - _float(a[rotated(n, -1)]))) for n in range(LANES)
        ],
        whole=True,
        rows=LANES,
        values={
            name: np.random.default_rng(seed)
            .normal(0, 9, LANES)
            .astype(np.float32)
            .view(np.uint32)
            .astype(np.uint64)
            for seed, name in enumerate("abz")
        },
    ),
    case(
        "v_mov_b64_dpp {d}, {a} row_newbcast:3 row_mask:0xf bank_mask:0xf",
        "d=u64<z",
        "a=u64 z=u64",
        lambda a, z: [int(a[_row(n) + 3]) for n in range(LANES)],
        whole=True,
        rows=LANES,
    ),
)


def _float(bits: Any) -> float:
    return float(np.array([bits], np.uint32).view(np.float32)[0])


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

CASES = (*DPP, *READS, *PERMUTATIONS, *SWIZZLES)
