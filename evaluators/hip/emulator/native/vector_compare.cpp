// Comparisons: a mask of lanes, and for v_cmpx the active lanes too.
#include "tables.hpp"

bool f32_in_class(u32 b, u32 mask);
bool f64_in_class(u64 b, u32 mask);
bool f16_in_class(u32 b, u32 mask);

namespace {
enum Relation { F, LT, EQ, LE, GT, LG, GE, O, U, NGE, NLG, NGT, NLE, NEQ, NLT, T, NE };

template <Relation R, class V> bool holds(V a, V b) {
    switch (R) {
    case F: return false;
    case LT: return a < b;
    case EQ: return a == b;
    case LE: return a <= b;
    case GT: return a > b;
    case LG: return a < b || a > b;
    case GE: return a >= b;
    case O: return a == a && b == b;
    case U: return a != a || b != b;
    case NGE: return !(a >= b);
    case NLG: return !(a < b || a > b);
    case NGT: return !(a > b);
    case NLE: return !(a <= b);
    case NEQ: case NE: return a != b;
    case NLT: return !(a < b);
    case T: return true;
    }
    return false;
}

void told(Wave& w, const Instruction& in, u64 mask, u64 lanes, u64 holes, bool narrows) {
    store_mask(w, in.o[0], mask & lanes, holes & lanes);
    if (!narrows) return;
    if (holes & lanes) return fail(w, Fault::undefined_exec);
    w.exec = mask & lanes;
}

template <class V, Relation R, bool X> void compare(Wave& w, const Instruction& in) {
    alignas(64) value_of<V> a[LANES], b[LANES];
    fetch<V>(w, in, 1, a);
    fetch<V>(w, in, 2, b);
    u64 mask = 0, lanes = written_lanes(w, in);
    for (u32 l = 0; l < LANES; ++l) mask |= u64(holds<R>(a[l], b[l])) << l;
    u64 holes = (holes_of(w, in, 1, As<V>::words) | holes_of(w, in, 2, As<V>::words)) & lanes;
    if (holes && As<V>::bits < 64) {
        u64 u[LANES], v[LANES];
        shadow<V>(w, in, 1, u);
        shadow<V>(w, in, 2, v);
        for (u32 l = 0; l < LANES; ++l) {
            u64 gone = u[l] | v[l];
            // Bits that differ and are known settle equality.
            bool settled = (R == EQ || R == NE) && ((raw(a[l]) ^ raw(b[l])) & ~gone);
            if (!gone || settled) holes &= ~(u64(1) << l);
        }
    }
    told(w, in, mask, lanes, holes, X);
}

template <u32 Bits, bool X> void classify(Wave& w, const Instruction& in) {
    u32 low[LANES], high[LANES] = {}, want[LANES];
    fetch32(w, in, 1, low, false, 0, Bits, true);
    if (Bits == 64) fetch32(w, in, 1, high, false, 1, Bits, true);
    fetch32(w, in, 2, want);
    u64 mask = 0, lanes = written_lanes(w, in);
    const Operand& o = in.o[1];
    for (u32 l = 0; l < LANES; ++l) {
        u64 x = low[l] | u64(high[l]) << 32, sign = u64(1) << (Bits - 1);
        if (o.abs) x &= ~sign;
        if (o.neg) x ^= sign;
        bool yes = Bits == 32 ? f32_in_class(u32(x), want[l]) : Bits == 64 ? f64_in_class(x, want[l]) : f16_in_class(u32(x), want[l]);
        mask |= u64(yes) << l;
    }
    u64 holes = holes_of(w, in, 1, Bits == 64 ? 2 : 1) | holes_of(w, in, 2);
    told(w, in, mask, lanes, holes, X);
}

std::vector<std::string>& names() {
    static std::vector<std::string> kept;
    return kept;
}

template <class V, Relation R> void one(Table& t, const char* relation, const char* type) {
    for (int x = 0; x < 2; ++x) {
        names().push_back(std::string(x ? "v_cmpx_" : "v_cmp_") + relation + "_" + type);
        t.push_back(plain(names().back().c_str(), x ? compare<V, R, true> : compare<V, R, false>, 1));
    }
}
template <class V> void reals(Table& t, const char* type) {
    one<V, F>(t, "f", type), one<V, LT>(t, "lt", type), one<V, EQ>(t, "eq", type), one<V, LE>(t, "le", type);
    one<V, GT>(t, "gt", type), one<V, LG>(t, "lg", type), one<V, GE>(t, "ge", type), one<V, O>(t, "o", type);
    one<V, U>(t, "u", type), one<V, NGE>(t, "nge", type), one<V, NLG>(t, "nlg", type), one<V, NGT>(t, "ngt", type);
    one<V, NLE>(t, "nle", type), one<V, NEQ>(t, "neq", type), one<V, NLT>(t, "nlt", type), one<V, T>(t, "tru", type);
}
template <class V> void integers(Table& t, const char* type) {
    one<V, F>(t, "f", type), one<V, LT>(t, "lt", type), one<V, EQ>(t, "eq", type), one<V, LE>(t, "le", type);
    one<V, GT>(t, "gt", type), one<V, NE>(t, "ne", type), one<V, GE>(t, "ge", type), one<V, T>(t, "t", type);
}
}  // namespace

void vector_compare(Table& t) {
    names().reserve(400);  // pointers into it are kept
    reals<f32>(t, "f32"), reals<f64>(t, "f64"), reals<F16>(t, "f16");
    integers<i32>(t, "i32"), integers<u32>(t, "u32"), integers<i64>(t, "i64"), integers<u64>(t, "u64");
    integers<i16>(t, "i16"), integers<u16>(t, "u16");
    t.push_back(plain("v_cmp_class_f32", classify<32, false>, 1));
    t.push_back(plain("v_cmp_class_f64", classify<64, false>, 1));
    t.push_back(plain("v_cmp_class_f16", classify<16, false>, 1));
    t.push_back(plain("v_cmpx_class_f32", classify<32, true>, 1));
    t.push_back(plain("v_cmpx_class_f64", classify<64, true>, 1));
    t.push_back(plain("v_cmpx_class_f16", classify<16, true>, 1));
}
