// Between lanes and scalars.
#include "tables.hpp"

namespace {
void readfirstlane(Wave& w, const Instruction& in) {
    u32 x[LANES], u[LANES];
    fetch32(w, in, 1, x);
    fetch32(w, in, 1, u, true);
    u32 l = w.exec ? __builtin_ctzll(w.exec) : 0;
    write_scalar(w, in.o[0].index, x[l], u[l]);
}
void readlane(Wave& w, const Instruction& in) {
    u32 x[LANES], u[LANES];
    fetch32(w, in, 1, x);
    fetch32(w, in, 1, u, true);
    if (uniform_undefined(w, in.o[2], 0)) return fail(w, Fault::undefined_scalar);
    u32 l = uniform32(w, in.o[2], 32, 0) & 63;
    write_scalar(w, in.o[0].index, x[l], u[l]);
}
void writelane(Wave& w, const Instruction& in) {
    if (uniform_undefined(w, in.o[2], 0)) return fail(w, Fault::undefined_scalar);
    u32 l = uniform32(w, in.o[2], 32, 0) & 63, x[LANES], u[LANES];
    fetch32(w, in, 1, x);
    fetch32(w, in, 1, u, true);
    put32(w, register_of(w, in, 0, 0), x, u64(1) << l, u);
}
// Bits of a mask below each lane, counted onto the second source. Half: which 32 lanes.
template <u32 Half> void mbcnt(Wave& w, const Instruction& in) {
    u32 mask[LANES], add[LANES], made[LANES], gone[LANES];
    fetch32(w, in, 1, mask);
    fetch32(w, in, 2, add);
    u64 holes = (holes_of(w, in, 1) | holes_of(w, in, 2)) & w.exec;
    for (u32 l = 0; l < LANES; ++l) {
        u64 below = (u64(1) << l) - 1;
        made[l] = add[l] + __builtin_popcount(mask[l] & u32(below >> 32 * Half));
        gone[l] = holes >> l & 1 ? ~0u : 0;
    }
    put32(w, register_of(w, in, 0, 0), made, w.exec, holes ? gone : nullptr);
}
}  // namespace

void vector_across(Table& t) {
    t.push_back(plain("v_readfirstlane_b32", readfirstlane, 1));
    t.push_back(plain("v_readlane_b32", readlane, 1));
    t.push_back(plain("v_writelane_b32", writelane, 1));
    t.push_back(plain("v_mbcnt_lo_u32_b32", mbcnt<0>, 1));
    t.push_back(plain("v_mbcnt_hi_u32_b32", mbcnt<1>, 1));
}
