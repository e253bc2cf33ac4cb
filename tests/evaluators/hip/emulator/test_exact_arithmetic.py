"""The arithmetic that expectations are made with agrees with numpy's, where numpy has it."""

import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.evaluators.hip.emulator.case import operands
from tests.evaluators.hip.emulator.floats import (
    BF16,
    F16,
    F32,
    F64,
    Format,
    add,
    divide,
    fma,
    mul,
)
from tests.evaluators.hip.emulator.values import inputs

DTYPES = {F16: np.float16, BF16: ml_dtypes.bfloat16, F32: np.float32, F64: np.float64}


def _columns(form: Format) -> list[Any]:
    given = operands(f"a={form.name} b={form.name}")
    columns = inputs(given, 1024, seed=1)
    mask = np.uint64((1 << form.bits) - 1)
    return [(column & mask).astype(f"u{form.bits // 8}") for column in columns]


@pytest.mark.parametrize("form", DTYPES, ids=lambda form: form.name)
@pytest.mark.parametrize(
    ("exact", "numpy"), [(add, np.add), (mul, np.multiply), (divide, np.divide)]
)
def test_one_operation_is_rounded_as_numpy_does(
    form: Format, exact: Callable[..., int], numpy: Callable[..., Any]
) -> None:
    a, b = _columns(form)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = numpy(a.view(DTYPES[form]), b.view(DTYPES[form])).view(a.dtype)
    for x, y, want in zip(a, b, wanted, strict=True):
        got = exact(form.decode(int(x)), form.decode(int(y)), form)
        assert got == want or (form.is_nan(got) and form.is_nan(int(want))), (x, y)


@pytest.mark.parametrize("wide", [F32, F64], ids=lambda form: form.name)
@pytest.mark.parametrize("narrow", [F16, F32], ids=lambda form: form.name)
def test_a_value_is_encoded_as_numpy_does(wide: Format, narrow: Format) -> None:
    column = _columns(wide)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = column.view(DTYPES[wide]).astype(DTYPES[narrow])
    for bits, want in zip(column, values.view(f"u{narrow.bits // 8}"), strict=True):
        got = narrow.encode(wide.decode(int(bits)))
        assert got == want or (narrow.is_nan(got) and narrow.is_nan(int(want)))


def test_a_fused_product_is_not_rounded_before_the_sum() -> None:
    tiny = F32.decode(F32.encode(2.0**-24))
    assert fma(1 + 2.0**-23, 1 + 2.0**-23, -1 - 2.0**-22, F32) == F32.encode(2.0**-46)
    assert fma(1.0, 1.0, tiny, F32) == F32.encode(1.0)
    assert fma(1.0, 1.0, tiny, F32, "up") == F32.encode(1 + 2.0**-23)
    assert fma(-1.0, 1.0, -tiny, F32, "up") == F32.encode(-1.0)
    assert fma(-1.0, 1.0, -tiny, F32, "down") == F32.encode(-1 - 2.0**-23)
    assert fma(1.0, -1.0, 1.0, F32) == 0
    assert fma(1.0, -1.0, 1.0, F32, "down") == F32.sign
