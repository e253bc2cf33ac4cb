/* HIP's 8-bit numbers; see prelude/fp8.h. */
#ifndef KS_HIP_FP8_H
#define KS_HIP_FP8_H

#include "hip_bf16.h"
#include "hip_fp16.h"

typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned int __hip_fp8x4_storage_t;
enum __hip_saturation_t { __HIP_NOSAT = 0, __HIP_SATFINITE = 1 };
enum __hip_fp8_interpretation_t {
    __HIP_E4M3 = 0,
    __HIP_E5M2 = 1,
    __HIP_E4M3_FNUZ = 2,
    __HIP_E5M2_FNUZ = 3
};

#include "prelude/fp8.h"

KS_INLINE __hip_fp8_storage_t __hip_cvt_float_to_fp8(float value, __hip_saturation_t saturation,
                                                     __hip_fp8_interpretation_t format) {
    const bool saturate = saturation == __HIP_SATFINITE;
    return format == __HIP_E4M3        ? KsE4m3::from_float(value, saturate)
           : format == __HIP_E5M2      ? KsE5m2::from_float(value, saturate)
           : format == __HIP_E4M3_FNUZ ? KsE4m3Fnuz::from_float(value, saturate)
                                       : KsE5m2Fnuz::from_float(value, saturate);
}
KS_INLINE __hip_fp8_storage_t __hip_cvt_double_to_fp8(double value, __hip_saturation_t saturation,
                                                      __hip_fp8_interpretation_t format) {
    return __hip_cvt_float_to_fp8((float)value, saturation, format);
}
KS_INLINE __hip_fp8_storage_t __hip_cvt_halfraw_to_fp8(__half_raw value,
                                                       __hip_saturation_t saturation,
                                                       __hip_fp8_interpretation_t format) {
    return __hip_cvt_float_to_fp8((float)__half(value), saturation, format);
}
KS_INLINE __hip_fp8x2_storage_t __hip_cvt_float2_to_fp8x2(float2 v, __hip_saturation_t saturation,
                                                          __hip_fp8_interpretation_t format) {
    return (__hip_fp8x2_storage_t)(__hip_cvt_float_to_fp8(v.x, saturation, format) |
                                   __hip_cvt_float_to_fp8(v.y, saturation, format) << 8);
}
KS_INLINE __half_raw __hip_cvt_fp8_to_halfraw(__hip_fp8_storage_t value,
                                              __hip_fp8_interpretation_t format) {
    return (__half_raw)__float2half(format == __HIP_E4M3        ? KsE4m3::to_float(value)
                                    : format == __HIP_E5M2      ? KsE5m2::to_float(value)
                                    : format == __HIP_E4M3_FNUZ ? KsE4m3Fnuz::to_float(value)
                                                                : KsE5m2Fnuz::to_float(value));
}

#endif
