/* For sources that name std. */
#include "../hip/hip_runtime.h"

#include "prelude/standard.h"
