/* HIP's 8-bit numbers: e4m3_fnuz by MI300's own conversions, the others in software. */
#include "hip_bf16.h"
#include "hip_fp16.h"

#if defined(__gfx942__) && !defined(KS_E4M3_FNUZ_GIVEN)
#define KS_E4M3_FNUZ_GIVEN

struct KsE4m3Fnuz {
    static KS_MEMBER float to_float(unsigned char value) {
        return __builtin_amdgcn_cvt_f32_fp8(value, 0);
    }
    /* The instruction gives NaN beyond 240; saturating leaves infinity and NaN to it. */
    static KS_MEMBER unsigned char from_float(float value, bool saturate) {
        if (saturate && isfinite(value)) value = __builtin_amdgcn_fmed3f(value, 240.0f, -240.0f);
        return (unsigned char)__builtin_amdgcn_cvt_pk_fp8_f32(value, value, 0, false);
    }
};
#endif

#include "cpu/hip/hip_fp8.h"
