/* What of the C++ standard library is there without an #include, for sources that name std. */
#ifndef KS_STANDARD_H
#define KS_STANDARD_H

#include "traits.h"

#include "numeric_limits.h"
#include "utility.h"

#include "functions.h"

#endif
