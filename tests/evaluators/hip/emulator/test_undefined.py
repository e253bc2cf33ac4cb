"""Registers that nobody wrote: told where they matter, and not where compilers let them be."""

import pytest

from evaluators.evaluation import Rejected, Status
from evaluators.hip.hiprtc import HiprtcChild
from tests.evaluators.hip.emulator.test_waits import run

# s[40:41] and v70 are written by nobody. Lanes that are not active may stay undefined in a mask.
HARMLESS = {
    "a mask of which only active lanes count": (
        "s_andn2_b64 s[40:41], s[40:41], exec\\ns_or_b64 s[40:41], s[40:41], exec\\n"
        "s_and_saveexec_b64 s[42:43], s[40:41]\\nv_mov_b32 %0, 5\\ns_mov_b64 exec, s[42:43]"
    ),
    "bits that are masked": (
        "v_and_b32 v71, 0xff00, v70\\nv_lshrrev_b32 v71, 16, v71\\nv_add_u32 %0, 5, v71"
    ),
    "an addend of which the low half counts": (
        "v_mov_b32 v72, 4\\nv_mad_u64_u32 v[72:73], s[40:41], 1, 1, v[72:73]\\nv_mov_b32 %0, v72"
    ),
    "times another that is chosen": (
        "v_mov_b32 v71, 5\\ns_mov_b64 vcc, -1\\nv_cndmask_b32 %0, v70, v71, vcc"
    ),
    "one known bit settles a branch": (
        "s_or_b32 s40, s40, 4\\ns_and_b32 s40, s40, 6\\ns_cbranch_scc1 1f\\ns_nop 0\\n1:\\n"
        "v_mov_b32 %0, 5"
    ),
}
FAULTS = {
    "branches on a register": (
        "s_and_b32 s40, s40, 4\\ns_cbranch_scc1 1f\\ns_nop 0\\n1:\\nv_mov_b32 %0, 5"
    ),
    "which lanes are active": "s_and_saveexec_b64 s[42:43], s[40:41]\\nv_mov_b32 %0, 5",
    "as an address": "v_lshlrev_b32 v71, 2, v70\\nds_read_b32 %0, v71\\ns_waitcnt lgkmcnt(0)",
    "stores a register that was never written": "v_mov_b32 %0, v70",
}
ASM = 'asm volatile("{text}" : "=&v"(made) : : {clobbers});'
CLOBBERS = ", ".join(
    f'"{name}"' for name in ("s40", "s41", "s42", "s43", "v73", "v72", "v71", "vcc")
)


def asm(text: str) -> str:
    return ASM.format(text=text, clobbers=f'{CLOBBERS}, "memory", "scc"')


@pytest.mark.parametrize("text", HARMLESS.values(), ids=HARMLESS)
def test_what_does_not_matter_is_let_be(gfx942: HiprtcChild, text: str) -> None:
    assert run(gfx942, asm(text)).tolist() == [5] * 64


@pytest.mark.parametrize(("said", "text"), FAULTS.items(), ids=FAULTS)
def test_what_matters_is_told(gfx942: HiprtcChild, said: str, text: str) -> None:
    with pytest.raises(Rejected) as caught:
        run(gfx942, asm(text))
    assert caught.value.status is Status.WRONG
    assert said in caught.value.reason, caught.value.reason
