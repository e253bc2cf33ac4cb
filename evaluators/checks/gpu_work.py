"""What the harness's own kernels on a GPU shall do together: the table of their jobs."""

import struct
from collections.abc import Collection
from dataclasses import dataclass

from evaluators.device import Buffer
from evaluators.dtypes import DTYPES
from evaluators.expression import Env
from evaluators.kernel.plan import LaunchStep, Step
from evaluators.tasks.arguments import Argument

TYPES = tuple(DTYPES)
_BYTE, _EXACT = len(TYPES), len(TYPES) + 1
_NORMAL, _UNIFORM, _INTEGERS, _CONSTANT, _NOISE = range(5)
COMPARISONS = tuple(f"compare_jobs<{i}>" for i in range(len(TYPES)))
ENTRIES = ("fill_jobs", "draw_jobs", "widen_jobs", "mask_jobs", *COMPARISONS, "redraw_jobs")
"""In the order in which they do a work's jobs."""
THREADS = 256
FIELDS = 6
_MOST_BLOCKS = 4096
_DRAWN, _MASKED = 8, 2  # elements that a thread takes from one block of random words
_JOB = struct.Struct("=QQqQQ8s8siiiiQ")
JOB_BYTES = _JOB.size
_WORD = (1 << 64) - 1


def entries_for(dtypes: Collection[str]) -> tuple[str, ...]:
    """Those of ENTRIES that data with outputs of these dtypes need."""
    others = {entry for i, entry in enumerate(COMPARISONS) if TYPES[i] not in dtypes}
    return tuple(entry for entry in ENTRIES if entry not in others)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What draw.hip makes elements from, as its struct Job has it; of integers scale is how many
    there are and offset the least."""

    kind: int
    type: int
    through: int = _EXACT
    scale: float = 0.0
    offset: float = 0.0

    @property
    def words(self) -> tuple[bytes, bytes]:
        """scale and offset, in their bits."""
        if self.kind == _INTEGERS:
            whole = (int(self.scale) & _WORD, int(self.offset) & _WORD)
            return struct.pack("=Q", whole[0]), struct.pack("=Q", whole[1])
        return struct.pack("=d", self.scale), struct.pack("=d", self.offset)

    @classmethod
    def of(cls, argument: Argument, env: Env) -> "Source":
        """As its Distribution says."""
        drawn = argument.distribution
        p = drawn.given(env)
        match drawn.kind:
            case "normal":
                kind, scale, offset = _NORMAL, p["scale"], p["mean"]
            case "uniform":
                kind, offset = _UNIFORM, p["low"]
                scale = p["high"] - offset
            case "integers":
                kind, offset = _INTEGERS, p["low"]
                scale = p["high"] - offset
            case _:
                kind, scale, offset = _CONSTANT, 0.0, float(drawn.kind == "ones")
        through = _EXACT if drawn.through is None else TYPES.index(drawn.through)
        type_ = TYPES.index(argument.dtype)
        return cls(kind=kind, type=type_, through=through, scale=scale, offset=offset)


NOISE = Source(kind=_NOISE, type=_BYTE)


class Work:
    """Jobs by kernel: fills, then draws, widened copies, masks, comparisons, draws once more.

    slots: where results go. Keys are numbers of 128 bits.
    """

    def __init__(self, slots: Buffer) -> None:
        self._slots = slots
        self._jobs: dict[str, list[bytes]] = {entry: [] for entry in ENTRIES}
        self._threads: dict[str, int] = dict.fromkeys(ENTRIES, 0)

    def fill(self, to: Buffer, byte: int) -> None:
        self._add("fill_jobs", to, to.nbytes, threads=to.nbytes // 8, byte=byte)

    def draw(self, to: Buffer, source: Source, count: int, key: int) -> None:
        self._add("draw_jobs", to, count, threads=count // _DRAWN, source=source, key=key)

    def redraw(self, after: Buffer, source: Source, count: int, key: int, *, slot: int) -> None:
        """How many elements are no longer as draw() left them."""
        threads = count // _DRAWN
        self._add("redraw_jobs", after, count, threads=threads, source=source, key=key, slot=slot)

    def widen(self, to: Buffer, given: Buffer, dtype: str) -> None:
        """Elements of a dtype, as wide as references are: 8 bytes each."""
        source = Source(kind=_NOISE, type=TYPES.index(dtype))
        count = to.nbytes // 8
        self._add("widen_jobs", to, count, threads=count, beside=given, source=source)

    def mask(self, reference: Buffer, key: int, *, slot: int) -> None:
        """Hide, or show again, 8-byte values; the checksum of what then lies there."""
        count = reference.nbytes // 8
        self._add("mask_jobs", reference, count, threads=count // _MASKED, key=key, slot=slot)

    def compare(
        self,
        out: Buffer,
        reference: Buffer,
        *,
        dtype: str,
        key: int,
        rtol: float,
        atol: float,
        slot: int,
    ) -> None:
        """An output against a masked reference, as checks.compare does it."""
        count = reference.nbytes // 8
        limits = Source(kind=_NOISE, type=_BYTE, scale=rtol, offset=atol)
        self._add(
            COMPARISONS[TYPES.index(dtype)],
            out,
            count,
            threads=count // _MASKED,
            beside=reference,
            source=limits,
            key=key,
            slot=slot,
        )

    def _add(
        self,
        entry: str,
        to: Buffer,
        count: int,
        *,
        threads: int,
        beside: Buffer | None = None,
        source: Source = NOISE,
        key: int = 0,
        byte: int = 0,
        slot: int = 0,
    ) -> None:
        job = _JOB.pack(
            to.offset,
            beside.offset if beside is not None else 0,
            count,
            key & (1 << 64) - 1,
            key >> 64,
            *source.words,
            source.type,
            source.through,
            source.kind,
            byte,
            self._slots.offset + slot * FIELDS * 8,
        )
        self._jobs[entry].append(job)
        self._threads[entry] = max(self._threads[entry], threads)

    def table(self) -> bytes:
        return b"".join(job for jobs in self._jobs.values() for job in jobs)

    def steps(self, table: Buffer) -> tuple[tuple[Step, ...], dict[str, Buffer]]:
        """What to launch, and the buffers by the names in it. table: where table() lies."""
        steps: list[Step] = []
        buffers: dict[str, Buffer] = {}
        at = 0
        for entry, jobs in self._jobs.items():
            if jobs:
                nbytes = len(jobs) * JOB_BYTES
                buffers[entry] = table.view(at, nbytes)
                at += nbytes
                steps.append(launch(entry, self._threads[entry], len(jobs)))
        return tuple(steps), buffers


def launch(entry: str, threads: int, jobs: int) -> LaunchStep:
    """threads: that the largest job could use. They stride over what is more than a few thousand
    blocks."""
    blocks = min(-(-threads // THREADS), max(32, _MOST_BLOCKS // jobs))
    return LaunchStep(
        entry=entry,
        grid=(max(1, blocks), jobs, 1),
        block=(THREADS, 1, 1),
        lds_bytes=0,
        args=(entry,),
    )
