"""Module globals are as after loading once a session forgot, on the double of HIP."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPT = """
import numpy as np
from evaluators.hip import device as hip
from evaluators.kernel.plan import Plan
from tests.evaluators.launching import DEADLINE_S, kernel, launch, plan
from tests.hip_double.twins import with_twins

device, compiler = hip.open_device(0), with_twins(hip.compiler())
KEEPERS = {
    "a counter": "__device__ int kept = 40; __device__ int next() { return kept++; }",
    "zeros": "__device__ int kept[900]; __device__ int next() { return 40 + kept[899]++; }",
    "static": "static __device__ int kept = 40; __device__ int next() { return kept++; }",
}
CODE = "__global__ void k(int *x) { x[0] = next(); } __global__ void set(int *x) { x[0] = next(); }"
steps = (launch("k", ["x"]), launch("set", ["x"]))
for name, keeper in KEEPERS.items():
    compiled = compiler.compile(kernel(keeper + CODE), [plan(*steps)])
    with device.open(compiled, memory_bytes=1 << 20) as session:
        x = session.alloc(4)
        def once(made, prepare=False):
            if prepare:
                session.run(made, {"x": x}, deadline_s=DEADLINE_S, prepare=True)
            else:
                session.time(made, [{"x": x}], deadline_s=DEADLINE_S)
            return int(session.read(x, np.dtype(np.int32), (1,))[0])
        plain = plan(steps[0])
        said = [once(plain), once(plain)]
        session.forget()
        said.append(once(plain))
        prepared = Plan(defines=(), steps=steps[:1], prepare=steps[1:], scratch={})
        if name != "static":
            said += [once(prepared, prepare=True), once(prepared)]
            session.forget()
            said += [once(prepared)]
            kept = session.variables()
            said += [once(prepared)]
            session.set_variables(kept)
            said += [once(prepared)]
        print(*said)
device.close()
"""


def test_a_session_forgets_what_its_modules_keep(double: pytest.MonkeyPatch) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "40 41 40 40 41 41 42 42",
        "40 41 40 40 41 41 42 42",
        "40 41 40",
    ]
