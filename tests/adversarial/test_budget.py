"""Error budgets on tasks nobody has seen: honest arithmetic of many styles keeps to half of them,
and arithmetic of lower precision is found, whatever the task computes."""

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.adversarial.numpy_kernels import Array, Bench, Kernel, write_task

f32 = np.float32


def bf16(x: Array) -> Array:
    return x.astype(ml_dtypes.bfloat16).astype(f32)


def half(x: Array) -> Array:
    return x.astype(np.float16).astype(f32)


def kept(x: Array, bits: int) -> Array:
    """Rounded to so many bits of mantissa."""
    drop = 23 - bits
    word: Array = np.ascontiguousarray(x, dtype=f32).view(np.uint32).astype(np.uint64)
    word = (word + (1 << (drop - 1))) >> drop << drop
    return word.astype(np.uint32).view(f32)


def tf32(x: Array) -> Array:
    return kept(x, 10)


def running(x: Array, axis: int = -1) -> Array:
    """Sums from left to right in float32."""
    return np.cumsum(x, axis=axis, dtype=f32)


def total(x: Array) -> Array:
    return running(x)[..., -1:]


def strided(x: Array) -> Array:
    """Each of 32 lanes sums every 32nd element, then a tree."""
    padded = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, -x.shape[-1] % 32)])
    lanes = running(padded.reshape(*x.shape[:-1], -1, 32), -2)[..., -1, :]
    return np.asarray(np.sum(lanes, axis=-1, keepdims=True, dtype=f32))


def short_sums(x: Array) -> Array:
    """Accumulators of 16 bits of mantissa."""
    sums = np.zeros((*x.shape[:-1], 1), f32)
    for i in range(x.shape[-1]):
        sums = kept(sums + x[..., i : i + 1], 16)
    return sums


def layer_norm(x: Array, add: Any = total, inn: Any = f32, root: Any = np.sqrt) -> Array:
    x = np.asarray(inn(x))
    n = f32(x.shape[-1])
    centred = x - add(x) / n
    return np.asarray(centred / root(add(centred * centred) / n + f32(1e-5)))


def one_pass(x: Array) -> Array:
    """Mean and variance from running ones (Welford)."""
    mean: Array = np.zeros((len(x), 1), f32)
    m2: Array = np.zeros((len(x), 1), f32)
    for i in range(x.shape[1]):
        delta = x[:, i : i + 1] - mean
        mean = mean + delta / f32(i + 1)
        m2 = m2 + delta * (x[:, i : i + 1] - mean)
    return np.asarray((x - mean) / np.sqrt(m2 / f32(x.shape[1]) + f32(1e-5)))


def dots(x: Array, y: Array, add: Any = total, inn: Any = f32, product: Any = f32) -> Array:
    return np.asarray(add(product(np.asarray(inn(x)) * y))[..., 0])


