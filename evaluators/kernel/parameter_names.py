"""Which names a kernel's parameters may have: they become macros in front of its code."""

import re

from evaluators.dtypes import DTYPES
from evaluators.expression import RESERVED_NAMES

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")

_WORDS_OF_CPP = frozenset(
    """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t
    char32_t clang class compl const const_cast constexpr continue decltype default define
    defined delete do double dynamic_cast elif else endif enum error explicit export extern
    false final float for friend goto if ifdef ifndef include inline int line long mutable
    namespace new noexcept not not_eq nounroll nullptr once operator or or_eq override pragma
    private protected public register reinterpret_cast restrict return short signed sizeof
    static static_assert static_cast struct switch template this thread_local throw true try
    typedef typeid typename typeof undef union unroll unsigned using virtual void volatile
    wchar_t while xor xor_eq
    """.split()  # noqa: SIM905 (a list of 118 lines otherwise)
)
"""Keywords, and the words of directives."""

_WORDS_OF_HIP = re.compile(
    r"WAVEFRONT|NULL|INFINITY|NAN|EOF|M_\w+|HUGE_VALF?|HIP_\w+|CUDA_\w+|KS_\w+"
    r"|(?:FLT|DBL|CHAR|SHRT|INT|UINT|LONG|ULONG|LLONG|ULLONG)_\w+"
    r"|hip\w+|cuda\w+|ks_\w+|threadIdx|blockIdx|blockDim|gridDim|warpSize|dim3|[xyzw]"
    r"|(?:u?(?:char|short|int|long|longlong)|float|double|half)[1-4]?|half2|u?int\d+_t|u?intptr_t"
    r"|size_t|ptrdiff_t|make_\w+|atomic\w*|\w*Atomic\w*|assert|abort|[fv]?printf|puts|putchar|mem(?:cpy|set|move|cmp)"
    r"|clock(?:64)?|min|max|abs|labs|swap|std"
    r"|(?:a?(?:cos|sin|tan)h?|atan2|cbrt|ceil|copysign|erfc?|erfinv|exp|exp2|exp10|expm1|fabs|fdim"
    r"|floor|fma|fmax|fmin|fmod|frexp|hypot|ilogb|isfinite|isinf|isnan|ldexp|lgamma|log|log10|log1p"
    r"|log2|logb|lrint|lround|modf|nearbyint|norm[34]?d?|pow|powi|remainder|rint|round|rsqrt|rcbrt"
    r"|scalbn|signbit|sincos|sinpi|cospi|sqrt|tgamma|trunc)f?"
)
"""What a kernel writes and headers define; the words that begin with two _ are refused anyway."""


def may_name_parameter(name: str) -> bool:
    """Whether a macro of that name leaves the kernel the words that it needs."""
    taken = name in _WORDS_OF_CPP or name in RESERVED_NAMES
    return bool(_NAME.fullmatch(name)) and not taken and not _WORDS_OF_HIP.fullmatch(name)


def may_name_dtype(name: str) -> bool:
    """Whether it may be a dtype parameter of some task: no type and no word of C++."""
    taken = name in _WORDS_OF_CPP or name in RESERVED_NAMES or name in DTYPES
    types = re.fullmatch(r"(?:u?(?:char|short|int|long|longlong)|float|double|half)[1-4]?", name)
    return bool(_NAME.fullmatch(name)) and not taken and not types
