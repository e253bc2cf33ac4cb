// MFMA: products of small matrices whose elements are spread over the lanes. Products are exact and
// sums are of double, rounded once: hardware rounds in between, in an order that is not told.
#include "tables.hpp"

namespace {
enum class Element { f32, xf32, f16, bf16, fp8, bf8, i8, f64 };

constexpr u32 bits_in(Element e) {
    switch (e) {
    case Element::f64: return 64;
    case Element::f32: case Element::xf32: return 32;
    case Element::f16: case Element::bf16: return 16;
    default: return 8;
    }
}
template <Element E> double element(u32 x) {
    if constexpr (E == Element::f32) return real32(x);
    if constexpr (E == Element::xf32) return real32(x & 0xffffe000);  // 10 bits of mantissa
    if constexpr (E == Element::f16) return half_value(x);
    if constexpr (E == Element::bf16) return real32(x << 16);
    if constexpr (E == Element::fp8) return decode(x & 0xff, FP8);
    if constexpr (E == Element::bf8) return decode(x & 0xff, BF8);
    return double(i8(x));
}

// The lane that lane l's value of B comes from. Of A: see group_of.
u32 b_lane(u32 l, u32 blgp) {
    switch (blgp) {
    case 1: return l & 31;
    case 2: return 32 | (l & 31);
    case 3: return (l + 16) & 63;
    case 4: case 5: case 6: case 7: return 16 * (blgp - 4) + (l & 15);
    default: return l;
    }
}
// The block of A that block b uses: cbsz: 2^cbsz blocks share one, abid says which.
u32 a_block(u32 b, u32 cbsz, u32 abid) { return cbsz ? (b >> cbsz << cbsz) + abid : b; }

struct Grid {  // lane and element of A[b][i][k]; the same of B[b][k][j]
    u32 side, depth, blocks, each;
    void place(u32 b, u32 i, u32 k, u32& lane, u32& at) const {
        lane = blocks > 1 ? b * side + i : (k / each) * side + i;
        at = k % each;
    }
    // Register and lane of D[b][i][j].
    void sum(u32 b, u32 i, u32 j, u32& lane, u32& at) const {
        if (side == 4) lane = b * 4 + j, at = i;
        else {
            u32 rows = LANES / side;  // lane groups that share a column
            u32 group = i / (4 * rows), within = i % (4 * rows);
            u32 each_block = side * side / LANES;
            lane = within / 4 * side + j;
            at = b * each_block + group * 4 + within % 4;
        }
    }
};

// o: D, A, B, C. An element's bits in its registers; holes spoil the row or column.
template <Element A, Element B, u32 Side, u32 Depth, u32 Blocks> void mfma(Wave& w, const Instruction& in) {
    constexpr u32 each = Side * Depth * Blocks / LANES, sums = Side * Side * Blocks / LANES;
    constexpr u32 words = (each * bits_in(A) + 31) / 32, bits = bits_in(A);
    constexpr bool whole = A == Element::i8;
    const Grid grid{Side, Depth, Blocks, each};
    static thread_local u32 a[8][LANES], b[8][LANES], c[32][LANES], d[32][LANES], gone[32][LANES];
    u64 holes_a = holes_of(w, in, 1, words), holes_b = holes_of(w, in, 2, words), holes_c = holes_of(w, in, 3, sums);
    for (u32 i = 0; i < words; ++i) {
        fetch32(w, in, 1, a[i], false, i);
        fetch32(w, in, 2, b[i], false, i);
    }
    bool constant_c = in.o[3].kind != Kind::vector;
    for (u32 i = 0; i < sums; ++i) fetch32(w, in, 3, c[i], false, constant_c ? 0 : i);
    static thread_local double x[Blocks][Side][Depth], y[Blocks][Depth][Side];
    for (u32 n = 0; n < Blocks; ++n)
        for (u32 i = 0; i < Side; ++i)
            for (u32 k = 0; k < Depth; ++k) {
                u32 lane, at;
                grid.place(a_block(n, in.cbsz, in.abid), i, k, lane, at);
                x[n][i][k] = element<A>(a[at * bits / 32][lane] >> at * bits % 32);
                grid.place(n, i, k, lane, at);
                y[n][k][i] = element<B>(b[at * bits / 32][b_lane(lane, in.blgp)] >> at * bits % 32);
            }
    for (u32 n = 0; n < Blocks; ++n)
        for (u32 i = 0; i < Side; ++i) {
            double row[Side] = {};
            for (u32 k = 0; k < Depth; ++k)
                for (u32 j = 0; j < Side; ++j) row[j] += x[n][i][k] * y[n][k][j];
            for (u32 j = 0; j < Side; ++j) {
                u32 lane, at;
                grid.sum(n, i, j, lane, at);
                if (whole) d[at][lane] = u32(i64(row[j])) + c[at][lane];
                else d[at][lane] = bits_of(f32(row[j] + double(real32(c[at][lane]))));
            }
        }
    // EXEC is ignored: all lanes are written.
    bool spoilt = holes_a || holes_b || holes_c;
    if (spoilt)
        for (u32 i = 0; i < sums; ++i) fetch32(w, in, 3, gone[i], true, constant_c ? 0 : i);
    if (holes_a || holes_b) {
        for (u32 i = 0; i < words; ++i) {
            fetch32(w, in, 1, a[i], true, i);
            fetch32(w, in, 2, b[i], true, i);
        }
        constexpr u32 mask = bits == 32 ? ~0u : (1u << bits) - 1;
        for (u32 n = 0; n < Blocks; ++n) {
            u32 rows[Side] = {}, columns[Side] = {}, lane, at;
            for (u32 i = 0; i < Side; ++i)
                for (u32 k = 0; k < Depth; ++k) {
                    grid.place(a_block(n, in.cbsz, in.abid), i, k, lane, at);
                    rows[i] |= a[at * bits / 32][lane] >> at * bits % 32 & mask;
                    grid.place(n, i, k, lane, at);
                    columns[i] |= b[at * bits / 32][b_lane(lane, in.blgp)] >> at * bits % 32 & mask;
                }
            for (u32 i = 0; i < Side; ++i)
                for (u32 j = 0; j < Side; ++j) {
                    grid.sum(n, i, j, lane, at);
                    if (rows[i] | columns[j]) gone[at][lane] = ~0u;
                }
        }
    }
    for (u32 i = 0; i < sums; ++i) put32(w, register_of(w, in, 0, i), d[i], ALL, spoilt ? gone[i] : nullptr);
}

// Of doubles; rows of D are dealt to the lanes one by one. blgp negates A, B, C.
template <u32 Side, u32 Depth, u32 Blocks> void mfma64(Wave& w, const Instruction& in) {
    constexpr u32 sums = Side * Side * Blocks / LANES;
    static thread_local u64 a[LANES], b[LANES];
    u64 c[sums][LANES];
    fetch<u64>(w, in, 1, a);
    fetch<u64>(w, in, 2, b);
    u64 holes_a = holes_of(w, in, 1, 2), holes_b = holes_of(w, in, 2, 2), holes_c[sums];
    for (u32 i = 0; i < sums; ++i) {
        Instruction part = in;
        bool vector = in.o[3].kind == Kind::vector;
        if (vector) part.o[3].index += 2 * i;
        holes_c[i] = holes_of(w, part, 3, 2);
    }
    for (u32 i = 0; i < sums; ++i) {
        u32 low[LANES], high[LANES];
        bool vector = in.o[3].kind == Kind::vector;
        fetch32(w, in, 3, low, false, vector ? 2 * i : 0, 64, true);
        fetch32(w, in, 3, high, false, vector ? 2 * i + 1 : 1, 64, true);
        for (u32 l = 0; l < LANES; ++l) c[i][l] = low[l] | u64(high[l]) << 32;
    }
    u32 gone[LANES], low[LANES], high[LANES];
    for (u32 r = 0; r < sums; ++r) {
        bool spoilt = holes_a || holes_b || holes_c[r];
        for (u32 l = 0; l < LANES; ++l) {
            gone[l] = holes_c[r] >> l & 1 ? ~0u : 0;
            u32 n = Blocks > 1 ? l / Side % Blocks : 0, j = l % Side;
            u32 i = Side == 16 ? 4 * r + l / 16 : l / 16;
            double sum = real64(c[r][l]);
            if (in.blgp & 4) sum = -sum;
            for (u32 k = 0; k < Depth; ++k) {
                u32 from_a = Blocks > 1 ? 16 * k + Side * a_block(n, in.cbsz, in.abid) + i : 16 * k + i;
                u32 from_b = Blocks > 1 ? 16 * k + Side * n + j : 16 * k + j;
                if ((holes_a >> from_a | holes_b >> from_b) & 1) gone[l] = ~0u;
                double x = real64(a[from_a]), y = real64(b[from_b]);
                sum = std::fma(in.blgp & 1 ? -x : x, in.blgp & 2 ? -y : y, sum);
            }
            low[l] = u32(bits_of(sum));
            high[l] = u32(bits_of(sum) >> 32);
        }
        put32(w, register_of(w, in, 0, 2 * r), low, ALL, spoilt ? gone : nullptr);
        put32(w, register_of(w, in, 0, 2 * r + 1), high, ALL, spoilt ? gone : nullptr);
    }
}

// Sparse A: of four consecutive k two are kept; 2 bits of an index each tell which. The result is
// also the addend. o: D, A, B, index.
template <Element A, Element B, u32 Side, u32 Depth> void smfmac(Wave& w, const Instruction& in) {
    constexpr u32 each_b = Side * Depth / LANES, each_a = each_b / 2, sums = Side * Side / LANES;
    constexpr u32 bits = bits_in(A), words_a = each_a * bits / 32, words_b = each_b * bits / 32;
    constexpr bool whole = A == Element::i8;
    const Grid grid{Side, Depth, 1, each_b};
    static thread_local u32 a[4][LANES], b[8][LANES], index[LANES], d[32][LANES], gone[LANES];
    bool spoilt = holes_of(w, in, 1, words_a) || holes_of(w, in, 2, words_b) || holes_of(w, in, 3);
    for (u32 i = 0; i < words_a; ++i) fetch32(w, in, 1, a[i], false, i);
    for (u32 i = 0; i < words_b; ++i) fetch32(w, in, 2, b[i], false, i);
    fetch32(w, in, 3, index);
    // cbsz 0: abid picks the part of the index register: 8 bits of it (16-bit types) or 16.
    constexpr u32 width = bits == 16 ? 8 : 16;
    static thread_local double x[Side][Depth];
    memset(x, 0, sizeof x);
    for (u32 l = 0; l < LANES; ++l) {
        u32 picks = in.cbsz ? index[l] : index[l] >> width * in.abid % 32;
        for (u32 e = 0; e < each_a; ++e) {
            u32 k = l / Side * each_b + e / 2 * 4 + (picks >> 2 * e & 3);
            x[l % Side][k] = element<A>(a[e * bits / 32][l] >> e * bits % 32);
        }
    }
    for (u32 i = 0; i < sums; ++i) {
        fetch32(w, in, 0, d[i], false, i);
        if (holes_of(w, in, 0, sums)) spoilt = true;
    }
    for (u32 i = 0; i < Side; ++i)
        for (u32 j = 0; j < Side; ++j) {
            u32 lane, at;
            double sum = 0;
            for (u32 k = 0; k < Depth; ++k) {
                grid.place(0, j, k, lane, at);
                sum += x[i][k] * element<B>(b[at * bits / 32][lane] >> at * bits % 32);
            }
            grid.sum(0, i, j, lane, at);
            d[at][lane] = whole ? u32(i64(sum)) + d[at][lane] : bits_of(f32(sum + double(real32(d[at][lane]))));
        }
    memset(gone, 0xff, sizeof gone);
    for (u32 i = 0; i < sums; ++i) put32(w, register_of(w, in, 0, i), d[i], ALL, spoilt ? gone : nullptr);
}
}  // namespace

