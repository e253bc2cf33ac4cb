"""What the compiler makes of a kernel's loops is told in lines of its file, with what to try."""

import json
import re
from pathlib import Path

import pytest

from evaluators.cpu import device as cpu
from evaluators.cpu import fibers
from evaluators.cpu.diagnosis.causes import cause
from evaluators.cpu.diagnosis.remarks import read_clang, read_gnu
from evaluators.cpu.toolchain import toolchain
from evaluators.device import Compiled
from evaluators.evaluate import compile_shown
from evaluators.tasks.task_file import load_task
from operators.catalog.families import families
from operators.llm.prompts.diagnosis import LINES, diagnosis
from tests.evaluators.launching import compile_one, kernel, launch, plan

KERNELS = Path(__file__).parents[2] / "kernels"
SHIPPED = ("sgemm", "softmax", "transpose", "sum_reduction")
UP = "int i = 0; i < n; ++i"

# Loops that are not vectorised: head, body, and why, by g++ or clang.
REFUSED = {
    "leaves": (UP, "if (x[i] > 3.0f) break; y[i] = x[i];", "changes its course|isn't known"),
    "counts": ("int i = n; i > 1; i >>= 1", "y[i] = x[i];", "iterations isn't known"),
    "calls": (UP, "y[i] = powf(x[i], 1.5f);", "has no vector form"),
    "carries": ("int i = 1; i < n; ++i", "y[i] = y[i - 1] * 0.5f + x[i];", "another one writes"),
    "largest": (UP, "most = fmaxf(most, x[i]);", "needs the one before"),
    "outsiders": (UP, "*(volatile float*)(y + i) = x[i];", "volatile|no vector form"),
    "apart": (UP, "most += x[i * n];", "apart|no gain|the one before"),
}


def loop_kernel(name: str, head: str, body: str) -> str:
    """The loop stands in lines 4 to 6 of the kernel's eight."""
    return f"""__global__ void {name}(const float* __restrict__ x, float* __restrict__ y, int n) {{
    float most = x[0];
    n = n / 2;
    for ({head}) {{
        {body}
    }}
    y[n] = most;
}}
"""


def compiled(code: str, names: list[str], block: tuple[int, int, int] = (1, 1, 1)) -> Compiled:
    steps = [launch(name, ["x", "y", "n"], block=block) for name in names]
    return cpu.compiler().compile(kernel(code), [plan(*steps)])


def line_of(code: str, text: str) -> int:
    """In the kernel file, its front matter counted."""
    return 1 + next(i for i, one in enumerate(kernel(code).text.split("\n")) if text in one)


def said(made: Compiled, entry: int, *keys: str) -> str:
    return "\n".join(one for key in keys for one in made.resources[entry].get(key, ()))


def test_loops_that_are_not_vectorised_say_so_on_their_own_lines() -> None:
    code = "".join(loop_kernel(name, *case[:2]) for name, case in REFUSED.items())
    made = compiled(code, list(REFUSED))
    for i, (name, (_, _, why)) in enumerate(REFUSED.items()):
        if name == "calls" and toolchain().family != "g++":  # clang calls it once a lane
            continue
        line = line_of(code, f"void {name}(") + 3
        text = said(made, i, "advice")
        assert text.startswith(f"lines {line}-{line + 2}: the loop is not vectorised: "), name
        assert re.search(why, text) and "; try: " in text, (name, text)


def test_loops_that_are_vectorised_say_how_wide() -> None:
    code = loop_kernel("plain", UP, "y[i] = 2.0f * x[i];")
    code += """__device__ inline void scale(float* __restrict__ to, const float* from, int n) {
    for (int i = 0; i < n; ++i) to[i] = from[i] * 3.0f;
}
__global__ void within(const float* __restrict__ x, float* __restrict__ y, int n) {
    for (int row = 0; row < n; ++row)
        scale(y + row * n, x + row * n, n);
}
"""
    made = compiled(code, ["plain", "within"])
    line = line_of(code, "void plain(")
    wide = r" \(\d+ (bytes|lanes)\)"
    assert said(made, 0, "advice") == "" and said(made, 1, "advice") == ""
    assert re.search(f"vectorised: lines {line + 3}-{line + 5}{wide}", said(made, 0, "facts"))
    assert re.search(f"vectorised: line {line + 9}{wide}", said(made, 1, "facts"))


def test_regions_say_what_they_keep_and_whether_threads_are_vectors() -> None:
    code = """__global__ void cut(const float* __restrict__ x, float* __restrict__ y, int n) {
    __shared__ float s[64];
    float acc[4] = {};
    for (int k = 0; k < n; ++k) {
        s[threadIdx.x] = 2.0f * x[k * 64 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 4; ++j) acc[j] += s[(threadIdx.x + j) % 64];
        __syncthreads();
    }
    for (int j = 0; j < 4; ++j) y[j * 64 + threadIdx.x] = acc[j];
}
"""
    made = compiled(code, ["cut"], block=(64, 1, 1))
    assert "float acc[4] lives across barriers" in said(made, 0, "advice")
    assert "regions, each a loop over all threads" in said(made, 0, "facts")
    line = line_of(code, "2.0f * x")
    assert re.search(rf"line {line} \(threads, \d+ (bytes|lanes)\)", said(made, 0, "facts"))


