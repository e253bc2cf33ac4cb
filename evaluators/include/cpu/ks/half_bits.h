/* float32 to and from the bits of float16 and bfloat16, without branches, so that they vectorise. */
#ifndef KS_HALF_BITS_H
#define KS_HALF_BITS_H

#define KS_MEMBER inline __attribute__((always_inline))

KS_INLINE float ks_half_to_float(unsigned short half) {
    unsigned magnitude = (unsigned)(half & 0x7FFF) << 13;
    /* times 2^112 moves the exponent's bias from 15 to 127, and normalises subnormals */
    unsigned finite = __float_as_uint(__uint_as_float(magnitude) * 0x1p112f);
    unsigned bits = magnitude >= 0x0F800000u ? magnitude | 0x7F800000u : finite;
    return __uint_as_float(bits | (unsigned)(half & 0x8000) << 16);
}

KS_INLINE unsigned short ks_float_to_half(float value) {
    unsigned bits = __float_as_uint(value), magnitude = bits & 0x7FFFFFFFu;
    /* normal halves: add just under one half of the last place, and one more if it is odd */
    unsigned normal = (magnitude - 0x38000000u + 0xFFFu + (magnitude >> 13 & 1)) >> 13;
    /* subnormal ones: adding 1/2 leaves their 24ths binary place in the last bits, rounded */
    unsigned small = __float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3F000000u;
    unsigned result = magnitude < 0x38800000u ? small : normal;
    result = magnitude >= 0x477FF000u ? 0x7C00u : result; /* rounds to 65536 or more */
    result = magnitude > 0x7F800000u ? 0x7E00u : result;
    return (unsigned short)(result | (bits >> 16 & 0x8000u));
}

KS_INLINE float ks_bfloat16_to_float(unsigned short value) {
    return __uint_as_float((unsigned)value << 16);
}

KS_INLINE unsigned short ks_float_to_bfloat16(float value) {
    unsigned bits = __float_as_uint(value);
    unsigned rounded = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
    bool nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
    return (unsigned short)(nan ? (bits >> 16 & 0x8000u) | 0x7FC0u : rounded);
}

#endif
