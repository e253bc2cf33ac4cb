"""The types of elements and scalars: by name their numpy types and what C++ calls them."""

from collections.abc import Mapping
from typing import Any

import ml_dtypes
import numpy as np

DTYPES: Mapping[str, np.dtype[Any]] = {
    "float32": np.dtype(np.float32),
    "float16": np.dtype(np.float16),
    "bfloat16": np.dtype(ml_dtypes.bfloat16),
    "float8_e4m3fnuz": np.dtype(ml_dtypes.float8_e4m3fnuz),
    "int32": np.dtype(np.int32),
    "float64": np.dtype(np.float64),
    "float8_e5m2fnuz": np.dtype(ml_dtypes.float8_e5m2fnuz),
    "float8_e4m3fn": np.dtype(ml_dtypes.float8_e4m3fn),
    "float8_e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "bool": np.dtype(np.bool_),
    "int8": np.dtype(np.int8),
    "uint8": np.dtype(np.uint8),
    "int16": np.dtype(np.int16),
    "uint16": np.dtype(np.uint16),
    "uint32": np.dtype(np.uint32),
    "int64": np.dtype(np.int64),
    "uint64": np.dtype(np.uint64),
}
CPP: Mapping[str, str] = {
    "float32": "float",
    "float16": "__half",
    "bfloat16": "__hip_bfloat16",
    "float8_e4m3fnuz": "__hip_fp8_e4m3_fnuz",
    "int32": "int32_t",
    "float64": "double",
    "float8_e5m2fnuz": "__hip_fp8_e5m2_fnuz",
    "float8_e4m3fn": "__hip_fp8_e4m3",
    "float8_e5m2": "__hip_fp8_e5m2",
    "bool": "bool",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "uint32": "uint32_t",
    "int64": "int64_t",
    "uint64": "uint64_t",
}
SCALARS = tuple(name for name in DTYPES if not name.startswith("float8"))
"""Those that a kernel may be given by value."""

Value = bool | int | float
"""Of an attribute."""


def is_floating(dtype: np.dtype[Any]) -> bool:
    """Whether it holds numbers with exponents; ml_dtypes' are of no kind to numpy."""
    return dtype.kind not in "biu"


def float_info(dtype: np.dtype[Any]) -> Any:
    """numpy's finfo, of ml_dtypes' types too: eps, tiny, max, smallest_subnormal, nmant."""
    return ml_dtypes.finfo(dtype)  # type: ignore[no-untyped-call]


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """In which what should come out is compared: float64, int64, of uint64 itself."""
    if is_floating(dtype):
        return np.dtype(np.float64)
    return dtype if dtype == np.uint64 else np.dtype(np.int64)


def given_as(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """In which a reference is given inputs: as wide(); bool stays bool, so that ~ is not."""
    return dtype if dtype == np.bool_ else wide(dtype)
