"""Task folders written for a test: a reference of one line, and arguments by shape."""

from collections.abc import Mapping
from pathlib import Path

from evaluators.tasks.task import Task
from evaluators.tasks.task_file import load_task

HEAD = "import numpy as np\n\n\ndef reference({names}, **dims):\n"


def written(
    folder: Path,
    body: str,
    inputs: Mapping[str, str],
    output: str,
    shapes: str = "[{R: 5, C: 6}, {R: 3, C: 35}]",
    *,
    dtype: str = "float32",
    dims: str = "[R, C]",
) -> Task:
    """A task whose reference is body, with y its output; integer inputs are called i..."""
    (folder / "seeds").mkdir(parents=True)
    lines = []
    for name, shape in inputs.items():
        integer = name.startswith("i")
        drawn = ", distribution: {kind: integers, low: 0, high: 5}" if integer else ""
        kind = "int32" if integer else dtype
        lines.append(f"  - {{name: {name}, dtype: {kind}, shape: {shape}, role: in{drawn}}}\n")
    lines.append(
        f"  - {{name: y, dtype: {dtype}, shape: {output}, role: out, rtol: 1.0e-4, atol: 1.0e-4}}\n"
    )
    (folder / "task.yaml").write_text(
        f"dims: {dims}\narguments:\n{''.join(lines)}tests: {shapes}\nbenchmarks: {shapes}\n"
    )
    text = "\n".join(f"    {line}" for line in body.splitlines())
    names = ", ".join([*inputs, *dims.strip("[]").replace(" ", "").split(",")])
    (folder / "reference.py").write_text(HEAD.format(names=names) + text + "\n")
    (folder / "seeds" / "naive.hip").write_text(
        "/*---\nlaunches:\n  - {kernel: f, grid: [1], block: [1], args: []}\n---*/\n"
        "__global__ void f() {}\n"
    )
    return load_task(folder)


def turned(folder: Path) -> Task:
    """Matrices, each of them transposed."""
    shapes = "[{B: 2, R: 5, C: 6}, {B: 3, R: 4, C: 35}]"
    body = "return {'y': np.swapaxes(x, 1, 2)}"
    return written(folder, body, {"x": "[B, R, C]"}, "[B, C, R]", shapes, dims="[B, R, C]")
