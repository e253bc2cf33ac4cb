/* The numbers of 8 bits that AMD's header leaves out for a target which does not convert them by
 * itself: under names of ours, as releases differ in what they leave out. */
#ifndef KS_HIP_FP8_H
#define KS_HIP_FP8_H

#ifdef __gfx942__
#define KS_FNUZ_GIVEN
#define __hip_fp8_e4m3 ks_fp8_e4m3
#define __hip_fp8_e5m2 ks_fp8_e5m2
#define __hip_fp8x2_e4m3 ks_fp8x2_e4m3
#define __hip_fp8x2_e5m2 ks_fp8x2_e5m2
#define __hip_fp8x4_e4m3 ks_fp8x4_e4m3
#define __hip_fp8x4_e5m2 ks_fp8x4_e5m2
#include "prelude/fp8.h"

KS_INLINE __hip_fp8_storage_t ks_cvt_float_to_fp8(float value, __hip_saturation_t saturation,
                                                  __hip_fp8_interpretation_t format) {
    const bool saturate = saturation == __HIP_SATFINITE;
    return format == __HIP_E4M3   ? KsE4m3::from_float(value, saturate)
           : format == __HIP_E5M2 ? KsE5m2::from_float(value, saturate)
                                  : __hip_cvt_float_to_fp8(value, saturation, format);
}
KS_INLINE __half_raw ks_cvt_fp8_to_halfraw(__hip_fp8_storage_t value,
                                           __hip_fp8_interpretation_t format) {
    return format == __HIP_E4M3   ? (__half_raw)__float2half(KsE4m3::to_float(value))
           : format == __HIP_E5M2 ? (__half_raw)__float2half(KsE5m2::to_float(value))
                                  : __hip_cvt_fp8_to_halfraw(value, format);
}
#define __hip_cvt_float_to_fp8 ks_cvt_float_to_fp8
#define __hip_cvt_fp8_to_halfraw ks_cvt_fp8_to_halfraw
#endif

#endif
