"""What the run child is told to do: launches and fills as records, checked before they are sent."""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from evaluators.cpu.emit import LDS_BYTES, entry_key
from evaluators.cpu.library import SIGNATURE
from evaluators.device import Buffer, Compiled
from evaluators.evaluation import Rejected, Status
from evaluators.kernel.plan import Defines, LaunchStep, MemsetStep, Step

MAX_THREADS = 1024

_RECORD = struct.Struct("=IIII6IQQ")
_LAUNCH, _FILL, _SPANS = 1, 2, 3
_CODES = {"int32": ("i", "<iI"), "int64": ("l", "<q"), "float32": ("f", "<fI")}

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
        pointers, values = 0, b""
        for i, arg in enumerate(step.args):
            if isinstance(arg, str):
                pointers |= 1 << i
                values += struct.pack("=Q", buffers[arg].offset)
            else:
                layout = _CODES[arg.type][1]
                values += struct.pack(layout, arg.value, *[0] * (len(layout) - 2))
        head = (_LAUNCH, _RECORD.size + len(values))
        entry = (self._libraries[defines], self._entries[defines][key])
        record = _RECORD.pack(*head, *entry, *step.grid, *step.block, step.lds_bytes, pointers)
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
    takes: str = resources["signature"]
    given = "".join("p" if isinstance(arg, str) else _CODES[arg.type][0] for arg in step.args)
    if len(takes) != len(given):
        raise Rejected(
            Status.LAUNCH_ERROR,
            f"{step.entry} takes {len(takes)} arguments, the launch gives {len(given)}",
        )
    for i, (want, have) in enumerate(zip(takes, given, strict=True), start=1):
        if want != have:
            raise Rejected(
                Status.LAUNCH_ERROR,
                f"{step.entry}: argument {i} is {SIGNATURE[have]}, the kernel takes "
                f"{SIGNATURE[want]}",
            )
