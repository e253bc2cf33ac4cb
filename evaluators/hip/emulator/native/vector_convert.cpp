// Conversions.
#include "tables.hpp"

namespace {
template <class T> T clip(f64 x) {  // toward zero; NaN: 0
    if (x != x) return 0;
    constexpr f64 least = std::is_signed_v<T> ? -2147483648.0 : 0.0;
    constexpr f64 most = std::is_signed_v<T> ? 2147483647.0 : 4294967295.0;
    x = std::trunc(x);
    return x <= least ? T(least) : x >= most ? T(most) : T(x);
}
u32 clip16(f64 x, f64 least, f64 most) {
    if (x != x) return 0;
    x = x < least ? least : x > most ? most : x;
    return u32(i32(x)) & 0xffff;
}
f32 narrowed(f64 x) { return f32(x); }
u32 norm(f64 x, f64 scale, f64 least) {
    if (x != x) return 0;
    x = x < least ? least : x > 1 ? 1 : x;
    return u32(i32(std::nearbyint(x * scale))) & 0xffff;
}
u32 toward_zero(f32 a) { return encode(a, HALF, Round::zero); }

// FP16_OVFL: what is finite but too large becomes the largest.
template <const Format& F> u32 byte(const Wave& w, f32 x, Round round = Round::nearest, u32 chance = 0) {
    u32 made = encode(x, F, round, chance);
    if (made == F.nan && std::isfinite(x) && clamps_overflow(w)) return (std::signbit(x) ? 0x80 : 0) | F.most;
    return made;
}
// Two f32 become two bytes in one half of the result, by op_sel[3].
template <const Format& F> void pack_bytes(Wave& w, const Instruction& in) {
    f32 a[LANES], b[LANES];
    fetch<f32>(w, in, 1, a);
    fetch<f32>(w, in, 2, b);
    u32 r = register_of(w, in, 0, 0), shift = in.op_sel >> 3 & 1 ? 16 : 0, keep = shift ? 0xffff : 0xffff0000;
    u64 holes = (holes_of(w, in, 1) | holes_of(w, in, 2)) & w.exec;
    u32 made[LANES], gone[LANES];
    for (u32 l = 0; l < LANES; ++l) {
        u32 two = byte<F>(w, a[l]) | byte<F>(w, b[l]) << 8;
        made[l] = (w.v[r * LANES + l] & keep) | two << shift;
        u32 was = w.holes[r] >> l & 1 ? w.undefined[r * LANES + l] & keep : 0;
        gone[l] = was | (holes >> l & 1 ? 0xffffu << shift : 0);
    }
    put32(w, r, made, w.exec, gone);
}
// One f32 becomes the byte op_sel[3:2] of the result, rounded by the random bits of the second.
template <const Format& F> void stochastic_byte(Wave& w, const Instruction& in) {
    f32 a[LANES];
    u32 b[LANES], made[LANES], gone[LANES];
    fetch<f32>(w, in, 1, a);
    fetch32(w, in, 2, b);
    u32 r = register_of(w, in, 0, 0), shift = 8 * (in.op_sel >> 2 & 3), keep = ~(0xffu << shift);
    u64 holes = (holes_of(w, in, 1) | holes_of(w, in, 2)) & w.exec;
    for (u32 l = 0; l < LANES; ++l) {
        made[l] = (w.v[r * LANES + l] & keep) | byte<F>(w, a[l], Round::stochastic, b[l]) << shift;
        u32 was = w.holes[r] >> l & 1 ? w.undefined[r * LANES + l] & keep : 0;
        gone[l] = was | (holes >> l & 1 ? 0xffu << shift : 0);
    }
    put32(w, r, made, w.exec, gone);
}
// A byte (by SDWA) becomes f32. In VOP3, op_sel picks it.
template <const Format& F> void byte_to_f32(Wave& w, const Instruction& in) {
    u32 a[LANES], made[LANES], gone[LANES];
    fetch32(w, in, 1, a);
    u32 byte = (in.op_sel & 1 ? 2 : 0) + (in.op_sel & 2 ? 1 : 0);
    u64 lanes = written_lanes(w, in), holes = holes_of(w, in, 1) & lanes;
    if (holes) fetch32(w, in, 1, gone, true);
    for (u32 l = 0; l < LANES; ++l) {
        made[l] = u32(result_bits<f32>(w, in, f32(decode(a[l] >> 8 * byte & 0xff, F))));
        gone[l] = holes && (gone[l] >> 8 * byte & 0xff) ? ~0u : 0;
    }
    store32(w, in, 0, made, lanes, holes ? gone : nullptr);
}
template <const Format& F> void bytes_to_f32(Wave& w, const Instruction& in) {
    u32 a[LANES], gone[LANES], made[LANES], missing[LANES];
    fetch32(w, in, 1, a);
    u64 lanes = written_lanes(w, in), holes = holes_of(w, in, 1) & lanes;
    if (holes) fetch32(w, in, 1, gone, true);
    u32 half = in.op_sel & 1 ? 16 : 0;
    for (u32 word = 0; word < 2; ++word) {
        u32 shift = half + 8 * word;
        for (u32 l = 0; l < LANES; ++l) {
            made[l] = bits_of(f32(decode(a[l] >> shift & 0xff, F)));
            missing[l] = holes && (gone[l] >> shift & 0xff) ? ~0u : 0;
        }
        put32(w, register_of(w, in, 0, word), made, lanes, holes ? missing : nullptr);
    }
}
template <u32 N> struct Ubyte {
    f32 operator()(u32 a) const { return f32(a >> 8 * N & 0xff); }
    u64 undefined(const u64* u, const u64*) const { return u[0] >> 8 * N & 0xff ? ~u64(0) : 0; }
};
template <u32 N> Entry ubyte(const char* name) { return {name, &Lanewise<Ubyte<N>, Ubyte<N>, f32, u32>::run, 1}; }
}  // namespace

