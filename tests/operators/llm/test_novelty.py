"""Near-duplicates, and what is not one."""

import pytest

from operators.llm.novelty import Novelty, shingles, similarity
from scripts.scripted_model.answers import TILED
from tests.operators.people import SEED, TILE, individual


def alike(first: str, second: str) -> float:
    return similarity(shingles(first), shingles(second), at_least=0.0)


def test_comments_and_blanks_make_no_difference() -> None:
    noisy = TILED.replace("// A tile", "// Another remark: a tile").replace("    ", "\t ")
    assert noisy != TILED
    assert alike(TILED, noisy) == 1.0


def test_front_matter_counts() -> None:
    assert 0.9 < alike(TILED, TILED.replace("TM: 2", "TM: 4")) < 0.995


def test_different_kernels_are_not_alike() -> None:
    assert alike(TILED, SEED.candidate.source) < 0.5


def test_repeated_code_is_not_taken_for_one_copy() -> None:
    line = "c[i] = a[i] + b[i]; "
    assert alike(line * 20, line * 40) < 0.7


@pytest.mark.parametrize(("threshold", "found"), [(0.995, True), (None, False)])
def test_the_filter_can_be_switched(threshold: float | None, found: bool) -> None:
    twin = Novelty(threshold).twin(TILED.replace("sum", "sum") + "// more\n", [SEED, TILE])
    assert (twin is not None) is found
    if twin:
        assert twin == (TILE.id, 1.0)


def test_a_long_kernel_with_one_number_changed_is_a_near_duplicate() -> None:
    body = "\n".join(f"    c[{i}] = a[{i}] * b[{i}] + {i}.0f;" for i in range(300))
    long = individual(TILED.replace("    int col0", body + "\n    int col0", 1))
    changed = long.candidate.source.replace("+ 7.0f", "+ 8.0f")
    assert Novelty(0.995).twin(changed, [SEED, long]) is not None
    assert Novelty(0.9999).twin(changed, [SEED, long]) is None
    assert Novelty(0.995).twin(TILED, [SEED, long]) is None
