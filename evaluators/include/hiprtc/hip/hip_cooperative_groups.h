/* Cooperative groups for hiprtc. */
#include "hip_runtime.h"

#include "../ks/cooperative_groups.h"
