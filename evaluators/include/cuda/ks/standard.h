/* For sources that name std; nvcc, which compiles exported code, has its own. */
#ifdef __CUDACC_RTC__
#include "prelude/standard.h"
#endif
