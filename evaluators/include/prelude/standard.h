/* What of the C++ standard library is there without an #include. */
#ifndef KS_STANDARD_H
#define KS_STANDARD_H

#include "integers.h"
#include "limits.h"

#include "traits.h"

#include "numeric_limits.h"
#include "utility.h"

#include "functions.h"

#endif
