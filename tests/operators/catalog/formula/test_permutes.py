"""Permutes and transposes of any axes, found in formulas: through LDS, right at random points."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluators.cuda import device as cuda
from evaluators.device import Device, backend
from evaluators.evaluate import compile_kernel
from evaluators.hip import device as hip
from evaluators.hip.hiprtc import HiprtcChild
from evaluators.measuring.evaluator import Evaluator
from evaluators.tasks.task import Task
from operators.catalog.families import families, random_params
from operators.catalog.formula.code import Unwritable
from operators.catalog.formula.permutes import permute_kernel
from operators.catalog.formula.trace import formula
from tests.operators.catalog.formula.tasks import written

DIMS = "[A, B, C, D]"
SHAPES = "[{A: 2, B: 5, C: 6, D: 37}, {A: 3, B: 8, C: 4, D: 16}]"
X = {"x": DIMS}

TURNED = [
    ("y = x.transpose(3, 2, 1, 0)", X, "[D, C, B, A]", "float16"),
    ("y = np.moveaxis(x, -1, 1)", X, "[A, D, B, C]", "bfloat16"),
    ("y = np.transpose(i, (0, 1, 3, 2))", {"i": DIMS}, "[A, B, D, C]", "float32"),
    ("y = np.swapaxes(x, 1, 3)[:, ::-1] * s + z", X | {"s": "[B]", "z": "[A, D, C, B]"},
     "[A, D, C, B]", "float32"),
    ("y = np.concatenate([x.transpose(0, 3, 1, 2), z.transpose(0, 3, 1, 2)], axis=3)",
     X | {"z": DIMS}, "[A, D, B, 2 * C]", "float32"),
    ("y = np.where(np.einsum('abcd->acdb', x) > 0, np.moveaxis(z, 1, 3), -1)",
     X | {"z": DIMS}, "[A, C, D, B]", "float32"),
    ("y = np.transpose(x[:, :, 1:, :], (3, 0, 1, 2))", X, "[D, A, B, C - 1]", "float64"),
]  # fmt: skip


@pytest.fixture(scope="module")
def device() -> Iterator[Device]:
    opened = backend("cpu").open_device(0)
    yield opened
    opened.close()


def permuting(
    folder: Path, body: str, inputs: dict[str, str], output: str, dtype: str = "float32"
) -> Task:
    body = f"{body}\nreturn {{'y': y}}"
    return written(folder / "t", body, inputs, output, SHAPES, dtype=dtype, dims=DIMS)


@pytest.mark.parametrize(
    ("body", "inputs", "output", "dtype"), TURNED, ids=[one[0] for one in TURNED]
)
def test_a_permute_of_any_axes_is_right_on_cpu(
    body: str, inputs: dict[str, str], output: str, dtype: str, device: Device, tmp_path: Path
) -> None:
    task = permuting(tmp_path, body, inputs, output, dtype)
    known = families(task)
    assert known.kind == "permute" and list(known.sources) == ["permute", "elements"]
    source = known.sources["permute"]
    drawn = {**random_params(source, np.random.default_rng(3)), "WIDE": 2, "TD": 16}
    evaluator = Evaluator(task=task, device=device, secret=5)
    for kernel in (source, source.with_params(drawn)):
        _, compiled = compile_kernel(kernel.text, task, backend("cpu").compiler(), "cpu")
        verdict = evaluator.verify(kernel, compiled, "tests")
        assert verdict.passed, f"{dict(kernel.params)}: {verdict.reason}"


EXPECTED = {
    "y = x + 1": "elements",
    "y = np.transpose(x, (0, 2, 1, 3))": "elements",  # rows stay whole
    "y = np.transpose(x, (1, 0, 2, 3)) * x[0, 0, 0, 0]": "elements",
    "y = np.transpose(x, (0, 1, 3, 2)).sum(axis=-1)": "rows",
}
OUTPUTS = ("[A, B, C, D]", "[A, C, B, D]", "[B, A, C, D]", "[A, B, D]")


@pytest.mark.parametrize(("body", "output"), [*zip(EXPECTED, OUTPUTS, strict=True)])
def test_what_keeps_its_rows_is_no_permute(body: str, output: str, tmp_path: Path) -> None:
    assert families(permuting(tmp_path, body, X, output)).kind == EXPECTED[body]


def test_an_input_that_is_written_is_not_turned_in_place(tmp_path: Path) -> None:
    task = permuting(tmp_path, "y = np.swapaxes(x, 2, 3)", X, "[A, B, D, C]")
    (given, output) = task.arguments
    inout = replace(task, arguments=(replace(given, role="inout"), output))
    found = formula(task)
    assert found is not None
    with pytest.raises(Unwritable, match="written"):
        permute_kernel(inout, found)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("arch", ["gfx942", "sm_90"])
def test_wide_accesses_compile_for_gpus(
    arch: str, dtype: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    task = permuting(tmp_path, *TURNED[3][:3], dtype)
    source = families(task).sources["permute"]
    kernel = source.with_params({**source.params, "WIDE": 4 if dtype == "float32" else 8})
    if arch == "sm_90":
        compiler, name = cuda.compiler(arch=arch), "cuda"
    else:
        child: HiprtcChild = request.getfixturevalue("gfx942")
        compiler, name = hip.compiler(arch=arch, child=child), "hip"
    _, compiled = compile_kernel(kernel.text, task, compiler, name)
    assert compiled.binaries
