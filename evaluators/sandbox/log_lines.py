"""Of a compiler's log, what points at the kernel or at known headers: no other file is quoted."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from evaluators.spelling import printable

_FILE = r"(?P<file>[\w./+-]+)"
_KERNEL = r"(?:kernel\.hip|launches|(?:least|source)\.hip)"
_HEADS = (
    re.compile(rf"{_FILE}:\d+(?::\d+)?: +(?:fatal )?(?:error|warning|note|remark|required)\b.*"),
    re.compile(rf"{_FILE}\(\d+\): (?:catastrophic )?(?:error|warning|remark)\b.*"),
    re.compile(rf"{_KERNEL}(?::\d+(?::\d+)?)?: .*"),
    re.compile(r"name expression [^:]*(?:::[^:]*)*:\d+:\d+: .*"),
)
"""Lines that open a message: it goes on in indented lines."""

_WITHOUT_A_PLACE = re.compile(
    r"ptxas \w+ *: Entry function '\w+' uses too much shared data \(.{1,40}\)"
    r"|ptxas fatal +: Unresolved extern function '\w{1,200}'"
    r"|[\w.<>]+:\d+(?::\d+)?: error: local memory \(\d+\) exceeds limit \(\d+\) in .*"
    r"|(?:ld\.)?lld: error: undefined (?:hidden |protected )?symbol: .{1,200}"
    r"|(?:\S+: )?error: (?:invalid target ID|unsupported HIP gpu architecture).{0,200}"
    r"|nvrtc: error: invalid value for --gpu-architecture.{0,40}"
    r"|(?:\S*cc1plus: )?(?:out of memory allocating|virtual memory exhausted).{0,60}"
    r"|(?:\S+: )?internal compiler error: [A-Za-z ]{1,40}"
    r"|(?:\S+: )?fatal error: error in backend: .{1,200}"
)
"""Messages of code generators, assemblers and linkers, which name no file of the kernel."""


def shown(log: str, headers: Sequence[Path] = ()) -> str:
    """The messages about the kernel's file, and about relative paths or files below headers.

    A message may quote the kernel: what would move a terminal's cursor is escaped.
    Paths below a folder of headers are shortened to what a kernel would include.
    """
    for folder in headers:
        log = log.replace(f"{folder}/", "")
    return "\n".join(printable(line.expandtabs()) for line in _kept(log.split("\n")))


def _kept(lines: Sequence[str]) -> Iterator[str]:
    inside = False
    for line in lines:
        if line[:1].isspace():
            if inside and line.strip():
                yield line
            continue
        inside = any(_points(head, line) for head in _HEADS)
        if inside or _WITHOUT_A_PLACE.fullmatch(line):
            yield line


def _points(head: re.Pattern[str], line: str) -> bool:
    found = head.fullmatch(line)
    if found is None:
        return False
    file = found.groupdict().get("file", "")
    return not file.startswith("/") and ".." not in file
