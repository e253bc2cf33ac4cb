// Branches, barriers, scalar memory, modes, messages.
#include "memory.hpp"
#include "tables.hpp"

namespace {
void jump(Wave& w, const Instruction& in) {
    if (in.target < 0) return fail(w, Fault::bad_jump);
    w.pc = u32(in.target) - 1;  // the step adds one
}
void jump_to(Wave& w, u64 address) {
    const Launch& launch = *w.launch;
    i32 at = address >= launch.code_start && address < launch.code_end && address % 4 == 0
                 ? launch.at[(address - launch.code_start) / 4] : -1;
    if (at < 0) return fail(w, Fault::bad_jump, 0, address);
    w.pc = u32(at) - 1;
}
u64 next_address(const Wave& w, const Instruction& in) { (void)w; return in.address + in.bytes; }
u64 pair(Wave& w, const Operand& o) {
    if (uniform_undefined(w, o, 0) | uniform_undefined(w, o, 1)) fail(w, Fault::undefined_address);
    return uniform32(w, o, 64, 0) | u64(uniform32(w, o, 64, 1)) << 32;
}
void write_pair(Wave& w, const Operand& o, u64 x) {
    write_scalar(w, o.index, u32(x));
    write_scalar(w, o.index + 1, u32(x >> 32));
}
template <bool Wanted> void branch_scc(Wave& w, const Instruction& in) {
    if (w.scc_undefined) return fail(w, Fault::undefined_branch);
    if (bool(w.scc) == Wanted) jump(w, in);
}
template <bool Zero> void branch_vcc(Wave& w, const Instruction& in) {
    u64 vcc = w.s[VCC] | u64(w.s[VCC + 1]) << 32, gone = w.s_undefined[VCC] | u64(w.s_undefined[VCC + 1]) << 32;
    if (gone && !(vcc & ~gone)) return fail(w, Fault::undefined_branch);
    if ((vcc == 0) == Zero) jump(w, in);
}
template <bool Zero> void branch_exec(Wave& w, const Instruction& in) {
    if ((w.exec == 0) == Zero) jump(w, in);
}

template <u32 Words> void load(Wave& w, const Instruction& in) {
    u64 base = pair(w, in.o[1]) + u64(i64(in.offset));
    const Operand& o = in.o[2];
    if (o.kind == Kind::scalar) {
        if (uniform_undefined(w, o, 0)) return fail(w, Fault::undefined_address);
        base += read_scalar(w, o.index);
    } else if (o.kind != Kind::none) {
        base += u64(i64(i32(o.as32)));
    }
    base &= ~u64(3);
    if (failed(w) || !reachable(w, base, 4 * Words, false, 0)) return;
    for (u32 i = 0; i < Words; ++i) {
        u32 x;
        memcpy(&x, reinterpret_cast<void*>(base + 4 * i), 4);
        write_scalar(w, in.o[0].index + i, x, memory_undefined(w, base + 4 * i));
    }
}
template <u32 Words> void buffer_load(Wave& w, const Instruction& in) {
    u32 r = in.o[1].index, most = w.s[r + 2], stride = w.s[r + 1] >> 16 & 0x3fff;
    u64 base = w.s[r] | u64(w.s[r + 1] & 0xffff) << 32, size = stride ? u64(stride) * most : most;
    const Operand& o = in.o[2];
    u64 at = u64(i64(in.offset)) + (o.kind == Kind::scalar ? read_scalar(w, o.index) : o.kind == Kind::none ? 0 : o.as32);
    for (u32 i = 0; i < Words; ++i) {
        u64 here = (at & ~u64(3)) + 4 * i;
        u32 x = 0;
        if (here + 4 <= size) {
            if (!reachable(w, base + here, 4, false, 0)) return;
            memcpy(&x, reinterpret_cast<void*>(base + here), 4);
        }
        write_scalar(w, in.o[0].index + i, x);
    }
}

void nothing(Wave&, const Instruction&) {}
void yields(Wave& w, const Instruction&) { w.yields = true; }
void clock(Wave& w, const Instruction& in) { write_pair(w, in.o[0], 100 + 4 * w.launch->executed); }

// hwreg(id, offset, width) is packed by the parser as id | offset << 6 | (width - 1) << 11.
enum Hwreg { MODE = 1, STATUS = 2, HW_ID = 4, GPR_ALLOC = 5, LDS_ALLOC = 6, SHADER_CYCLES = 29, XCC_ID = 20 };
bool hardware(Wave& w, u32 id, u32& x) {
    switch (id) {
    case MODE: x = w.mode; return true;
    case HW_ID: x = (w.block->number % 304) << 8 | (w.index & 3) << 4 | (w.index >> 2 & 15); return true;
    case LDS_ALLOC: x = ((w.block->lds.size() + 511) / 512) << 12; return true;
    case XCC_ID: x = w.block->number % 8; return true;
    default: return false;
    }
}
void getreg(Wave& w, const Instruction& in) {
    u32 how = in.o[1].as32, x = 0, width = (how >> 11 & 31) + 1;
    if (!hardware(w, how & 63, x)) return unsupported(w, "reading this hardware register");
    x >>= how >> 6 & 31;
    write_scalar(w, in.o[0].index, width == 32 ? x : x & ((1u << width) - 1));
}
void setreg(Wave& w, const Instruction& in) {
    u32 how = in.o[0].as32, width = (how >> 11 & 31) + 1, at = how >> 6 & 31;
    if ((how & 63) != MODE) return unsupported(w, "writing this hardware register");
    u32 mask = (width == 32 ? ~0u : (1u << width) - 1) << at;
    u32 mode = (w.mode & ~mask) | (uniform32(w, in.o[1], 32, 0) << at & mask);
    if (mode & 15) return unsupported(w, "a rounding mode other than to the nearest even");
    w.mode = mode;
}
void trap(Wave& w, const Instruction& in) {
    u32 id = in.o[0].as32;
    if (id == 3) return;  // a debugger's, without one
    fail(w, Fault::trap, 0, id);
}
void index_on(Wave& w, const Instruction& in) {
    w.s[M0] = (w.s[M0] & ~0xf0ffu) | (uniform32(w, in.o[0], 32, 0) & 0xff) | in.o[1].as32 << 12;
    w.s_undefined[M0] = uniform_undefined(w, in.o[0], 0);
    if (w.s_undefined[M0]) return fail(w, Fault::undefined_scalar);
    w.gpr_index_mode = in.o[1].as32;
}
}  // namespace

