"""What lies in a region of a GPU's memory before a run, drawn there from one secret."""

import hashlib
import secrets
from collections.abc import Mapping

from evaluators.checks.gpu_work import NOISE, Source, Work
from evaluators.checks.region import Region, Span
from evaluators.device import Buffer
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Secret = bytes


def new_secret() -> Secret:
    """128 bits."""
    return secrets.token_bytes(16)


def key_of(secret: Secret, name: str) -> int:
    """128 bits for a generator's stream of that name; no key tells of another (BLAKE2b)."""
    return int.from_bytes(hashlib.blake2b(name.encode(), key=secret, digest_size=16).digest())


class Placing:
    """Inputs, poison and guards of a task's regions: placed, and later compared."""

    def __init__(self, task: Task, workload: Workload) -> None:
        arguments, env = task.on(workload).arguments, workload.env
        self._sources = {a.name: Source.of(a, env) for a in arguments if a.role != "out"}

    def place(
        self, work: Work, region: Region, base: Buffer, secret: Secret, *, stale: bool = False
    ) -> None:
        """As Region.image has it, but drawn on the device. stale: what is not drawn stays."""
        for name, buffer in _guards(region, base).items():
            work.draw(buffer, NOISE, buffer.nbytes, key_of(secret, name))
        for span in region.spans:
            buffer = base.view(span.start, span.nbytes)
            if span.given:
                source = self._sources[span.name]
                work.draw(buffer, source, _count(span), key_of(secret, span.name))
            elif not stale:
                work.fill(buffer, span.poison)

    def inspect(
        self, work: Work, region: Region, base: Buffer, secret: Secret, *, slot: int
    ) -> None:
        """Count what has changed of guards and of what is only read."""
        for name, buffer in _guards(region, base).items():
            work.redraw(buffer, NOISE, buffer.nbytes, key_of(secret, name), slot=slot)
        for span in region.spans:
            if span.given and not span.written:
                buffer, source = base.view(span.start, span.nbytes), self._sources[span.name]
                key = key_of(secret, span.name)
                work.redraw(buffer, source, _count(span), key, slot=slot)


def _guards(region: Region, base: Buffer) -> Mapping[str, Buffer]:
    return {
        f"guard {k}": base.view(start, stop - start)
        for k, (start, stop) in enumerate(region.guards())
    }


def _count(span: Span) -> int:
    return span.nbytes // span.dtype.itemsize