void vector_convert(Table& t) {
    auto add = [&](std::initializer_list<Entry> more) { t.insert(t.end(), more); };
    add({
        op<f32, i32>("v_cvt_f32_i32", [](i32 a) { return f32(a); }),
        op<f32, u32>("v_cvt_f32_u32", [](u32 a) { return f32(a); }),
        op<f64, i32>("v_cvt_f64_i32", [](i32 a) { return f64(a); }),
        op<f64, u32>("v_cvt_f64_u32", [](u32 a) { return f64(a); }),
        op<i32, f32>("v_cvt_i32_f32", [](f32 a) { return clip<i32>(a); }),
        op<u32, f32>("v_cvt_u32_f32", [](f32 a) { return clip<u32>(a); }),
        op<i32, f64>("v_cvt_i32_f64", [](f64 a) { return clip<i32>(a); }),
        op<u32, f64>("v_cvt_u32_f64", [](f64 a) { return clip<u32>(a); }),
        op<f64, f32>("v_cvt_f64_f32", [](f32 a) { return f64(a); }),
        op<f32, f64>("v_cvt_f32_f64", [](f64 a) { return narrowed(a); }),
        op<F16, f32>("v_cvt_f16_f32", [](f32 a) { return f64(a); }),
        op<f32, F16>("v_cvt_f32_f16", [](f64 a) { return f32(a); }),
        op<F16, u16>("v_cvt_f16_u16", [](u32 a) { return f64(a); }),
        op<F16, i16>("v_cvt_f16_i16", [](i32 a) { return f64(a); }),
        op<u16, F16>("v_cvt_u16_f16", [](f64 a) { return clip16(a, 0, 65535); }),
        op<i16, F16>("v_cvt_i16_f16", [](f64 a) { return clip16(a, -32768, 32767); }),
        op<i32, f32>("v_cvt_rpi_i32_f32", [](f32 a) { return clip<i32>(std::floor(f64(a) + 0.5)); }),
        op<i32, f32>("v_cvt_flr_i32_f32", [](f32 a) { return clip<i32>(std::floor(f64(a))); }),
        op<f32, u32>("v_cvt_off_f32_i4", [](u32 a) { return f32(i32(a << 28) >> 28) / 16; }),
        ubyte<0>("v_cvt_f32_ubyte0"), ubyte<1>("v_cvt_f32_ubyte1"), ubyte<2>("v_cvt_f32_ubyte2"),
        ubyte<3>("v_cvt_f32_ubyte3"),
        op<u32, f32, f32>("v_cvt_pkrtz_f16_f32", [](f32 a, f32 b) { return toward_zero(a) | toward_zero(b) << 16; }),
        op<u32, f32, f32>("v_cvt_pknorm_i16_f32", [](f32 a, f32 b) { return norm(a, 32767, -1) | norm(b, 32767, -1) << 16; }),
        op<u32, f32, f32>("v_cvt_pknorm_u16_f32", [](f32 a, f32 b) { return norm(a, 65535, 0) | norm(b, 65535, 0) << 16; }),
        op<u32, F16, F16>("v_cvt_pknorm_i16_f16", [](f64 a, f64 b) { return norm(a, 32767, -1) | norm(b, 32767, -1) << 16; }),
        op<u32, F16, F16>("v_cvt_pknorm_u16_f16", [](f64 a, f64 b) { return norm(a, 65535, 0) | norm(b, 65535, 0) << 16; }),
        op<u16, F16>("v_cvt_norm_i16_f16", [](f64 a) { return norm(a, 32767, -1); }),
        op<u16, F16>("v_cvt_norm_u16_f16", [](f64 a) { return norm(a, 65535, 0); }),
        op<u32, f32, u32, u32>("v_cvt_pk_u8_f32", [](f32 a, u32 b, u32 c) {
            f64 x = a != a ? 0 : a < 0 ? 0 : a > 255 ? 255 : std::nearbyint(a);
            u32 shift = 8 * (b & 3);
            return (c & ~(0xffu << shift)) | u32(x) << shift;
        }),
        plain("v_cvt_pk_fp8_f32", pack_bytes<FP8>, 1), plain("v_cvt_pk_bf8_f32", pack_bytes<BF8>, 1),
        plain("v_cvt_sr_fp8_f32", stochastic_byte<FP8>, 1), plain("v_cvt_sr_bf8_f32", stochastic_byte<BF8>, 1),
        plain("v_cvt_f32_fp8", byte_to_f32<FP8>, 1), plain("v_cvt_f32_bf8", byte_to_f32<BF8>, 1),
        plain("v_cvt_pk_f32_fp8", bytes_to_f32<FP8>, 1), plain("v_cvt_pk_f32_bf8", bytes_to_f32<BF8>, 1),
    });
}
