/* __hip_fp8_e4m3_fnuz and its vectors: by MI300's own conversions, elsewhere in software. */
#include "hip_fp16.h"

#if defined(__gfx942__) && !defined(KS_FP8_BUILT_IN)
#define KS_FP8_BUILT_IN

KS_INLINE float ks_fp8_to_float(unsigned char value) {
    return __builtin_amdgcn_cvt_f32_fp8(value, 0);
}
/* The instruction gives NaN beyond 240; saturating leaves infinity and NaN to it. */
KS_INLINE unsigned char ks_float_to_fp8(float value, bool saturate) {
    if (saturate && isfinite(value)) value = __builtin_amdgcn_fmed3f(value, 240.0f, -240.0f);
    return (unsigned char)__builtin_amdgcn_cvt_pk_fp8_f32(value, value, 0, false);
}
#endif

#include "cpu/hip/hip_fp8.h"
