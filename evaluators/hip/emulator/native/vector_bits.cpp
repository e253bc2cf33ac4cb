// Bits of the vector unit: moves, shifts, fields and permutations. What is undefined in a source
// stays undefined in the bits that it reaches, and there alone.
#include "lanes.hpp"
#include "tables.hpp"

namespace {
template <class T, bool Swapped> struct Left {
    static constexpr u32 mask = As<T>::bits - 1;
    template <class A, class B> auto operator()(A a, B b) const {
        if constexpr (Swapped) return value_of<T>(u64(value_of<T>(b)) << (u32(a) & mask));
        else return value_of<T>(u64(value_of<T>(a)) << (u32(b) & mask));
    }
    u64 undefined(const u64* u, const u64* x) const {
        constexpr int data = Swapped, amount = !Swapped;
        if (u[amount] & mask) return ~u64(0);
        return u[data] << (x[amount] & mask);
    }
};
template <class T, bool Swapped> struct Right {  // arithmetic where T is signed
    static constexpr u32 mask = As<T>::bits - 1;
    template <class A, class B> auto operator()(A a, B b) const {
        if constexpr (Swapped) return value_of<T>(value_of<T>(b) >> (u32(a) & mask));
        else return value_of<T>(value_of<T>(a) >> (u32(b) & mask));
    }
    u64 undefined(const u64* u, const u64* x) const {
        constexpr int data = Swapped, amount = !Swapped;
        if (u[amount] & mask) return ~u64(0);
        u32 by = x[amount] & mask;
        if constexpr (std::is_signed_v<value_of<T>>) {
            constexpr u32 top = 64 - As<T>::bits;
            return u64(i64(u[data] << top) >> by) >> top;
        }
        return u[data] >> by;
    }
};

struct LeftOr {
    u32 operator()(u32 a, u32 b, u32 c) const { return (a << (b & 31)) | c; }
    u64 undefined(const u64* u, const u64* x) const {
        if (u[1] & 31) return ~u64(0);
        return u32(u[0] << (x[1] & 31)) | u[2];
    }
};
struct LeftAdd {
    u32 operator()(u32 a, u32 b, u32 c) const { return (a << (b & 31)) + c; }
    u64 undefined(const u64* u, const u64* x) const {
        if (u[1] & 31) return ~u64(0);
        u64 any = u32(u[0] << (x[1] & 31)) | u[2];
        return any ? ~((any & -any) - 1) : 0;
    }
};
struct LeftAdd64 {
    u64 operator()(u64 a, u32 b, u64 c) const { return (a << (b & 7)) + c; }
    u64 undefined(const u64* u, const u64* x) const {
        if (u[1] & 7) return ~u64(0);
        u64 any = u[0] << (x[1] & 7) | u[2];
        return any ? ~((any & -any) - 1) : 0;
    }
};
struct AndOr {
    u32 operator()(u32 a, u32 b, u32 c) const { return (a & b) | c; }
    u64 undefined(const u64* u, const u64* x) const {
        u64 both = (u[0] & (x[1] | u[1])) | (u[1] & (x[0] | u[0])), value = x[0] & x[1];
        return (both & (~x[2] | u[2])) | (u[2] & (~value | both));
    }
};
template <bool Signed> struct Extract {
    using T = std::conditional_t<Signed, i32, u32>;
    T operator()(T a, u32 b, u32 c) const {
        u32 at = b & 31, width = c & 31;
        if (!width) return 0;
        if (at + width >= 32) return a >> at;
        return T(u32(a) << (32 - width - at)) >> (32 - width);
    }
    u64 undefined(const u64* u, const u64* x) const {
        if ((u[1] | u[2]) & 31) return ~u64(0);
        return u32((*this)(T(u32(u[0])), u32(x[1]), u32(x[2])));
    }
};
struct Insert {
    u32 operator()(u32 a, u32 b, u32 c) const { return (a & b) | (~a & c); }
    u64 undefined(const u64* u, const u64* x) const {
        return (x[0] & u[1]) | (~x[0] & u[2]) | (u[0] & ((x[1] ^ x[2]) | u[1] | u[2]));
    }
};
template <u32 Scale> struct Align {
    u32 operator()(u32 a, u32 b, u32 c) const {
        return u32((u64(a) << 32 | b) >> (c * Scale & 31));
    }
    u64 undefined(const u64* u, const u64* x) const {
        if (u[2] & (Scale == 8 ? 3 : 31)) return ~u64(0);
        return (*this)(u32(u[0]), u32(u[1]), u32(x[2]));
    }
};
struct Permute {  // bytes of {a, b} by a selector each
    static u32 pick(u64 both, u32 s) {
        if (s <= 7) return u32(both >> 8 * s) & 0xff;
        if (s <= 11) return (both >> (16 * (s - 8) + 15) & 1) ? 0xff : 0;
        return s == 12 ? 0 : 0xff;
    }
    u32 operator()(u32 a, u32 b, u32 c) const {
        u64 both = u64(a) << 32 | b;
        u32 made = 0;
        for (u32 i = 0; i < 4; ++i) made |= pick(both, c >> 8 * i & 0xff) << 8 * i;
        return made;
    }
    u64 undefined(const u64* u, const u64* x) const {
        u64 both = u[0] << 32 | u[1];
        u32 made = 0;
        for (u32 i = 0; i < 4; ++i) {
            u32 s = u32(x[2] >> 8 * i) & 0xff;
            u32 hole = s < 12 ? pick(both, s) : 0;
            made |= (u[2] >> 8 * i & 0xff ? 0xff : hole) << 8 * i;
        }
        return made;
    }
};
struct Not {
    u32 operator()(u32 a) const { return ~a; }
    u64 undefined(const u64* u, const u64*) const { return u[0]; }
};
struct Move {
    u32 operator()(u32 a) const { return a; }
    u64 undefined(const u64* u, const u64*) const { return u[0]; }
};
struct Move64 {
    u64 operator()(u64 a) const { return a; }
    u64 undefined(const u64* u, const u64*) const { return u[0]; }
};
inline u32 reversed(u32 x) {
    u32 made = 0;
    for (u32 i = 0; i < 32; ++i) made |= (x >> i & 1) << (31 - i);
    return made;
}
struct Reverse {
    u32 operator()(u32 a) const { return reversed(a); }
    u64 undefined(const u64* u, const u64*) const { return reversed(u32(u[0])); }
};
struct Pack16 {
    u32 operator()(u32 a, u32 b) const { return a | b << 16; }
    u64 undefined(const u64* u, const u64*) const { return u[0] | u[1] << 16; }
};

template <class F, class D, class... S> Entry exactly(const char* name) {
    return {name, &Lanewise<F, F, D, S...>::run, 1};
}
}  // namespace

