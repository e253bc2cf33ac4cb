"""Figures as the report writes them, and commands and paths that hold on another machine too."""

import re
import shlex
from datetime import UTC, datetime
from pathlib import Path

SHORT = 12
"""Characters of a kernel id that people are shown."""

Interval = tuple[float, float]


def short(kernel_id: str) -> str:
    return kernel_id[:SHORT]


def times(ratio: float) -> str:
    """ "43.47×"."""
    return f"{ratio:,.0f}×" if ratio >= 1000 else f"{ratio:.2f}×"


def between(interval: Interval | None) -> str:
    """ "40.20 to 47.13"; "" where there is none."""
    return f"{interval[0]:.2f} to {interval[1]:.2f}" if interval else ""


def percent(share: float) -> str:
    """Of a share of 1: "47%"; small ones keep a digit."""
    value = 100 * share
    return f"{value:.1f}%" if 0 < value < 9.95 else f"{value:.0f}%"


def count(number: int, one: str, many: str = "") -> str:
    """ "1 kernel", "5,000 kernels"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def microseconds(time_us: float) -> str:
    """ "290.3 µs", "14.14 ms", "2.5 s": four digits."""
    if time_us >= 1e6:
        return f"{time_us / 1e6:.4g} s"
    return f"{time_us / 1e3:.4g} ms" if time_us >= 1e3 else f"{time_us:.4g} µs"


def duration(seconds: float) -> str:
    """ "105 s", "12 min 4 s", "3 h 20 min"."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 120:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def moment(at: float) -> str:
    """at: seconds since 1970; the same text on every machine."""
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"


def bytes_text(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:.4g} {unit}"
        size /= 1024
    raise AssertionError  # the last unit takes everything


def first_line(text: str, most: int = 160) -> str:
    line = next(iter(text.strip().splitlines()), "").strip()
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def run_name(run_dir: Path) -> str:
    """ "runs/demo": how commands name the campaign's folder, from the one above its runs."""
    return "/".join(filter(None, (run_dir.parent.name, run_dir.name)))


def task_name(task: str) -> str:
    """A shipped task's name, or the last part of a folder's path."""
    return Path(task).name


def command(*words: str) -> str:
    """A line for a shell; the name is that of an installed package."""
    return shlex.join(["kernel-scientist", *words])


def travelling(text: str) -> str:
    """A configuration's word without the folders of this machine, and without a password."""
    text = re.sub(r"(\w+://)[^/@\s]*@", r"\1", text)
    scheme, separator, rest = text.rpartition(":///")
    if separator and "/" in rest:
        return f"{scheme}:///{Path(rest).name}"
    return Path(text).name if text.startswith("/") and "\n" not in text else text
