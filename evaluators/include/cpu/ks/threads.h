/* Every GPU thread to its end, one after another: for kernels in which none waits for another. */
#ifndef KS_THREADS_H
#define KS_THREADS_H

#include "entry.h"

#define __lane_id()                                                                                \
    ((int)(((threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x) % WAVEFRONT))

#endif