void matrix(Table& t) {
    using E = Element;
    auto add = [&](const char* name, Handler run) { t.push_back(plain(name, run, 1)); };
    add("v_mfma_f32_32x32x1_2b_f32", mfma<E::f32, E::f32, 32, 1, 2>);
    add("v_mfma_f32_16x16x1_4b_f32", mfma<E::f32, E::f32, 16, 1, 4>);
    add("v_mfma_f32_4x4x1_16b_f32", mfma<E::f32, E::f32, 4, 1, 16>);
    add("v_mfma_f32_32x32x2_f32", mfma<E::f32, E::f32, 32, 2, 1>);
    add("v_mfma_f32_16x16x4_f32", mfma<E::f32, E::f32, 16, 4, 1>);
    add("v_mfma_f32_32x32x4_2b_f16", mfma<E::f16, E::f16, 32, 4, 2>);
    add("v_mfma_f32_16x16x4_4b_f16", mfma<E::f16, E::f16, 16, 4, 4>);
    add("v_mfma_f32_4x4x4_16b_f16", mfma<E::f16, E::f16, 4, 4, 16>);
    add("v_mfma_f32_32x32x8_f16", mfma<E::f16, E::f16, 32, 8, 1>);
    add("v_mfma_f32_16x16x16_f16", mfma<E::f16, E::f16, 16, 16, 1>);
    add("v_mfma_f32_32x32x4_2b_bf16", mfma<E::bf16, E::bf16, 32, 4, 2>);
    add("v_mfma_f32_16x16x4_4b_bf16", mfma<E::bf16, E::bf16, 16, 4, 4>);
    add("v_mfma_f32_4x4x4_16b_bf16", mfma<E::bf16, E::bf16, 4, 4, 16>);
    add("v_mfma_f32_32x32x8_bf16", mfma<E::bf16, E::bf16, 32, 8, 1>);
    add("v_mfma_f32_16x16x16_bf16", mfma<E::bf16, E::bf16, 16, 16, 1>);
    add("v_mfma_i32_32x32x4_2b_i8", mfma<E::i8, E::i8, 32, 4, 2>);
    add("v_mfma_i32_16x16x4_4b_i8", mfma<E::i8, E::i8, 16, 4, 4>);
    add("v_mfma_i32_4x4x4_16b_i8", mfma<E::i8, E::i8, 4, 4, 16>);
    add("v_mfma_i32_32x32x16_i8", mfma<E::i8, E::i8, 32, 16, 1>);
    add("v_mfma_i32_16x16x32_i8", mfma<E::i8, E::i8, 16, 32, 1>);
    add("v_mfma_f32_16x16x8_xf32", mfma<E::xf32, E::xf32, 16, 8, 1>);
    add("v_mfma_f32_32x32x4_xf32", mfma<E::xf32, E::xf32, 32, 4, 1>);
    add("v_mfma_f32_16x16x32_fp8_fp8", mfma<E::fp8, E::fp8, 16, 32, 1>);
    add("v_mfma_f32_16x16x32_fp8_bf8", mfma<E::fp8, E::bf8, 16, 32, 1>);
    add("v_mfma_f32_16x16x32_bf8_fp8", mfma<E::bf8, E::fp8, 16, 32, 1>);
    add("v_mfma_f32_16x16x32_bf8_bf8", mfma<E::bf8, E::bf8, 16, 32, 1>);
    add("v_mfma_f32_32x32x16_fp8_fp8", mfma<E::fp8, E::fp8, 32, 16, 1>);
    add("v_mfma_f32_32x32x16_fp8_bf8", mfma<E::fp8, E::bf8, 32, 16, 1>);
    add("v_mfma_f32_32x32x16_bf8_fp8", mfma<E::bf8, E::fp8, 32, 16, 1>);
    add("v_mfma_f32_32x32x16_bf8_bf8", mfma<E::bf8, E::bf8, 32, 16, 1>);
    add("v_mfma_f64_16x16x4_f64", mfma64<16, 4, 1>);
    add("v_mfma_f64_4x4x4_4b_f64", mfma64<4, 4, 4>);
    add("v_smfmac_f32_16x16x32_f16", smfmac<E::f16, E::f16, 16, 32>);
    add("v_smfmac_f32_32x32x16_f16", smfmac<E::f16, E::f16, 32, 16>);
    add("v_smfmac_f32_16x16x32_bf16", smfmac<E::bf16, E::bf16, 16, 32>);
    add("v_smfmac_f32_32x32x16_bf16", smfmac<E::bf16, E::bf16, 32, 16>);
    add("v_smfmac_i32_16x16x64_i8", smfmac<E::i8, E::i8, 16, 64>);
    add("v_smfmac_i32_32x32x32_i8", smfmac<E::i8, E::i8, 32, 32>);
    add("v_smfmac_f32_16x16x64_fp8_fp8", smfmac<E::fp8, E::fp8, 16, 64>);
    add("v_smfmac_f32_16x16x64_fp8_bf8", smfmac<E::fp8, E::bf8, 16, 64>);
    add("v_smfmac_f32_16x16x64_bf8_fp8", smfmac<E::bf8, E::fp8, 16, 64>);
    add("v_smfmac_f32_16x16x64_bf8_bf8", smfmac<E::bf8, E::bf8, 16, 64>);
    add("v_smfmac_f32_32x32x32_fp8_fp8", smfmac<E::fp8, E::fp8, 32, 32>);
    add("v_smfmac_f32_32x32x32_fp8_bf8", smfmac<E::fp8, E::bf8, 32, 32>);
    add("v_smfmac_f32_32x32x32_bf8_fp8", smfmac<E::bf8, E::fp8, 32, 32>);
    add("v_smfmac_f32_32x32x32_bf8_bf8", smfmac<E::bf8, E::bf8, 32, 32>);
}
