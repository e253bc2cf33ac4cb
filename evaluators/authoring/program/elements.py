"""What C++ calls the dtypes of tasks: the element that a pointer or a scalar is of."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

DTYPES: Mapping[str, str] = {
    "float": "float32",
    "double": "float64",
    "half": "float16",
    "__half": "float16",
    "_Float16": "float16",
    "__hip_bfloat16": "bfloat16",
    "hip_bfloat16": "bfloat16",
    "__nv_bfloat16": "bfloat16",
    "nv_bfloat16": "bfloat16",
    "__hip_fp8_e4m3": "float8_e4m3fn",
    "__hip_fp8_e5m2": "float8_e5m2",
    "__hip_fp8_e4m3_fnuz": "float8_e4m3fnuz",
    "__hip_fp8_e5m2_fnuz": "float8_e5m2fnuz",
    "__nv_fp8_e4m3": "float8_e4m3fn",
    "__nv_fp8_e5m2": "float8_e5m2",
    "bool": "bool",
    "char": "int8",
    "signed char": "int8",
    "int8_t": "int8",
    "unsigned char": "uint8",
    "uint8_t": "uint8",
    "uchar": "uint8",
    "short": "int16",
    "int16_t": "int16",
    "unsigned short": "uint16",
    "ushort": "uint16",
    "uint16_t": "uint16",
    "int": "int32",
    "int32_t": "int32",
    "signed": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "uint": "uint32",
    "uint32_t": "uint32",
    "long": "int64",
    "long int": "int64",
    "long long": "int64",
    "long long int": "int64",
    "int64_t": "int64",
    "ptrdiff_t": "int64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "uint64_t": "uint64",
    "size_t": "uint64",
}
"""What C++ calls the dtypes of tasks."""
BYTES: Mapping[str, int] = {"float32": 4, "float64": 8, "float16": 2, "bfloat16": 2, "bool": 1} | {
    f"{sign}int{bits}": bits // 8 for sign in ("", "u") for bits in (8, 16, 32, 64)
}
FLOATING = ("float32", "float64", "float16", "bfloat16")
INTEGERS = tuple(name for name in BYTES if "int" in name)
_VECTOR = re.compile(
    r"(float|double|half|__half|__nv_bfloat16|__hip_bfloat16|u?char|u?short|u?int|u?long|u?longlong)"
    r"([1-4])"
)
_DROPPED = re.compile(
    r"\b(?:const|volatile|struct|typename|__restrict__|__restrict|register|std::)\b"
)


def dtype_bytes(dtype: str) -> int:
    return BYTES.get(dtype, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """What a pointer points to, or a scalar is: a dtype, count of them ("float4": four).

    dtype: "" for a type that is none of the format's. type: as it is written, aliases resolved.
    """

    type: str
    dtype: str
    count: int = 1


def element(type_text: str, aliases: Mapping[str, str]) -> Element:
    """The element of a C++ type, without const and *; aliases: what typedefs and using say."""
    plain = bare_type(type_text)
    for _ in range(8):
        if plain not in aliases or plain in DTYPES:
            break
        plain = bare_type(aliases[plain])
    if plain in DTYPES:
        return Element(type=plain, dtype=DTYPES[plain])
    if found := _VECTOR.fullmatch(plain):
        word = found[1].replace("longlong", "long long")
        of = DTYPES.get(word) or DTYPES.get(f"unsigned {word[1:]}", "")
        return Element(type=plain, dtype=of, count=int(found[2]))
    if plain in ("half2", "__half2", "__nv_bfloat162", "__hip_bfloat162"):
        return Element(type=plain, dtype="float16" if "half" in plain else "bfloat16", count=2)
    return Element(type=plain, dtype="")


def bare_type(text: str) -> str:
    plain = re.sub(r"[*&]", " ", _DROPPED.sub(" ", text.replace("std::", "")))
    return " ".join(plain.split()).removeprefix("::")
