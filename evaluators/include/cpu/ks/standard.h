/* For sources that name std. */
#include "prelude/standard.h"
