"""Comparisons of the scalar ALU, into SCC."""

import operator

from tests.evaluators.hip.emulator.scalar_cases import scalar

COMPARED = {
    "eq": operator.eq,
    "lg": operator.ne,
    "gt": operator.gt,
    "ge": operator.ge,
    "lt": operator.lt,
    "le": operator.le,
}
CASES = (
    *(
        scalar(f"s_cmp_{name}_{kind} {{a}}, {{b}}", "e=scc", f"a={kind} b={kind}", f)
        for kind in ("i32", "u32")
        for name, f in COMPARED.items()
    ),
    *(
        scalar(f"s_cmp_{name}_u64 {{a}}, {{b}}", "e=scc", "a=u64 b=u64", COMPARED[name])
        for name in ("eq", "lg")
    ),
    *(
        scalar(
            f"s_cmpk_{name}_{kind} {{a}}, {constant}",
            "e=scc",
            f"a={kind}",
            lambda a, f=f, constant=constant: f(a, constant),
        )
        for kind, constants in (("i32", (-2, 31)), ("u32", (0xFFFF, 31)))
        for name, f in COMPARED.items()
        for constant in constants
    ),
    *(
        scalar(
            f"s_bitcmp{to}_b{bits} {{a}}, {{b}}",
            "e=scc",
            f"a=u{bits} b=u32",
            lambda a, b, to=to, n=bits: (a >> b % n & 1) == to,
        )
        for to in (0, 1)
        for bits in (32, 64)
    ),
)
