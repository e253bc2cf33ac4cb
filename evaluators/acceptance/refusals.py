"""The device contract's other half: what must be refused, and faults that must be told apart."""

import numpy as np

from evaluators.acceptance.apart import Apart, run_apart
from evaluators.acceptance.launching import DEADLINE_S, compile_one, kernel, launch, plan, run
from evaluators.acceptance.trial import (
    Broken,
    Skipped,
    expect_refusal,
    expect_rejected,
    expect_that,
)
from evaluators.device import Compiler, Device
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import LaunchStep, Scalar

SCALE = """
__global__ void scale(float *x, float factor, int n) {
    for (int i = 0; i < n; ++i) x[i] *= factor;
}"""
LDS = """
template <int N> __device__ float sum(const float *x, int n) {
    __shared__ float s[N];
    float total = 0;
    for (int i = 0; i < n; ++i) s[(i * 7) % N] = x[i];
    for (int i = 0; i < n; ++i) total += s[(i * 5) % N];
    return total;
}
template <int N> __global__ void k(float *x, int n) { x[0] = sum<N>(x, n); }"""


def compile_error_has_line_reason_and_log(device: Device, compiler: Compiler) -> None:
    broken = kernel("__global__ void k(float *x) {\n    x[0] = nonsense;\n}")
    try:
        compiler.compile(broken, [plan(launch("k", ["x"]))])
    except Rejected as rejected:
        words = ("nonsense", f"line {broken.code_line + 2}:")
        expect_refusal(rejected.status, rejected.reason, Status.COMPILE_ERROR, *words)
        expect_that("nonsense" in rejected.log, "the compiler's log lacks the error")
        return
    raise Broken("code that does not compile was accepted")


def launch_of_a_kernel_that_is_not_there(device: Device, compiler: Compiler) -> None:
    with expect_rejected(Status.COMPILE_ERROR, "missing"):
        compile_one(compiler, SCALE, launch("missing", ["x"]))


def arguments_must_fit(device: Device, compiler: Compiler) -> None:
    cases: tuple[tuple[list[str | int | float | Scalar], list[str]], ...] = (
        (["x", 2.0], ["takes 3 arguments", "gives 2"]),
        (["x", 2, 5], ["argument 2", "int32", "float32"]),
        (["x", "x", 5], ["argument 2", "pointer"]),
        (["x", 2.0, Scalar(value=1, type="int64")], ["argument 3", "int64"]),
    )
    for args, words in cases:
        with expect_rejected(Status.LAUNCH_ERROR, "scale", *words):
            _run(device, compiler, SCALE, launch("scale", args), floats=1)


def too_many_threads(device: Device, compiler: Compiler) -> None:
    step = launch("k", [], block=(1024, 2, 1))
    with expect_rejected(Status.LAUNCH_ERROR, "2048", "1024"):
        run(device, compiler, "__global__ void k() {}", step, arrays={})


def too_much_static_lds(device: Device, compiler: Compiler) -> None:
    """On NVIDIA the compiler itself refuses more than 48 KiB."""
    limit = 48 << 10 if device.info.backend == "cuda" else device.info.lds_bytes
    with expect_rejected(Status.LAUNCH_ERROR, "65540", str(limit), "k<16385>"):
        _run(device, compiler, LDS, launch("k<16385>", ["x", 4]), floats=4)


def too_much_lds_in_all(device: Device, compiler: Compiler) -> None:
    limit = device.info.lds_bytes
    for floats, dynamic in ((8192, limit - 32764), (1, limit)):
        total = 4 * floats + dynamic
        with expect_rejected(Status.LAUNCH_ERROR, str(total), str(limit), f"k<{floats}>"):
            step = launch(f"k<{floats}>", ["x", 4], lds_bytes=dynamic)
            _run(device, compiler, LDS, step, floats=4)


def out_of_memory(device: Device, compiler: Compiler) -> None:
    """Beyond what the session was given, and what it holds afterwards still works."""
    step = launch("scale", ["x", 2.0, 1])
    with device.open(compile_one(compiler, SCALE, step), memory_bytes=1 << 20) as session:
        x = session.alloc(1 << 19)
        with expect_rejected(Status.LAUNCH_ERROR, "out of memory", "1,048,576"):
            session.alloc(1 << 20)
        session.fill(x, 0)
        session.run(plan(step), {"x": x}, deadline_s=DEADLINE_S)


def more_memory_than_there_is(device: Device, compiler: Compiler) -> None:
    """The device itself refuses what its limit would have allowed."""
    if not device.info.judges_on_device:
        raise Skipped("on cpu memory is taken when it is first touched")
    step = launch("scale", ["x", 2.0, 1])
    huge = 1 << 44
    with (
        expect_rejected(Status.LAUNCH_ERROR, "memory"),
        device.open(compile_one(compiler, SCALE, step), memory_bytes=huge) as session,
    ):
        session.alloc(huge)


def a_fault_is_told_apart(device: Device, compiler: Compiler) -> None:
    """In a process that has just run the same kernel well."""
    well, badly = (launch("scale", ["x", 1.0, n]) for n in (1, 1_000_000_000))
    compiled = compile_one(compiler, SCALE, well, badly)
    with Apart(device.info.backend) as apart:
        first, ended = (
            apart.run(compiled, plan(step), nbytes={"x": 256}, deadline_s=DEADLINE_S)
            for step in (well, badly)
        )
    expect_that(first.status is Status.PASSED, f"a good launch: {first.status}, {first.reason}")
    words = () if device.info.private_process else ("SIGSEGV", "past the end of x")
    expect_refusal(ended.status, ended.reason, Status.CRASHED, *words)


def endless_loop_meets_the_deadline(device: Device, compiler: Compiler) -> None:
    step = launch("k", ["go"])
    code = "__global__ void k(volatile int *go) { while (!*go) {} }"
    ended = run_apart(compile_one(compiler, code, step), plan(step), nbytes=4, deadline_s=0.3)
    expect_refusal(ended.status, ended.reason, Status.TIMEOUT, "0.3 s")


def _run(device: Device, compiler: Compiler, code: str, step: LaunchStep, *, floats: int) -> None:
    run(device, compiler, code, step, arrays={"x": np.zeros(floats, np.float32)})


REFUSALS = (
    compile_error_has_line_reason_and_log,
    launch_of_a_kernel_that_is_not_there,
    arguments_must_fit,
    too_many_threads,
    too_much_static_lds,
    too_much_lds_in_all,
    out_of_memory,
    more_memory_than_there_is,
    a_fault_is_told_apart,
    endless_loop_meets_the_deadline,
)
