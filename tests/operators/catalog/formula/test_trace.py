"""Formulas read off references: confirmed by values, or given up without a word."""

from pathlib import Path

import pytest

from operators.catalog.formula.trace import formula, read
from operators.catalog.formula.traced import Untraceable
from tests.operators.catalog.formula.tasks import written

X = {"x": "[R, C]"}
XW = {"x": "[R, C]", "w": "[C]"}
XY = {"x": "[R, C]", "z": "[R, C]"}
FULL, ROW, TURNED = "[R, C]", "[R]", "[C, R]"

READ = [
    ("y = 2 * x + 1", X, FULL),
    ("y = np.exp(-np.abs(x)) / (1 + np.square(x))", X, FULL),
    ("y = np.tanh(x) * w", XW, FULL),
    ("y = np.maximum(x, 0) - np.minimum(x, w)", XW, FULL),
    ("y = np.where(x > 0, x, 0.1 * x)", X, FULL),
    ("y = np.clip(x, -0.5, 0.5)", X, FULL),
    ("y = x ** 2 + x ** 3", X, FULL),
    ("y = x.T", X, TURNED),
    ("y = np.transpose(x, (1, 0))", X, TURNED),
    ("y = np.swapaxes(x, 0, 1) + 1", X, TURNED),
    ("y = np.moveaxis(x, 0, 1)", X, TURNED),
    ("y = x.reshape(C, R)", X, TURNED),
    ("y = x.reshape(-1).reshape(R, C)", X, FULL),
    ("y = x[::-1]", X, FULL),
    ("y = np.flip(x, 1)", X, FULL),
    ("y = np.roll(x, 1, 1)", X, FULL),
    ("y = np.concatenate([x[:, 1:], x[:, :1]], axis=1)", X, FULL),
    ("y = np.stack([x[:, 0], x[:, 1]], axis=1).sum(axis=1)", X, ROW),
    ("y = x.sum(axis=1)", X, ROW),
    ("y = x.sum(1, keepdims=True) * x", X, FULL),
    ("y = np.mean(x, axis=-1)", X, ROW),
    ("y = x.var(axis=1)", X, ROW),
    ("y = np.std(x, axis=1, ddof=1)", X, ROW),
    ("y = x.max(1) - x.min(1)", X, ROW),
    ("y = np.prod(np.cos(x), axis=1)", X, ROW),
    ("y = (x > 0).sum(axis=1)", X, ROW),
    ("y = np.any(x > 2, axis=1) * 1.0", X, ROW),
    ("y = np.argmax(x, axis=1) * 1.0", X, ROW),
    ("y = x[np.arange(R), np.argmin(x, axis=1)]", X, ROW),
    ("y = np.cumsum(x, axis=1)", X, FULL),
    ("y = np.add.accumulate(x, axis=1)", X, FULL),
    ("y = np.maximum.accumulate(x, axis=1)", X, FULL),
    ("y = np.cumsum(x, axis=1) - x", X, FULL),
    ("y = x @ z.T @ z", XY, FULL),
    ("y = np.einsum('rc,rc->r', x, z)", XY, ROW),
    ("y = np.einsum('rc,c->rc', x, w)", XW, FULL),
    ("y = np.dot(x, w)", XW, ROW),
    ("y = np.outer(x[:, 0], w)", XW, FULL),
    ("y = np.tril(x)", X, FULL),
    ("y = x * np.tri(R, C)", X, FULL),
    ("y = np.where(np.arange(R)[:, None] >= np.arange(C)[None, :], x, 0)", X, FULL),
    ("y = np.where(np.tril(np.ones((R, C), bool)), x, -1)", X, FULL),
    ("y = np.zeros((R, C))\ny[:, 1:] = x[:, :-1]", X, FULL),
    ("y = np.empty_like(x)\ny[:, 0::2] = 1\ny[:, 1::2] = x[:, 1::2]", X, FULL),
    ("y = x.copy()\ny += 1\ny *= x", X, FULL),
    ("y = np.zeros(R)\nfor c in range(2):\n    y += x[:, c]", X, ROW),
    ("y = np.pad(x, ((0, 0), (1, 1)))[:, 2:]", X, FULL),
    ("y = np.pad(x, ((0, 0), (1, 0)), mode='edge')[:, :-1]", X, FULL),
    ("y = x / np.sqrt(C) + C / 2 + 1 / R", X, FULL),
    ("y = np.repeat(x[:, :1], C, axis=1)", X, FULL),
    ("y = np.broadcast_to(w, (R, C)) + x * 0", XW, FULL),
    ("y = np.take(x, i[:, 0], axis=1)", {"x": "[R, C]", "i": "[C, R]"}, FULL),
    ("y = w[i]", {"w": "[C]", "i": "[R, C]"}, FULL),
    ("y = np.take_along_axis(x, i, axis=1)", {"x": "[R, C]", "i": "[R, C]"}, FULL),
    ("y = x.astype(np.float64) + i.astype(float)", {"x": "[R, C]", "i": "[R, C]"}, FULL),
    ("from scipy.special import erf, expit\ny = erf(x) + expit(x)", X, FULL),
]


