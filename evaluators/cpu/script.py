"""What the run child is told to do: launches and fills as records, checked before they are sent."""

import re
import struct
from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.cpu.emit import LDS_BYTES, entry_key
from evaluators.cpu.library import SIGNATURE
from evaluators.device import Buffer, Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.by_value import alignment, kind, packed, pointers, size
from evaluators.kernel.plan import Defines, Given, LaunchStep, MemsetStep, Scalar, Step, Struct

MAX_THREADS = 1024

_RECORD = struct.Struct("=IIII6IQQ")
_LAUNCH, _FILL, _SPANS = 1, 2, 3
_CODES = {
    "bool": "b",
    "int8": "c",
    "int16": "s",
    "int32": "i",
    "int64": "l",
    "float16": "h",
    "bfloat16": "g",
    "float32": "f",
    "float64": "d",
}
"""By by_value.kind()."""
_PARAMETER = re.compile(r"[a-wyz]|x\d+a\d+")
WORD_BYTES, MAX_WORDS = 8, 64

Span = tuple[int, int]
"""An address of the child, and bytes."""


class Script:
    """Packs steps into the records that native/runner.c plays."""

    def __init__(self, compiled: Compiled) -> None:
        self._libraries = {defines: i for i, defines in enumerate(compiled.binaries)}
        self._entries = {
            defines: {key: i for i, key in enumerate(binary.symbols)}
            for defines, binary in compiled.binaries.items()
        }
        self._resources = {
            (tuple(sorted(r["defines"].items())), r["kernel"]): r
            for r in (*compiled.resources, *compiled.hidden)
        }

    def library(self, defines: Defines) -> int:
        """Which of the child's libraries was built with these."""
        return self._libraries[defines]

    def spans(
        self,
        lds: Sequence[Span],
        outputs: Sequence[Span] = (),
        margins: Sequence[Span] = (),
        *,
        run: int = 0,
        timed: bool = False,
    ) -> bytes:
        """lds: what each block of the next launch shall find full of NaNs; where it is timed, with
        a few words changed. outputs: what is judged in the end. margins: where an oracle lets no
        thread write. run: which one it belongs to, by which an oracle chooses its orders."""
        values = b"".join(struct.pack("=QQ", *span) for span in (*lds, *outputs, *margins))
        head = (_SPANS, _RECORD.size + len(values), run, int(timed))
        return _RECORD.pack(*head, *(0,) * 6, len(lds), len(outputs)) + values

    def step(self, defines: Defines, step: Step, buffers: Mapping[str, Buffer]) -> bytes:
        """Raises Rejected(LAUNCH_ERROR) for a launch that the kernel or the device can't take."""
        if isinstance(step, MemsetStep):
            buffer = buffers[step.buffer]
            values = struct.pack("=QQQ", buffer.offset, buffer.nbytes, step.byte)
            return _RECORD.pack(_FILL, _RECORD.size + len(values), *(0,) * 10) + values
        key = entry_key(step.entry, step.block)
        _check_launch(step, self._resources[defines, key])
        bits, values = 0, b""
        for arg in step.args:
            for at in pointers(arg):
                bits |= 1 << (len(values) + at) // WORD_BYTES
            data = packed(arg, lambda name: buffers[name].offset)
            values += data + bytes(-len(data) % WORD_BYTES)
        head = (_LAUNCH, _RECORD.size + len(values))
        entry = (self._libraries[defines], self._entries[defines][key])
        record = _RECORD.pack(*head, *entry, *step.grid, *step.block, step.lds_bytes, bits)
        return record + values


def _check_launch(step: LaunchStep, resources: Mapping[str, Any]) -> None:
    """Raises Rejected(LAUNCH_ERROR): a block's threads, its LDS, its arguments."""
    threads = step.block[0] * step.block[1] * step.block[2]
    if threads > MAX_THREADS:
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"{step.entry}: {threads} threads a block, at most {MAX_THREADS} are allowed",
        )
    static = resources["lds_bytes"]
    if static + step.lds_bytes > LDS_BYTES:
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"{step.entry}: {static + step.lds_bytes} bytes of LDS ({static} static, "
            f"{step.lds_bytes} dynamic), at most {LDS_BYTES} are allowed",
        )
    takes = _PARAMETER.findall(resources["signature"])
    if len(takes) != len(step.args):
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"{step.entry} takes {len(takes)} arguments, the launch gives {len(step.args)}",
        )
    for i, (want, given) in enumerate(zip(takes, step.args, strict=True), start=1):
        if want != (have := _code(given)):
            raise Rejected(
                Status.LAUNCH_ERROR,
                f"{step.entry}: argument {i} is {_told(have)}, the kernel takes {_told(want)}",
            )
    words = sum(-(-size(given) // WORD_BYTES) for given in step.args)
    if words > MAX_WORDS:
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"{step.entry}: its arguments take {words * WORD_BYTES} bytes, at most "
            f"{MAX_WORDS * WORD_BYTES} are allowed",
        )


def _code(given: Given) -> str:
    """As ks/entry.h writes what takes it."""
    match given:
        case Scalar():
            return _CODES[kind(given.type)]
        case Struct():
            return f"x{size(given)}a{alignment(given)}"
        case _:
            return "p"


def _told(code: str) -> str:
    if code.startswith("x"):
        nbytes, aligned = code[1:].split("a")
        return f"a struct of {nbytes} bytes, aligned to {aligned}"
    return SIGNATURE[code]
