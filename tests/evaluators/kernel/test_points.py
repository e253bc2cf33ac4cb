"""Kernels that differ in the values of params alone: read as points of one that is known."""

import pytest

from evaluators.evaluation import Rejected
from evaluators.kernel import source
from evaluators.kernel.source import KernelSource, parse_kernel

FILE = """/*---
launches:
  - kernel: scale
    grid: ["ceil_div(N, BX * T)"]
    block: [BX]
    args: [x, N]
params:{gap}{params}
space: {{BX: [32, 64, 128], T: [1, 2, 4]}}
constraints: ["BX * T <= 256"]
---*/
__global__ void scale(float* x, int N) {{ /* params: {{BX: 1}} */ }}
"""
GAPS = " ", "\n  "


def file(params: str, gap: str = " ") -> str:
    return FILE.format(params=params, gap=gap)


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    for kept in (source._REMEMBERED, source._SPACES):
        kept.clear()


def whole(text: str) -> KernelSource:
    return source._parse(text)


@pytest.mark.parametrize("gap", GAPS)
def test_a_point_is_what_reading_it_whole_makes_of_it(
    gap: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *others = (
        file(f"{{BX: {bx}, T: {t}}}", gap) for bx, t in ((32, 1), (128, 2), (64, 4), (32, -1))
    )
    expected = [whole(text) for text in others]
    parse_kernel(first)
    monkeypatch.setattr(source, "_parse", _never)
    for text, right in zip(others, expected, strict=True):
        found = parse_kernel(text)
        assert found == right and dict(found.meaning) == dict(right.meaning)
        assert found.grid == right.grid and found.front.lines == right.front.lines


@pytest.mark.parametrize(
    "params",
    [
        "{T: 2, BX: 64}",  # as they are written counts for nobody, but the text is the file's
        "{BX: 64,T: 2}",
        "{BX: 0x40, T: 2}",
        "{BX: 064, T: 2}",
        '{"BX": 64, T: 2}',
        "{BX: 64, T: 2, U: 1}",
        "{BX: 64}",
        "{BX: 64, BX: 32, T: 2}",
        "{BX: 128, T: 4}",
        "{BX: 99999999999, T: 1}",
        f"{{BX: {'9' * 5000}, T: 1}}",
        "{BX: 1_0, T: 2}",
        "{BX: 64, T: 2.0}",
        "{BX: 64, T: }",
        "{}",
    ],
)
def test_another_spelling_or_a_wrong_one_is_read_whole(params: str) -> None:
    def told(read: object) -> object:
        try:
            return read(file(params))  # type: ignore[operator]
        except Rejected as rejected:
            return rejected.status, str(rejected)

    expected = told(whole)
    parse_kernel(file("{BX: 32, T: 1}"))
    assert told(parse_kernel) == expected


def test_other_code_is_another_kernel() -> None:
    parse_kernel(file("{BX: 32, T: 1}"))
    changed = file("{BX: 32, T: 1}").replace("float* x, int N) {", "float* x, int N) { return;")
    assert parse_kernel(changed) == whole(changed)
    assert parse_kernel(changed).id != parse_kernel(file("{BX: 32, T: 1}")).id


def _never(text: str) -> KernelSource:
    raise AssertionError("it was read whole")


def test_kernels_of_one_structure_have_one_code() -> None:
    text = file("{BX: 64, T: 2}")
    assert source.code_id(text) == source.code_id(file("{BX: 32, T: 1}", "\n  "))
    assert source.code_id(text) == source.code_id(text.replace(" */ }", " */ }  \n"))
    assert source.code_id(text) != source.code_id(text.replace("float* x", "float* y"))
    with pytest.raises(Rejected, match="begins with its front matter"):
        source.code_id("__global__ void scale() {}")