void scalar_control(Table& t) {
    auto add = [&](std::initializer_list<Entry> more) { t.insert(t.end(), more); };
    add({
        plain("s_branch", jump, 0), plain("s_cbranch_scc0", branch_scc<false>, 0), plain("s_cbranch_scc1", branch_scc<true>, 0),
        plain("s_cbranch_vccz", branch_vcc<true>, 0), plain("s_cbranch_vccnz", branch_vcc<false>, 0),
        plain("s_cbranch_execz", branch_exec<true>, 0), plain("s_cbranch_execnz", branch_exec<false>, 0),
        plain("s_getpc_b64", [](Wave& w, const Instruction& in) { write_pair(w, in.o[0], next_address(w, in)); }, 1),
        plain("s_setpc_b64", [](Wave& w, const Instruction& in) { jump_to(w, pair(w, in.o[0])); }, 0),
        plain("s_swappc_b64", [](Wave& w, const Instruction& in) {
            u64 to = pair(w, in.o[1]);
            write_pair(w, in.o[0], next_address(w, in));
            jump_to(w, to);
        }, 1),
        plain("s_call_b64", [](Wave& w, const Instruction& in) { write_pair(w, in.o[0], next_address(w, in)); jump(w, in); }, 1),
        plain("s_endpgm", [](Wave& w, const Instruction&) { w.ended = true; }, 0),
        plain("s_endpgm_saved", [](Wave& w, const Instruction&) { w.ended = true; }, 0),
        plain("s_barrier", [](Wave& w, const Instruction&) { w.waiting = true; }, 0),
        plain("s_trap", trap, 0), plain("s_sleep", yields, 0),
        plain("unknown", [](Wave& w, const Instruction&) { unsupported(w, ""); }, 0),
        plain("s_load_dword", load<1>, 1), plain("s_load_dwordx2", load<2>, 1), plain("s_load_dwordx4", load<4>, 1),
        plain("s_load_dwordx8", load<8>, 1), plain("s_load_dwordx16", load<16>, 1),
        plain("s_buffer_load_dword", buffer_load<1>, 1), plain("s_buffer_load_dwordx2", buffer_load<2>, 1),
        plain("s_buffer_load_dwordx4", buffer_load<4>, 1), plain("s_buffer_load_dwordx8", buffer_load<8>, 1),
        plain("s_buffer_load_dwordx16", buffer_load<16>, 1),
        plain("s_memtime", clock, 1), plain("s_memrealtime", clock, 1),
        plain("s_getreg_b32", getreg, 1), plain("s_setreg_b32", setreg, 0), plain("s_setreg_imm32_b32", setreg, 0),
        plain("s_set_gpr_idx_on", index_on, 0),
        plain("s_set_gpr_idx_off", [](Wave& w, const Instruction&) { w.gpr_index_mode = 0; }, 0),
        plain("s_set_gpr_idx_mode", [](Wave& w, const Instruction& in) { w.gpr_index_mode = in.o[0].as32; }, 0),
        plain("s_set_gpr_idx_idx", [](Wave& w, const Instruction& in) { w.s[M0] = (w.s[M0] & ~0xffu) | (uniform32(w, in.o[0], 32, 0) & 0xff); }, 0),
    });
    // Nothing to do where memory answers at once and there are no caches.
    for (const char* name : {"s_nop", "s_waitcnt", "s_setprio", "s_icache_inv", "s_dcache_inv", "s_dcache_wb",
                             "s_dcache_inv_vol", "s_dcache_wb_vol", "s_inst_prefetch", "s_ttracedata", "s_incperflevel",
                             "s_decperflevel", "s_sethalt_off", "buffer_inv", "buffer_wbl2", "buffer_wbinvl1",
                             "buffer_wbinvl1_vol", "s_code_end", "s_waitcnt_depctr", "ds_nop"})
        t.push_back(plain(name, nothing, 0));
}
