"""Profile one kernel file with ncu or rocprofv3 and print what to try.

scripts/profile_kernel.py FILE --task sgemm --backend cuda [--shape "M=1024 N=1024 K=1024"]
"""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from evaluators.profile.profiler import TOOLS, profile


def main() -> int:
    """1 when there is no profile."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--task", required=True)
    parser.add_argument("--backend", required=True, choices=sorted(TOOLS))
    parser.add_argument("--shape", default="", help="a benchmark shape (default: the largest)")
    parsed = parser.parse_args()
    found = profile(parsed.file, parsed.task, parsed.backend, shape=parsed.shape)
    if found.reason:
        print(found.reason, file=sys.stderr)
    if not found.kernels:
        return 1
    for kernel in found.kernels:
        for name, value in asdict(kernel).items():
            print(f"{name:16} {value}")
        print()
    for sentence in found.advice:
        print(sentence)
    return 0


if __name__ == "__main__":
    sys.exit(main())
