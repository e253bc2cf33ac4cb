"""How arguments of a launch lie in memory: sizes, alignments and bytes, by C's rules on 64 bits."""

import struct
from collections.abc import Callable

import numpy as np

from evaluators.dtypes import DTYPES, is_floating
from evaluators.kernel.plan import Given, Null, Scalar, Struct

POINTER_BYTES = 8
Address = Callable[[str], int]


def alignment(given: Given) -> int:
    match given:
        case Scalar():
            return DTYPES[given.type].itemsize
        case Struct():
            return max((alignment(field) for field in given.fields), default=1)
        case _:
            return POINTER_BYTES


def size(given: Given) -> int:
    """An empty struct has one byte."""
    match given:
        case Scalar():
            return DTYPES[given.type].itemsize
        case Struct():
            end = places(given)[-1] + size(given.fields[-1]) if given.fields else 1
            return _aligned(end, alignment(given))
        case _:
            return POINTER_BYTES


def places(given: Struct) -> list[int]:
    """Where each field begins, in bytes."""
    found, at = [], 0
    for field in given.fields:
        at = _aligned(at, alignment(field))
        found.append(at)
        at += size(field)
    return found


def packed(given: Given, address: Address) -> bytes:
    """Its bytes. address: of a buffer by its name; what lies between fields is zero."""
    match given:
        case str():
            return struct.pack("=Q", address(given))
        case Null():
            return bytes(POINTER_BYTES)
        case Scalar():
            return np.array(given.value, DTYPES[given.type]).tobytes()
        case Struct():
            made = bytearray(size(given))
            for at, field in zip(places(given), given.fields, strict=True):
                made[at : at + size(field)] = packed(field, address)
            return bytes(made)


def pointers(given: Given) -> list[int]:
    """Where in its bytes an address of a buffer stands."""
    match given:
        case str():
            return [0]
        case Struct():
            fields = zip(places(given), given.fields, strict=True)
            return [at + inner for at, field in fields for inner in pointers(field)]
        case _:
            return []


def told(given: Given) -> str:
    """What it is, for a person."""
    match given:
        case Scalar():
            return given.type
        case Struct():
            return "struct"
        case _:
            return "pointer"


def kind(type_: str) -> str:
    """Of a scalar's type: what is passed alike. Of integers the sign makes no difference."""
    dtype = DTYPES[type_]
    return type_ if is_floating(dtype) or type_ == "bool" else f"int{8 * dtype.itemsize}"


def _aligned(at: int, to: int) -> int:
    return -(-at // to) * to
