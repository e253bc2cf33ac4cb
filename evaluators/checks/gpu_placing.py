"""What lies in a region of a GPU's memory before a run, drawn there from one secret."""

import hashlib
import secrets
from collections.abc import Mapping

from evaluators.checks.gpu_work import NOISE, Source, Work
from evaluators.checks.region import Image, Region, Span
from evaluators.device import Buffer
from evaluators.tasks.arguments import Array, Workload
from evaluators.tasks.task import Task

Secret = bytes


def new_secret() -> Secret:
    """128 bits."""
    return secrets.token_bytes(16)


def key_of(secret: Secret, name: str) -> int:
    """128 bits for a generator's stream of that name; no key tells of another (BLAKE2b)."""
    return int.from_bytes(hashlib.blake2b(name.encode(), key=secret, digest_size=16).digest())


class Placing:
    """Inputs, poison and guards of a workload's regions: placed, and later compared. What the
    task's own inputs() makes is left to the host."""

    def __init__(self, task: Task, workload: Workload) -> None:
        arguments, env = task.on(workload).arguments, workload.env
        self._sources = {
            a.name: Source.of(a, env)
            for a in arguments
            if a.role != "out" and a.name not in task.makes
        }

    def place(
        self, work: Work, region: Region, base: Buffer, secret: Secret, *, stale: bool = False
    ) -> None:
        """As Region.image has it, but drawn on the device. stale: what is not drawn stays."""
        for name, buffer in _guards(region, base).items():
            work.draw(buffer, NOISE, buffer.nbytes, key_of(secret, name))
        for span in region.spans:
            buffer = base.view(span.start, span.nbytes)
            if span.name in self._sources:
                source = self._sources[span.name]
                work.draw(buffer, source, _count(span), key_of(secret, span.name))
            elif not span.given and not stale:
                work.fill(buffer, span.poison)

    def inspect(
        self, work: Work, region: Region, base: Buffer, secret: Secret, *, slot: int
    ) -> None:
        """Count what has changed of guards and of what is only read."""
        for name, buffer in _guards(region, base).items():
            work.redraw(buffer, NOISE, buffer.nbytes, key_of(secret, name), slot=slot)
        for span in region.spans:
            if span.name in self._sources and not span.written:
                buffer, source = base.view(span.start, span.nbytes), self._sources[span.name]
                key = key_of(secret, span.name)
                work.redraw(buffer, source, _count(span), key, slot=slot)


def made_here(region: Region, made: Mapping[str, Array]) -> list[tuple[Span, Image]]:
    """Those of a region's spans that inputs() made, with their bytes."""
    return [(span, span.laid(made[span.name])) for span in region.spans if span.name in made]


def _guards(region: Region, base: Buffer) -> Mapping[str, Buffer]:
    return {
        f"guard {k}": base.view(start, stop - start)
        for k, (start, stop) in enumerate(region.guards())
    }


def _count(span: Span) -> int:
    return span.nbytes // span.dtype.itemsize
