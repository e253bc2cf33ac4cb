"""Fills the column of docs/paper.md that waits for a run on an MI300: times by shape, as measured.

    python -m scripts.docs.paper_table runs/paper            # a campaign's best kernel
    python -m scripts.docs.paper_table my.hip --backend hip  # or a kernel file

Prints JSON: microseconds by shape, and their geometric mean. The page is changed for an MI300
alone. Exits 1 where the kernel does not pass.
"""

import json
import math
import re
import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path

from evaluators.evaluate import evaluate_file
from evaluators.tasks.task_file import load_task

PAGE = Path(__file__).resolve().parents[2] / "docs" / "paper.md"
TASK, BEST = "fp8_gemm", "best.hip"
DEVICE = "MI300"


def main() -> int:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("kernel", type=Path, help="a kernel file, or a campaign's folder")
    parser.add_argument("--backend", default="hip")
    parser.add_argument("--page", type=Path, default=PAGE)
    arguments = parser.parse_args()
    file = arguments.kernel / BEST if arguments.kernel.is_dir() else arguments.kernel
    made = evaluate_file(file, load_task(TASK), arguments.backend)
    if not made.passed:
        print(f"{file}: {made.status} {made.reason}", file=sys.stderr)
        return 1
    told = {
        "kernel": made.kernel_id,
        "device": made.device,
        "times_us": dict(made.times_us),
        "geometric_mean_us": geometric_mean(made.times_us),
    }
    print(json.dumps(told, indent=2))
    if DEVICE in made.device and made.timed:
        page = arguments.page
        page.write_text(filled(page.read_text(), made.times_us))
        print(f"wrote the last column of {page}", file=sys.stderr)
    return 0


def geometric_mean(times_us: Mapping[str, float]) -> float:
    return math.exp(math.fsum(map(math.log, times_us.values())) / len(times_us))


def filled(page: str, times_us: Mapping[str, float]) -> str:
    """The page with these times in the last cells of the rows that name their shapes, and their
    geometric mean in that of all shapes. Raises ValueError where a row is missing."""
    cells = {_row(label): f"{us:.1f}" for label, us in times_us.items()}
    cells["geometric mean"] = f"{geometric_mean(times_us):.1f}"
    for name, cell in cells.items():
        row = re.compile(rf"^(\| {re.escape(name)} \|.*\|)[^|\n]*\|$", re.MULTILINE)
        page, count = row.subn(rf"\g<1> {cell} |", page)
        if count != 1:
            raise ValueError(f"the page has {count} rows for {name!r}")
    return page


def _row(label: str) -> str:
    """ "M=1024 N=1536 K=7168" -> "1024, 1536, 7168"."""
    return ", ".join(part.partition("=")[2] for part in label.split())


if __name__ == "__main__":
    sys.exit(main())
