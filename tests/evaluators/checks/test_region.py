"""Guards, poison and inputs of a region: every trespass is named."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from evaluators.checks.region import ALIGNMENT, GUARD_BYTES, Image, Region, noise, poison_byte
from evaluators.checks.span import Part
from evaluators.device import Buffer
from evaluators.evaluate import evaluate_file
from evaluators.evaluation import Rejected, Status
from evaluators.tasks.task_file import load_task

TASK = load_task("sgemm")
WORKLOAD = TASK.workloads("tests", "cpu")[2]  # ragged


@pytest.fixture
def region() -> Region:
    return Region.of_arguments(TASK, WORKLOAD)


@pytest.fixture
def before(region: Region) -> Image:
    rng = np.random.default_rng(3)
    return region.image(TASK.inputs(WORKLOAD, 7), rng)


def test_spans_are_aligned_and_surrounded_by_guards(region: Region) -> None:
    assert [span.name for span in region.spans] == ["a", "b", "c"]
    assert all(span.start % ALIGNMENT == 0 for span in region.spans)
    assert all(stop - start >= GUARD_BYTES for start, stop in region.guards())
    assert region.guards()[-1][1] == region.nbytes


def test_an_image_holds_inputs_poison_and_random_guards(region: Region, before: Image) -> None:
    a, _, c = region.spans
    inputs = TASK.inputs(WORKLOAD, 7)
    np.testing.assert_array_equal(before[a.start : a.stop].view(np.float32), inputs["a"].ravel())
    assert np.isnan(before[c.start : c.stop].view(np.float32)).all()
    guard = before[slice(*region.guards()[0])]
    assert len(np.unique(guard)) > 200
    other = region.image(inputs, np.random.default_rng(4))
    assert not np.array_equal(guard, other[slice(*region.guards()[0])])


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
def test_poison_is_nan_in_every_float(dtype: type) -> None:
    assert poison_byte(np.dtype(dtype)) == 0xFF
    assert np.isnan(np.full(8, 0xFF, np.uint8).view(dtype).astype(np.float64)).all()


def test_poison_is_the_one_nan_of_fnuz_float8() -> None:
    dtype = np.dtype(ml_dtypes.float8_e4m3fnuz)
    poisoned = np.full(8, poison_byte(dtype), np.uint8).view(dtype)
    assert np.isnan(poisoned.astype(np.float64)).all()


def test_writing_the_output_alone_is_right(region: Region, before: Image) -> None:
    after = before.copy()
    c = region.spans[2]
    after[c.start : c.stop] = 1
    region.inspect(before, after)


@pytest.mark.parametrize(
    ("span", "offset", "message"),
    [
        (2, "past", r"wrote past the end of c \(index 2145 of 2145, flat\)"),
        (1, "past", r"wrote past the end of b"),
        (0, "before", r"wrote before the start of a \(index -1, flat\)"),
        (2, "before", r"wrote before the start of c \(index -1, flat\)"),
    ],
)
def test_a_trespass_is_named(
    region: Region, before: Image, span: int, offset: str, message: str
) -> None:
    after = before.copy()
    at = region.spans[span].stop if offset == "past" else region.spans[span].start - 4
    after[at] ^= 0xFF
    with pytest.raises(Rejected) as caught:
        region.inspect(before, after)
    assert caught.value.status is Status.WRONG
    assert re.search(message, caught.value.reason)


def test_a_changed_input_is_named_with_its_first_element(region: Region, before: Image) -> None:
    after = before.copy()
    after[region.spans[0].start + 4 * (17 * 2 + 5)] ^= 1
    with pytest.raises(Rejected, match=re.escape("changed its input a (first at a[2, 5])")):
        region.inspect(before, after)


def test_outputs_are_views_by_name(region: Region, before: Image) -> None:
    values = region.values(before)
    assert list(values) == ["c"]
    assert values["c"].shape == (33, 65)
    assert values["c"].dtype == np.float32


def test_buffers_are_views_of_the_base(region: Region) -> None:
    buffers = region.buffers(Buffer(4096, region.nbytes))
    assert buffers["a"] == Buffer(4096 + region.spans[0].start, 33 * 17 * 4, read_only=True)


def test_no_guard_holds_what_another_one_does(region: Region) -> None:
    """Or a kernel that copies what lies beyond its input to beyond its output changed nothing."""
    bytes_ = noise(np.random.default_rng(1))
    scratch = Region.of([Part.of_scratch("s", 4096), Part.of_scratch("t", 512)], own=1)
    guards = [window[-GUARD_BYTES:] for r in (region, scratch) for *_, window in r.noisy(bytes_)]
    heads = [window[:16].tobytes() for r in (region, scratch) for *_, window in r.noisy(bytes_)]
    assert len({guard.tobytes() for guard in guards}) == len(guards) == 7
    assert len(set(heads)) == 7
    for start, stop, window in region.noisy(bytes_):
        assert window.size == stop - start


COPIES = """
description: y = x
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 0, atol: 0}
tests: [{N: 100}]
benchmarks: [{N: 300}]
"""
COPY = """/*---
launches: [{kernel: copy, grid: ["ceil_div(N, 64)"], block: [64], args: [x, y, N]}]
---*/
__global__ void copy(const float* x, float* y, int N) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < N) y[i] = x[i];
}
"""


def test_what_is_copied_past_an_end_is_found(tmp_path: Path) -> None:
    (tmp_path / "seeds").mkdir()
    (tmp_path / "task.yaml").write_text(COPIES)
    (tmp_path / "reference.py").write_text("def reference(x, N):\n    return {'y': x}\n")
    (tmp_path / "seeds" / "naive.hip").write_text(COPY)
    wrong = tmp_path / "wrong.hip"
    wrong.write_text(COPY.replace("i < N", "i <= N"))
    found = evaluate_file(wrong, load_task(tmp_path), "cpu")
    assert found.status is Status.WRONG
    assert "wrote past the end of y (index 100 of 100, flat)" in found.reason