@pytest.mark.parametrize(("body", "inputs", "output"), READ, ids=[r[0] for r in READ])
def test_a_reference_is_read(
    body: str, inputs: dict[str, str], output: str, tmp_path: Path
) -> None:
    task = written(tmp_path / "t", f"{body}\nreturn {{'y': y}}", inputs, output)
    found = formula(task)
    assert found is not None
    assert [one.name for one in found.outputs] == ["y"]


@pytest.mark.parametrize(
    "body",
    [
        "y = np.sort(x, axis=1)",
        "y = np.linalg.inv(x @ x.T) @ x",
        "y = x if x[0, 0] > 0 else -x",
        "y = np.array([[float(v) for v in row] for row in x])",
        "y = x[x > 0]",
        "y = np.fft.fft(x).real",
        "y = np.vectorize(lambda v: v + 1)(x)",
        "y = x\nfor _ in range(3000):\n    y = y + np.roll(y, 1, 0)",
        "y = np.random.default_rng(0).random((R, C)) + x",
        "raise ValueError('not today')",
    ],
)
def test_what_is_no_formula_is_given_up(body: str, tmp_path: Path) -> None:
    task = written(tmp_path / "t", f"{body}\nreturn {{'y': y}}", X, FULL)
    assert formula(task) is None


def test_a_formula_that_changes_with_the_shape_is_not_believed(tmp_path: Path) -> None:
    body = "return {'y': x * 2 if C > 10 else x}"
    task = written(tmp_path / "t", body, X, FULL)
    assert read(task, task.workloads("tests", "cpu")[0]).outputs
    assert formula(task) is None


def test_sizes_keep_their_names(tmp_path: Path) -> None:
    body = "h = C // 2\nreturn {'y': np.concatenate([x[:, h:], x[:, :h]], axis=1)}"
    task = written(tmp_path / "t", body, X, FULL, "[{R: 5, C: 6}, {R: 3, C: 36}]")
    found = formula(task)
    assert found is not None
    (output,) = found.outputs
    assert "floor_divide(C, 2)" in repr(output.element)


def test_reading_gives_reasons(tmp_path: Path) -> None:
    task = written(tmp_path / "t", "return {'y': np.sort(x, axis=1)}", X, FULL)
    with pytest.raises(Untraceable, match="sort"):
        read(task, task.workloads("tests", "cpu")[0])


def test_equal_parts_are_computed_once(tmp_path: Path) -> None:
    body = "e = np.exp(x - x.max(1, keepdims=True))\nreturn {'y': e / e.sum(1, keepdims=True)}"
    task = written(tmp_path / "t", body, X, FULL)
    found = formula(task)
    assert found is not None
    assert len(found.outputs[0].element.reductions()) == 2
