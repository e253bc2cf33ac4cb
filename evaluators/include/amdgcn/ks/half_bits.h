/* float32 to and from float16 and bfloat16, by the compiler's own types. */
#ifndef KS_HALF_BITS_H
#define KS_HALF_BITS_H

KS_INLINE float ks_half_to_float(unsigned short half) { return (float)ks_bits<_Float16>(half); }
KS_INLINE unsigned short ks_float_to_half(float value) {
    return ks_bits<unsigned short>((_Float16)value);
}
KS_INLINE float ks_bfloat16_to_float(unsigned short value) {
    return __uint_as_float((unsigned)value << 16);
}
KS_INLINE unsigned short ks_float_to_bfloat16(float value) {
    return ks_bits<unsigned short>((__bf16)value);
}

#endif