def product(a: Array, b: Array, chunk: int = 1, part: Any = f32, fold: Any = f32) -> Array:
    """float32 sums over chunks of halves' products; then the chunks' sums together."""
    a, b = a.astype(f32), b.astype(f32)
    step = -(-a.shape[1] // chunk)
    sums = np.zeros((a.shape[0], b.shape[1]), f32)
    for k in range(0, a.shape[1], step):
        inner = np.zeros_like(sums)
        for i in range(k, min(k + step, a.shape[1])):
            inner = np.asarray(fold(inner + a[:, i : i + 1] * b[i : i + 1]))
        sums = sums + np.asarray(part(inner))
    return sums


def scan_by_tiles(x: Array, part: Any = f32) -> Array:
    padded = np.pad(x, (0, -len(x) % 16)).reshape(-1, 16)
    inner = running(padded)
    before = np.concatenate([np.zeros(1, f32), running(np.asarray(part(inner[:-1, -1])))])
    return np.asarray((inner + before[:, None]).reshape(-1)[: len(x)])


def gelu(x: Array, tanh: Any = np.tanh, inn: Any = f32) -> Array:
    x = np.asarray(inn(x))
    inner = f32(0.7978845608) * (x + f32(0.044715) * x * x * x)
    return f32(0.5) * x * (f32(1) + np.asarray(tanh(inner), dtype=f32))


def tanh_by_exp(x: Array, off: float = 0.0) -> Array:
    """off: the relative error of exp."""
    return f32(1) - f32(2) / (np.exp(f32(2) * x) * f32(1 + off) + f32(1))


def tanh_rational(x: Array) -> Array:
    """A short quotient, as quick kernels take it."""
    x = np.clip(x, -3, 3)
    return np.asarray(x * (f32(27) + x * x) / (f32(27) + f32(9) * x * x))


TASKS: dict[str, tuple[str, str, Kernel, dict[str, Kernel], dict[str, Kernel]]] = {
    "LayerNorm": (
        """
dims: [R, C]
arguments:
  - {name: x, dtype: float32, shape: [R, C], role: in}
  - {name: y, dtype: float32, shape: [R, C], role: out, rtol: 1.0e-3, atol: 1.0e-3}
tests: [{R: 5, C: 40}, {R: 17, C: 301}]
""",
        """
def reference(x, R, C):
    d = x - x.mean(1, keepdims=True)
    return {"y": d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5)}
""",
        layer_norm,
        {
            "lanes and a tree": lambda x: layer_norm(x, strided),
            "Welford": one_pass,
            "in double": lambda x: layer_norm(x, inn=np.float64),
            "times the inverse root": lambda x: layer_norm(x, root=lambda v: 1 / (1 / np.sqrt(v))),
        },
        {
            "bf16 inputs": lambda x: layer_norm(x, inn=bf16),
            "tf32 inputs": lambda x: layer_norm(x, inn=tf32),
            "14 bits": lambda x: layer_norm(x, inn=lambda v: kept(v, 14)),
            "sums of 16 bits": lambda x: layer_norm(x, short_sums),
            "a root of 14 bits": lambda x: layer_norm(x, root=lambda v: kept(np.sqrt(v), 14)),
            "bounded inputs": lambda x: layer_norm(x, inn=lambda v: np.clip(v, -8, 8)),
        },
    ),
    "dot products": (
        """
dims: [R, C]
arguments:
  - {name: x, dtype: float32, shape: [R, C], role: in}
  - {name: y, dtype: float32, shape: [R, C], role: in}
  - {name: d, dtype: float32, shape: [R], role: out, rtol: 1.0e-3, atol: "1e-4 * C"}
tests: [{R: 3, C: 50}, {R: 40, C: 333}]
""",
        'def reference(x, y, R, C):\n    return {"d": (x * y).sum(1)}\n',
        dots,
        {
            "lanes and a tree": lambda x, y: dots(x, y, strided),
            "from the right": lambda x, y: dots(x[:, ::-1], y[:, ::-1]),
            "in double": lambda x, y: dots(x, y, inn=np.float64, product=np.float64),
            "pairwise": lambda x, y: (x * y).sum(1),
        },
        {
            "bf16, one side": lambda x, y: dots(x, y, inn=bf16),
            "tf32, one side": lambda x, y: dots(x, y, inn=tf32),
            "14 bits, one side": lambda x, y: dots(x, y, inn=lambda v: kept(v, 14)),
            "products of 14 bits": lambda x, y: dots(x, y, product=lambda v: kept(v, 14)),
            "sums of 16 bits": lambda x, y: dots(x, y, short_sums),
            "bounded products": lambda x, y: dots(x, y, product=lambda v: np.clip(v, -30, 30)),
        },
    ),
    "product of halves": (
        """
dims: [M, N, K]
arguments:
  - {name: a, dtype: float16, shape: [M, K], role: in}
  - {name: b, dtype: float16, shape: [K, N], role: in}
  - {name: c, dtype: float16, shape: [M, N], role: out, rtol: 2.0e-2, atol: 2.0e-2}
tests: [{M: 9, N: 33, K: 64}, {M: 20, N: 31, K: 300}]
""",
        'def reference(a, b, M, N, K):\n    return {"c": a @ b}\n',
        product,
        {
            "in four parts": lambda a, b: product(a, b, 4),
            "in tiles of 16": lambda a, b: product(a, b, -(-a.shape[1] // 16)),
            "in double": lambda a, b: a.astype(np.float64) @ b.astype(np.float64),
            "cut off, not rounded": lambda a, b: _cut_off(product(a, b)),
        },
        {
            "half accumulators": lambda a, b: product(a, b, fold=half),
            "half partial sums": lambda a, b: product(a, b, 4, part=half),
            "bf16 partial sums": lambda a, b: product(a, b, 4, part=bf16),
            "bf16 inputs": lambda a, b: product(bf16(a.astype(f32)), b),
        },
    ),
    "prefix sum": (
        """
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: s, dtype: float32, shape: [N], role: out, rtol: 1.0e-3, atol: 1.0e-3}
tests: [{N: 77}, {N: 900}]
""",
        'def reference(x, N):\n    return {"s": np.cumsum(x)}\n',
        running,
        {
            "by tiles": scan_by_tiles,
            "in double": lambda x: np.cumsum(x, dtype=np.float64),
            "from two halves": lambda x: np.concatenate(
                [
                    running(x[: len(x) // 2]),
                    running(x[: len(x) // 2])[-1] + running(x[len(x) // 2 :]),
                ]
            ),
        },
        {
            "bf16": lambda x: running(bf16(x)),
            "tf32": lambda x: running(tf32(x)),
            "14 bits": lambda x: running(kept(x, 14)),
            "tiles' sums of 16 bits": lambda x: scan_by_tiles(x, lambda v: kept(v, 16)),
        },
    ),
    "gelu": (
        """
dims: [N]
arguments:
  - {name: x, dtype: float32, shape: [N], role: in}
  - {name: y, dtype: float32, shape: [N], role: out, rtol: 1.0e-2, atol: 1.0e-3}
tests: [{N: 100}, {N: 5000}]
""",
        """
def reference(x, N):
    return {"y": 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x**3)))}
""",
        gelu,
        {
            "tanh by exp": lambda x: gelu(x, tanh_by_exp),
            "in double": lambda x: gelu(x, inn=np.float64),
            "exp of a few ulps": lambda x: gelu(x, lambda v: tanh_by_exp(v, 2.4e-7)),
        },
        {
            "bf16 inputs": lambda x: gelu(x, inn=bf16),
            "tf32 inputs": lambda x: gelu(x, inn=tf32),
            "14 bits": lambda x: gelu(x, inn=lambda v: kept(v, 14)),
            "a short quotient": lambda x: gelu(x, tanh_rational),
            "tanh in half": lambda x: gelu(x, lambda v: half(np.tanh(v))),
        },
    ),
}


def _cut_off(x: Array) -> Array:
    """To float16, towards zero."""
    near = x.astype(np.float16)
    away = np.abs(near.astype(f32)) > np.abs(x)
    return np.where(away, np.nextafter(near, np.float16(0)), near)


@pytest.fixture(scope="module")
def benches(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Bench]:
    return {
        name: Bench(write_task(tmp_path_factory.mktemp("tasks") / "t", yaml, reference), naive, 7)
        for name, (yaml, reference, naive, _, _) in TASKS.items()
    }


@pytest.mark.parametrize(
    ("task", "style"), [(task, style) for task, parts in TASKS.items() for style in parts[3]]
)
def test_honest_arithmetic_keeps_to_its_budget(
    task: str, style: str, benches: dict[str, Bench]
) -> None:
    assert benches[task].worst(TASKS[task][3][style]) < 0.7


@pytest.mark.parametrize("task", TASKS)
def test_the_naive_kernel_itself_keeps_to_its_budget(task: str, benches: dict[str, Bench]) -> None:
    assert benches[task].worst(TASKS[task][2]) < 0.5


@pytest.mark.parametrize(
    ("task", "style"), [(task, style) for task, parts in TASKS.items() for style in parts[4]]
)
def test_less_exact_arithmetic_does_not(task: str, style: str, benches: dict[str, Bench]) -> None:
    assert benches[task].worst(TASKS[task][4][style]) == float("inf")
