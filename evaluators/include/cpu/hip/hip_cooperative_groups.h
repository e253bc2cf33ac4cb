/* Cooperative groups are in ks/fiber_groups.h and ks/fission_groups.h: engines differ in how
 * threads wait, so each includes its own behind what it makes them of. */
#include "hip_runtime.h"
