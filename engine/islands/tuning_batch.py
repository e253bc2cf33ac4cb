"""Tuning cycles that ask at the same time, served together: a batch costs little more than one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from operators.individual import Individual
from operators.operator import Context, Declined, Mutation, Tuner


@dataclass(frozen=True, slots=True)
class _Request:
    parents: Sequence[Individual]
    context: Context
    made: "asyncio.Future[Mutation]"


@dataclass(slots=True)
class TuningBatch:
    """Where nobody else asks, a cycle has its point as if there were no batches. Where an island
    can't keep up with its devices, its cycles meet here, and it catches up."""

    tuner: Tuner
    _waiting: list[_Request] = field(default_factory=list)
    _serving: "asyncio.Task[None] | None" = None

    async def one(self, parents: Sequence[Individual], context: Context) -> Mutation:
        """Raises Declined."""
        request = _Request(parents, context, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._serving is None:
            self._serving = asyncio.create_task(self._serve())
        return await request.made

    async def _serve(self) -> None:
        try:
            while self._waiting:
                together, self._waiting = self._waiting, []
                await self._serve_together(together)
        finally:
            self._serving = None

    async def _serve_together(self, together: Sequence[_Request]) -> None:
        """By the context of the last, who knows most."""
        parents = {one.id: one for request in together for one in request.parents}
        context = together[-1].context
        try:
            found = await self.tuner.tune(list(parents.values()), len(together), context)
        except Exception as error:  # noqa: BLE001 - theirs to meet, whatever it is
            for request in together:
                _settle(request.made, error)
            return
        for request, made in zip(together, found, strict=False):
            _settle(request.made, made)
        for request in together[len(found) :]:  # there were fewer points than cycles
            _settle(request.made, Declined("no kernel at hand declares a space with other points"))


def _settle(future: "asyncio.Future[Mutation]", what: Mutation | Exception) -> None:
    if future.done():  # who waited was cancelled
        return
    if isinstance(what, Exception):
        future.set_exception(what)
    else:
        future.set_result(what)
