"""DPP: operands that come from other lanes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.evaluators.hip.emulator.case import LANES, Array, Case, case
from tests.evaluators.hip.emulator.integer_cases import sext

Source = Callable[[int], int | None]  # lane -> the lane that it reads, None outside


def _row(lane: int) -> int:
    return lane & ~15


def shifted(by: int) -> Source:
    """Within a row of 16."""

    def source(lane: int) -> int | None:
        at = lane % 16 + by
        return _row(lane) + at if 0 <= at < 16 else None

    return source


def rotated(by: int) -> Source:
    return lambda lane: _row(lane) + (lane % 16 + by) % 16


def broadcast(at: int) -> Source:
    """Of a row's lane to the row."""
    return lambda lane: _row(lane) + at


CONTROLS: dict[str, Source] = {
    "quad_perm:[3,2,1,0]": lambda n: n & ~3 | 3 - n % 4,
    "quad_perm:[1,1,3,0]": lambda n: n & ~3 | (1, 1, 3, 0)[n % 4],
    **{f"row_shl:{by}": shifted(by) for by in (1, 7, 15)},
    **{f"row_shr:{by}": shifted(-by) for by in (1, 7, 15)},
    **{f"row_ror:{by}": rotated(-by) for by in (1, 7, 15)},
    "wave_shl:1": lambda n: n + 1 if n < 63 else None,
    "wave_rol:1": lambda n: (n + 1) % 64,
    "wave_shr:1": lambda n: n - 1 if n else None,
    "wave_ror:1": lambda n: (n - 1) % 64,
    "row_mirror": lambda n: _row(n) + 15 - n % 16,
    "row_half_mirror": lambda n: n & ~7 | 7 - n % 8,
    # Broadcasts reach the rows after the one that they read; of the others the guide says nothing.
    "row_bcast:15": lambda n: _row(n) - 1 if n >= 16 else None,
    "row_bcast:31": lambda n: 31 if n >= 32 else None,
    **{f"row_newbcast:{at}": broadcast(at) for at in (0, 5, 15)},
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
        told[key] = int(masks.split(f"{word}:")[1].split(maxsplit=1)[0], 16)
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
            float(np.float32(abs(_float(b[n])) - _float(a[rotated(-1)(n)]))) for n in range(LANES)
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


CASES = DPP
