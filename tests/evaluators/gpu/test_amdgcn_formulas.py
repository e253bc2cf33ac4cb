"""The formulas of our headers for AMD GPUs, computed on a CPU against float64."""

import math
import re
from typing import Any

import numpy as np
import pytest

from evaluators.cpu.device import compiler, open_device
from evaluators.hip.clang import INCLUDE
from tests.evaluators.launching import launch, run

# Function, where it is taken, tolerances relative to and beside the exact result.
FORMULAS = [
    ("sinf", np.sin, (-1e5, 1e5), 0.0, 2e-6),
    ("cosf", np.cos, (-1e5, 1e5), 0.0, 2e-6),
    ("tanhf", np.tanh, (-12, 12), 5e-7, 0.0),
    ("sinhf", np.sinh, (-20, 20), 1e-6, 0.0),
    ("coshf", np.cosh, (-20, 20), 1e-6, 0.0),
    ("expm1f", np.expm1, (-20, 20), 1e-6, 0.0),
    ("log1pf", np.log1p, (-0.9, 9), 1e-6, 0.0),
    ("cbrtf", np.cbrt, (-1e6, 1e6), 5e-6, 0.0),
    ("erff", np.vectorize(math.erf), (-5, 5), 0.0, 5e-7),
    ("erfcf", np.vectorize(math.erfc), (-5, 5), 0.0, 5e-7),
    ("rsqrtf", lambda x: 1 / np.sqrt(x), (1e-40, 1e-3), 1e-6, 0.0),
    ("__expf", np.exp, (-20, 20), 5e-6, 0.0),
    ("__logf", np.log, (1.5, 1e6), 5e-6, 0.0),
]


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda formula: formula[0])
def test_formulas_on_a_cpu(formula: tuple[str, Any, tuple[float, float], float, float]) -> None:
    name, exact, (low, high), relative, absolute = formula
    near, wide = np.geomspace(1e-6, 1, 500), np.linspace(low, high, 3500)
    x = np.concatenate([near[(near > low) & (near < high)], wide]).astype(np.float32)
    # The header as a kernel's own functions; the GPU's instructions stand for what they compute.
    header = (INCLUDE / "amdgcn" / "ks" / "functions.h").read_text()
    header = re.sub(r'= delete\(".*"\)', "", header)
    header = header.replace("ks_", "formula_")  # no kernel's names may begin as our own do
    code = f"""
#define __builtin_amdgcn_sinf(x) __builtin_sinf((x) * 6.283185307179586f)
#define __builtin_amdgcn_cosf(x) __builtin_cosf((x) * 6.283185307179586f)
#define __builtin_amdgcn_exp2f __builtin_exp2f
#define __builtin_amdgcn_logf __builtin_log2f
#define __builtin_amdgcn_rsqf(x) (1.0f / __builtin_sqrtf(x))
namespace amd {{
{header}
}}
__global__ void f(const float* x, float* y, int n) {{
    for (int i = 0; i < n; ++i) y[i] = amd::{name}(x[i]);
}}"""
    arrays = {"x": x, "y": np.zeros_like(x)}
    found = run(open_device(0), compiler(), code, launch("f", ["x", "y", x.size]), arrays=arrays)
    wanted = exact(x.astype(np.float64))
    np.testing.assert_allclose(found["y"], wanted, rtol=relative, atol=absolute)
