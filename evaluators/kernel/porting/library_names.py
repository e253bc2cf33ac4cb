"""Kernels that are named like a function or type of a library: compilers are given another name.

Such a kernel overloads the library's function, or clashes with a type or macro. Nothing but the
front matter says a kernel's name, so its own declarations are all that has to change.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from evaluators.kernel.porting.functions import functions
from evaluators.kernel.tokens import tokens

_SUFFIX = "_kernel_ks"

_MATH = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi cyl_bessel_i0
    cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide floor fma
    fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p log2 logb
    lrint lround modf nan nearbyint nextafter norm norm3d norm4d normcdf normcdfinv pow powi rcbrt
    remainder remquo rhypot rint rnorm rnorm3d rnorm4d round roundeven rsqrt scalbln scalbn sin
    sincos sincospi sinh sinpi sqrt tan tanh tgamma trunc y0 y1 yn
""".split()  # noqa: SIM905 (a list of 80 lines otherwise)
_OTHERS = """
    abs labs llabs div ldiv min max umin umax llmin llmax ullmin ullmax mulhi umulhi mul24 umul24
    mul64hi umul64hi saturate lerp clamp mix step select dot cross length normalize reflect distance
    fract sign gamma isfinite isinf isnan isnormal signbit popc clz ffs brev byte_perm rotate
    abort assert atoi calloc clock clock64 wall_clock64 exit free index kill link main malloc memchr
    memcmp memcpy memmove memset open puts putchar rand read realloc rindex srand strlen time wait
    write accumulate all any apply array begin bind bit_cast copy count data declval distance empty
    end equal exchange fill find forward function generate get greater inclusive_scan invoke iota
    less merge minus move multiplies negate none pair partition plus reduce replace reverse rotate
    search shift size sort swap transform tuple unique ballot shfl shfl_up shfl_down shfl_xor sync
    syncthreads syncwarp activemask match_any match_all barrier thread_block thread_rank
    this_thread_block this_grid coalesced_threads tiled_partition warpSize dim3 half half2 bfloat16
    uchar ushort uint ulong longlong ulonglong size_t ptrdiff_t bool_t WAVEFRONT NULL
    threadIdx blockIdx blockDim gridDim
""".split()  # noqa: SIM905 (a list of 130 lines otherwise)
_LIBRARY = re.compile(
    rf"(?:{'|'.join(_MATH)})(?:f|l)?|{'|'.join(_OTHERS)}|atomic[A-Z]\w*|tex\w*D\w*|surf\w*D\w*|"
    r"u?int(?:8|16|32|64|ptr)_t|(?:make_)?(?:u?(?:char|short|int|long|longlong)|float|double)[1-4]|"
    r"(?:half|float|double|u?int|u?longlong|short|ushort)2(?:half|float|double|u?int|bfloat16)\w*|"
    r"(?:float|int|uint|double|longlong)_as_\w+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SetApart:
    """A normalised source whose kernels have names of their own. names: those that had not."""

    text: str
    names: frozenset[str]

    def entry(self, entry: str) -> str:
        """A name expression of the front matter, as it is for this text."""
        path, angle, rest = entry.partition("<")
        space, colons, name = path.strip().rpartition("::")
        return f"{space}{colons}{name}{_SUFFIX}{angle}{rest}" if name in self.names else entry


@lru_cache(maxsize=64)
def set_apart(normalised: str) -> SetApart:
    """The text with other names for such kernels; lines keep their numbers."""
    if not any(_LIBRARY.fullmatch(word) for word in re.findall(r"\w+(?=\s*[(<])", normalised)):
        return SetApart(text=normalised, names=frozenset())
    found = list(tokens(normalised))
    named = [one for one in functions(found) if one.kind == "kernel"]
    clashing = [one for one in named if _LIBRARY.fullmatch(one.name)]
    text = normalised
    for one in reversed(clashing):
        end = found[one.at].start + len(one.name)
        text = text[:end] + _SUFFIX + text[end:]
    return SetApart(text=text, names=frozenset(one.name for one in clashing))


def as_written(text: str) -> str:
    """What a compiler says, or a name expression that it was given, with the author's names."""
    return text.replace(_SUFFIX, "")
