"""A session's memory in which workloads take turns: regions of each binding, and a shared one."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from evaluators.checks.budget import Error, Standard
from evaluators.checks.compare import check_agreement
from evaluators.checks.region import ALIGNMENT, SCRATCH_POISON, Image, Region, poison_byte, same
from evaluators.checks.verdict import judged
from evaluators.device import Buffer, Session
from evaluators.kernel.plan import Plan
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

Array = np.ndarray[Any, Any]


class WorkloadMemory:
    """One workload's memory in a session: each binding's own regions and the one they share.

    Memory comes from the caller, so that several workloads may take turns in the same.
    """

    def __init__(
        self,
        session: Session,
        task: Task,
        workload: Workload,
        plan: Plan,
        *,
        copies: Buffer,
        shared: Buffer,
        scratch: Buffer,
    ) -> None:
        """copies: memory for the arguments of one or more bindings; shared: for what all share,
        scratch: for the own scratch of as many bindings as are to be run.
        """
        self.session = session
        self.task = task.on(workload)
        self.workload = workload
        self.plan = plan
        self.shared = Region.of_shared(task, workload, plan)
        self.region = Region.of_arguments(task, workload)
        self.scratch = Region.of_scratch(plan)
        self.shared_buffer = shared.view(0, self.shared.nbytes)
        of_all = self.shared.buffers(self.shared_buffer)
        self.copies = _split(copies, self.region.nbytes)
        self.scratches = _split(scratch, self.scratch.nbytes) if self.scratch.spans else ()
        self.arguments = tuple(self.region.buffers(copy) for copy in self.copies)
        self.bindings = tuple({**of_all, **own} for own in self.arguments)
        if self.scratch.spans:
            self.bindings = tuple(
                {**binding, **self.scratch.buffers(own)}
                for binding, own in zip(self.bindings, self.scratches, strict=False)
            )
        self._shared_image: Image | None = None
        self._guarded: set[Buffer] = set()

    def write_shared(self, image: Image) -> None:
        self._shared_image = image
        self.session.write(self.shared_buffer, image)

    def prepare(self, *, deadline_s: float) -> None:
        """The launches that come before all others, once what they read is in place."""
        if self.plan.prepare:
            self.session.run(self.plan, self.bindings[0], deadline_s=deadline_s, prepare=True)

    def inspect_shared(self) -> None:
        """Raises Rejected(WRONG): constants changed, or writes beyond scratch."""
        if self.shared.spans and self._shared_image is not None:
            self.shared.inspect(self._shared_image, self._read(self.shared_buffer))

    def place(
        self, copy: int, inputs: Mapping[str, Array], noise: Image, *, poison: bool = True
    ) -> None:
        """Inputs in place, scratch poisoned, and outputs unless they are to stay as they are.

        noise: for the guards, written once: who changes them is found out.
        """
        self._guard(self.region, self.copies[copy], noise)
        for span in self.region.spans:
            buffer = self.arguments[copy][span.name]
            if span.given:
                self.session.write(buffer, span.laid(inputs[span.name]))
            elif poison:
                self.session.fill(buffer, span.poison)
        if copy < len(self.scratches):
            self._guard(self.scratch, self.scratches[copy], noise)
            for buffer in self.scratch.buffers(self.scratches[copy]).values():
                self.session.fill(buffer, SCRATCH_POISON)

    def wipe(self, copy: int) -> None:
        """Poison the outputs of a binding that is not to be run."""
        for output in self.task.outputs:
            self.session.fill(self.arguments[copy][output.name], poison_byte(output.np_dtype))

    def inspect_guards(self, region: Region, buffer: Buffer, noise: Image) -> None:
        """Raises Rejected(WRONG): writes beyond a binding's arguments, or its own scratch."""
        for start, stop, window in region.noisy(noise):
            after = self._read(buffer.view(start, stop - start))
            if not same(after, window):
                whole = self._read(buffer)
                region.inspect_guards(region.guarded(whole, noise), whole)

    def kept(self) -> Image:
        """What outlasts an application: variables, and scratch that prepare launches were given."""
        prepared = [self._read(buffer) for buffer in self._prepared()]
        return np.concatenate([self.session.variables(), *(_padded(data) for data in prepared)])

    def keep(self, state: Image) -> None:
        """Put back what kept() gave, or what became of it."""
        at = state.nbytes
        for buffer in reversed(self._prepared()):
            at -= -(-buffer.nbytes // 8) * 8
            self.session.write(buffer, state[at : at + buffer.nbytes])
        self.session.set_variables(state[:at])

    def _prepared(self) -> list[Buffer]:
        buffers = self.shared.buffers(self.shared_buffer)
        return [buffers[span.name] for span in self.shared.spans if span.written]

    def elements(self, copy: int, output: str, places: Array) -> Array:
        """Some elements of an output, by their flat places."""
        (span,) = (span for span in self.region.spans if span.name == output)
        buffer = self.arguments[copy][output]
        return self.session.elements(buffer, span.dtype, span.places(places))

    def taken(self, copy: int) -> Image:
        """A binding's bytes as they are now."""
        return self._read(self.copies[copy])

    def judge(
        self,
        references: Mapping[str, Array],
        before: Image,
        after: Image,
        standard: Standard,
        inputs: Mapping[str, Array],
    ) -> dict[str, Error]:
        """Errors by "label/output" of a run over one binding. Raises Rejected(WRONG)."""
        self.region.inspect(before, after)
        values = self.region.values(after)
        return judged(self.task, self.workload, values, inputs, references, standard)

    def agree(
        self,
        references: Callable[[], Mapping[str, Array]],
        first: Mapping[str, Array],
        second: Mapping[str, Array],
    ) -> None:
        """Raises Rejected(WRONG): two runs on one draw gave different outputs. Those that check()
        judges, or that mean something after an epilogue, may differ: each was judged by itself."""
        if self.task.own.epilogue is not None:
            return
        for output in self.task.outputs:
            a, b = first[output.name], second[output.name]
            if not np.array_equal(a.reshape(-1).view(np.uint8), b.reshape(-1).view(np.uint8)):
                wanted = references().get(output.name)
                if wanted is not None:
                    check_agreement(output, self.workload, a, b, wanted)

    def _guard(self, region: Region, buffer: Buffer, noise: Image) -> None:
        if buffer not in self._guarded:
            self._guarded.add(buffer)
            for start, stop, window in region.noisy(noise):
                self.session.write(buffer.view(start, stop - start), window)

    def _read(self, buffer: Buffer) -> Image:
        return self.session.read(buffer, np.dtype(np.uint8), (buffer.nbytes,))


def _split(buffer: Buffer, nbytes: int) -> tuple[Buffer, ...]:
    return tuple(buffer.view(i * nbytes, nbytes) for i in range(buffer.nbytes // nbytes))


def _padded(data: Image) -> Image:
    """To whole words of 8 bytes."""
    return np.pad(data, (0, -data.nbytes % 8))


SHIFTS = 64
"""A workload's arguments begin at a random one of so many places, ALIGNMENT bytes apart."""


class Arena:
    """Memory for one binding of any of the workloads. nbytes: what a session is to be opened for.

    plans: one a workload. smallest: the workload with the smallest arguments.
    """

    def __init__(self, task: Task, workloads: Sequence[Workload], plans: Sequence[Plan]) -> None:
        self._task = task
        pairs = list(zip(workloads, plans, strict=True))
        each = [Region.of_arguments(task, w).nbytes for w in workloads]
        self.smallest = workloads[each.index(min(each))]
        shared = max(Region.of_shared(task, w, plan).nbytes for w, plan in pairs)
        scratch = max(Region.of_scratch(plan).nbytes for plan in plans)
        self._sizes = (max(each) + SHIFTS * ALIGNMENT, shared, scratch)
        self.nbytes = sum(self._sizes)

    def in_turn(
        self,
        session: Session,
        workloads: Sequence[Workload],
        plans: Sequence[Plan],
        rng: np.random.Generator,
    ) -> list[WorkloadMemory]:
        """The memory of each workload, to be used one after the other."""
        arguments, shared, scratch = (session.alloc(nbytes) for nbytes in self._sizes)
        memories = []
        for workload, plan in zip(workloads, plans, strict=True):
            nbytes = Region.of_arguments(self._task, workload).nbytes
            place = arguments.view(int(rng.integers(SHIFTS)) * ALIGNMENT, nbytes)
            memories.append(
                WorkloadMemory(
                    session,
                    self._task,
                    workload,
                    plan,
                    copies=place,
                    shared=shared,
                    scratch=scratch,
                )
            )
        return memories
