"""The commands whose subject is one kernel file."""

import sys
from argparse import Namespace
from collections.abc import Mapping

from engine.cli.usage import FAILED, OK, Command, UsageError


def _evaluate(arguments: Namespace) -> int:
    """Check one kernel file on every shape of its task and time it against the task's naive
    seed. Exit code 0: it passed; 1: it did not, and the reason is printed; 2: wrong usage."""
    from engine.cli.evaluate import compile_file, explain_file, measure_file

    if arguments.explain and arguments.backend != "cpu":
        raise UsageError("--explain goes with --backend cpu; on a GPU kernels run as they are")
    if arguments.arch and not arguments.compile_only:
        raise UsageError("--arch goes with --compile-only; timing is for the device that is here")
    if arguments.emulate and (arguments.compile_only or arguments.explain):
        raise UsageError("--emulate runs the kernel: leave out --compile-only and --explain")
    if arguments.order is not None and not arguments.emulate:
        raise UsageError("--order goes with --emulate; a device chooses its own")
    act = compile_file if arguments.compile_only else measure_file
    act = explain_file if arguments.explain else act
    passed = act(arguments, sys.stdout)
    return OK if passed else FAILED


def _export(arguments: Namespace) -> int:
    """Write a kernel file, or a campaign's best, as a C++ header for HIP and CUDA. Its launcher
    repeats the launch plan: variants, scratch, prepare. It compiles and measures nothing."""
    from engine.cli.export import export_file

    export_file(arguments, sys.stdout)
    return OK


def _predict(arguments: Namespace) -> int:
    """Predict, without a GPU, how fast kernels of a family can be on an MI300X, by a roofline of
    their structure: the fastest by shape, what bounds them and what would help. With --kernel: one
    of them. For the task fp8_gemm and others that are the same problem."""
    from engine.cli.predict import predict_family

    predict_family(arguments, sys.stdout)
    return OK


def _certify(arguments: Namespace) -> int:
    """Check a kernel on new inputs in several rounds, measure it against the task's naive seed in
    several sittings, and write certificate.json and a page to read. With --verify: repeat a
    certificate, and say whether it holds. Exit code 1: refused, or it does not hold."""
    from engine.cli.certify import certify_file, verify_file

    if arguments.verify is not None and arguments.file is not None:
        raise UsageError("--verify repeats a certificate, which has its kernel: name no other")
    act = verify_file if arguments.verify is not None else certify_file
    return OK if act(arguments, sys.stdout) else FAILED


def _probe(arguments: Namespace) -> int:
    """Run a probe, a kernel file that asks something of a device, and print its answer: times of
    its cases, what its buffers hold, what the compiler says. With --shipped: what the shipped set
    tells of a device, as campaigns keep it. Exit code 1: a probe failed, and why is printed."""
    from engine.cli.probe import probe_file, probe_shipped

    if arguments.shipped == (arguments.file is not None):
        raise UsageError("name a probe file, or give --shipped for the shipped set")
    if arguments.anew and not arguments.shipped:
        raise UsageError("--anew goes with --shipped; a file is always run")
    act = probe_shipped if arguments.shipped else probe_file
    return OK if act(arguments, sys.stdout) else FAILED


KERNEL_COMMANDS: Mapping[str, Command] = {
    "evaluate": _evaluate,
    "probe": _probe,
    "certify": _certify,
    "export": _export,
    "predict": _predict,
}