def test_the_oracle_and_old_stores_have_none() -> None:
    code = loop_kernel("plain", UP, "y[i] = x[i];")
    oracle = cpu.compiler(engine=fibers.ENGINE)
    made = compile_one(oracle, code, launch("plain", ["x", "y", "n"]))
    assert "advice" not in made.resources[0]
    assert diagnosis(made) == ()


@pytest.mark.parametrize("name", SHIPPED)
def test_seeds_and_families_get_a_few_lines_that_can_be_stored(name: str) -> None:
    task = load_task(name)
    home = families(task).home
    assert home is not None
    _, made = compile_shown(families(task).sources[home].text, task, cpu.compiler(), "cpu")
    lines = diagnosis(made)
    assert 1 <= len(lines) <= LINES
    assert json.loads(json.dumps(made.resources)) == list(made.resources)


@pytest.mark.soak
@pytest.mark.parametrize("folder", sorted(one.name for one in (KERNELS / "tutorial").iterdir()))
def test_kernels_that_others_wrote_get_a_few_lines(folder: str) -> None:
    for seed in (KERNELS / "tutorial" / folder / "seeds").glob("*.hip"):
        task = load_task(str(KERNELS / "tutorial" / folder))
        _, made = compile_shown(seed.read_text(), task, cpu.compiler(), "cpu")
        assert 1 <= len(diagnosis(made)) <= LINES


def test_gnu_remarks() -> None:
    """A loop's reasons come ahead of it, the last behind it and under another place."""
    text = """\
/include/cpu/ks/entry.h:49:38: missed: couldn't vectorize loop
/include/cpu/ks/entry.h:49:38: missed: not vectorized: control flow in loop.
kernel.hip:9:21: missed:   function is not vectorizable.
kernel.hip:9:21: missed: couldn't vectorize loop
kernel.hip:10:4: missed: not vectorized: no vectype for stmt: _44 = *_50;
 scalar_type: const float
kernel.hip:12:8: missed:   reduc op not supported by target.
kernel.hip:12:8: optimized: loop vectorized using 64 byte vectors
kernel.hip:12:8: optimized: loop vectorized using 32 byte vectors
kernel.hip:13:3: missed: statement clobbers memory: _1 = __builtin_ia32_gathersiv16sf (_2);
kernel.hip:15:3: optimized: basic block part vectorized using 32 byte vectors
ks_threads:2001:40: missed: couldn't vectorize loop
/include/cpu/ks/fission.h:69:21: missed: not vectorized: complicated access pattern."""
    found = [(one.file, one.line, one.kind, one.width) for one in read_gnu(text)]
    assert found == [
        ("kernel.hip", 9, "missed", 0),
        ("kernel.hip", 12, "vectorised", 64),
        ("kernel.hip", 12, "vectorised", 32),
        ("kernel.hip", 13, "gathered", 0),
        ("kernel.hip", 15, "partly", 32),
        ("ks_threads", 2001, "missed", 0),
    ]
    first, *_, last = read_gnu(text)
    assert (why := cause(first.said)) is not None and "no vector form" in why.why
    assert "complicated access pattern" in last.said


def test_clang_remarks() -> None:
    text = """\
--- !Passed
Pass:            loop-vectorize
Name:            Vectorized
DebugLoc:        { File: kernel.hip, Line: 135, Column: 5 }
Function:        __ks_entry_0
Args:
  - String:          'vectorized '
  - VectorizationFactor: '16'
...
--- !AnalysisFPCommute
Pass:            loop-vectorize
Name:            CantReorderFPOps
DebugLoc:        { File: kernel.hip, Line: 116, Column: 20 }
Args:
  - String:          'loop not vectorized: cannot prove it is safe to reorder floating-point '
...
--- !Missed
Pass:            loop-vectorize
Name:            MissedDetails
DebugLoc:        { File: 'ks_threads', Line: 1002,
                   Column: 5 }
Args:
  - String:          loop not vectorized
...
"""
    vectorised, missed = read_clang(text)
    assert (vectorised.line, vectorised.kind, vectorised.width) == (135, "vectorised", 16)
    assert (missed.file, missed.line, missed.kind) == ("ks_threads", 1002, "missed")
    assert (why := cause(missed.said)) is not None and "the one before" in why.why


def test_what_is_outside_of_other_loops_is_not_blamed() -> None:
    assert cause("not vectorized: multiple nested loops.") is None
    assert cause("something that nobody has read yet") is not None
