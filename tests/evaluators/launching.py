"""Short ways to write a kernel, a plan and a launch down in tests: those of the device's checks."""

from evaluators.acceptance.launching import (
    DEADLINE_S,
    MEMORY_BYTES,
    Array,
    compile_one,
    kernel,
    launch,
    plan,
    run,
    run_compiled,
)

__all__ = [
    "DEADLINE_S",
    "MEMORY_BYTES",
    "Array",
    "compile_one",
    "kernel",
    "launch",
    "plan",
    "run",
    "run_compiled",
]