void vector_bits(Table& t) {
    auto add = [&](std::initializer_list<Entry> more) { t.insert(t.end(), more); };
    add({
        exactly<Move, u32, u32>("v_mov_b32"), exactly<Move64, u64, u64>("v_mov_b64"),
        exactly<Move, u32, u32>("v_accvgpr_read_b32"), exactly<Move, u32, u32>("v_accvgpr_write_b32"),
        exactly<Move, u32, u32>("v_accvgpr_mov_b32"),
        exactly<Not, u32, u32>("v_not_b32"), exactly<Reverse, u32, u32>("v_bfrev_b32"),
        exactly<LeftAdd, u32, u32, u32, u32>("v_lshl_add_u32"), exactly<LeftOr, u32, u32, u32, u32>("v_lshl_or_b32"),
        exactly<LeftAdd64, u64, u64, u32, u64>("v_lshl_add_u64"), exactly<AndOr, u32, u32, u32, u32>("v_and_or_b32"),
        exactly<Extract<false>, u32, u32, u32, u32>("v_bfe_u32"), exactly<Extract<true>, i32, i32, u32, u32>("v_bfe_i32"),
        exactly<Insert, u32, u32, u32, u32>("v_bfi_b32"), exactly<Permute, u32, u32, u32, u32>("v_perm_b32"),
        exactly<Align<1>, u32, u32, u32, u32>("v_alignbit_b32"), exactly<Align<8>, u32, u32, u32, u32>("v_alignbyte_b32"),
        exactly<Pack16, u32, u16, u16>("v_pack_b32_f16"),
        exactly<Left<u32, true>, u32, u32, u32>("v_lshlrev_b32"),
        exactly<Right<u32, true>, u32, u32, u32>("v_lshrrev_b32"), exactly<Right<i32, true>, i32, u32, i32>("v_ashrrev_i32"),
        exactly<Left<u64, true>, u64, u32, u64>("v_lshlrev_b64"), exactly<Right<u64, true>, u64, u32, u64>("v_lshrrev_b64"),
        exactly<Right<i64, true>, i64, u32, i64>("v_ashrrev_i64"),
        exactly<Left<u16, true>, u16, u16, u16>("v_lshlrev_b16"), exactly<Right<u16, true>, u16, u16, u16>("v_lshrrev_b16"),
        exactly<Right<i16, true>, i16, u16, i16>("v_ashrrev_i16"),
    });
}
