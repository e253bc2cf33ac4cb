"""Judge inputs drawn on a GPU against masked references there; small tests' shapes on the host."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from weakref import WeakSet

import numpy as np

from evaluators.checks.budget import FLOAT32_ULP, NONE, Error, rounding_unit, spent
from evaluators.checks.gpu_draws import HEAVY_FLOPS, LIMIT_BYTES, GpuDraws, Held
from evaluators.checks.gpu_kernels import Found, Harness, Trusted, probe
from evaluators.checks.gpu_placing import Placing, Secret
from evaluators.checks.inputs import Array, Draw, InputPool
from evaluators.checks.judge import HostJudge, Placed
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Image, Region
from evaluators.device import Buffer, Device, Session
from evaluators.device_info import DeviceFault, MemorySpoilt
from evaluators.evaluation import Rejected
from evaluators.tasks.arguments import Workload
from evaluators.tasks.task import Task

SMALL_BYTES = 4 << 20
"""The host draws tests' shapes of so many bytes, where it may choose unusual values, and judges
them; of it all nothing stays in the device's memory."""


class GpuJudge:
    """See judge.Judge. Serves every kernel of a task's pool on one GPU.

    spoilt: a kernel has written where it may not, so that no other should run in this process.
    """

    def __init__(
        self,
        device: Device,
        task: Task,
        pool: InputPool,
        trusted: Trusted,
        *,
        limit_bytes: int = LIMIT_BYTES,
        heavy_flops: float = HEAVY_FLOPS,
    ) -> None:
        """limit_bytes, heavy_flops: see GpuDraws.

        Raises DeviceFault when the device does not compute a known answer.
        """
        self.spoilt = False
        self._device = device
        self._task = task
        self._trusted = trusted
        self._placing = Placing(task)
        self._host = HostJudge()
        self._scratch_secrets: dict[Buffer, Secret] = {}
        self._unusual: WeakSet[WorkloadMemory] = WeakSet()
        self._drawn = _drawn_on_device(task, device.info.backend)
        self._harness = Harness(device, trusted)
        probe(self._harness, device, trusted)
        self._draws = GpuDraws(
            device,
            task,
            pool,
            trusted,
            self._harness,
            limit_bytes=limit_bytes,
            heavy_flops=heavy_flops,
        )

    def renew(self) -> None:
        """Another evaluation begins, with inputs of its own."""
        self._host = HostJudge()
        self._scratch_secrets.clear()
        self._draws.renew()

    def place_shared(self, memory: WorkloadMemory, draw: Draw, rng: np.random.Generator) -> None:
        if draw.standard.values:
            self._unusual.add(memory)
        if not self._is_drawn(memory):
            self._host.place_shared(memory, draw, rng)
        elif memory.shared.spans:
            secret = self._draws.constants(memory.workload)
            self._place({memory.shared_buffer: secret}, memory.shared)

    def inspect_shared(self, memory: WorkloadMemory, *, scratches: Collection[int]) -> None:
        with self._noting_trespass():
            if not self._is_drawn(memory):
                self._host.inspect_shared(memory, scratches=scratches)
                return
            if memory.scratches:
                self._inspect_scratches(memory, scratches)
            if memory.shared.spans:
                self._inspect_shared(memory)

    def prefetch(self, memory: WorkloadMemory, draws: Sequence[Draw]) -> None:
        if not self._is_drawn(memory):
            self._host.prefetch(memory, draws)

    def place(
        self,
        memory: WorkloadMemory,
        placed: Placed,
        rng: np.random.Generator,
        *,
        stale: Collection[int] = (),
    ) -> None:
        if not self._is_drawn(memory):
            self._host.place(memory, placed, rng, stale=stale)
            return
        held = {copy: self._held(memory, draw) for copy, draw in placed.items()}
        work = self._harness.work()
        for copy, one in held.items():
            stays, base = copy in stale, memory.copies[copy]
            self._placing.place(work, memory.region, base, one.secret, stale=stays)
            if copy < len(memory.scratches):
                own = memory.scratches[copy]
                self._scratch_secrets[own] = one.secret
                self._placing.place(work, memory.scratch, own, one.secret)
        self._harness.run(work)
        for copy, one in held.items():
            self._draws.complete(one, memory, copy)

    def judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        """Raises MemorySpoilt too: a kernel has changed references."""
        with self._noting_trespass():
            if not self._is_drawn(memory):
                return self._host.judge(memory, placed)
            return self._judge(memory, placed)

    def references(self, memory: WorkloadMemory, draw: Draw) -> Mapping[str, Array]:
        if not self._is_drawn(memory):
            return draw.reference
        return self._draws.references(self._held(memory, draw), memory.workload)

    def spot_check(self, memory: WorkloadMemory, placed: Placed, rng: np.random.Generator) -> None:
        self.judge(memory, placed)  # the device looks at everything

    def reference(self, workload: Workload, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """What should come of inputs that the host made; by the device where that is worth it.

        Raises DeviceFault, TaskError.
        """
        if workload.label in self._drawn:
            return self._draws.reference(workload, inputs)
        return self._task.reference(workload, inputs)

    def close(self) -> None:
        self._draws.close()
        self._harness.close()

    @contextmanager
    def _noting_trespass(self) -> Iterator[None]:
        try:
            yield
        except Rejected as rejected:
            self.spoilt = self.spoilt or rejected.trespass
            raise

    def _is_drawn(self, memory: WorkloadMemory) -> bool:
        """Whether the device draws and judges; the host chooses unusual values, whatever the
        shape, where it places them first of all."""
        return memory.workload.label in self._drawn and memory not in self._unusual

    def _held(self, memory: WorkloadMemory, draw: Draw) -> Held:
        return self._draws.held(memory.workload, draw.index)

    def _place(self, secrets: Mapping[Buffer, Secret], region: Region) -> None:
        work = self._harness.work()
        for buffer, secret in secrets.items():
            self._placing.place(work, region, buffer, secret)
        self._harness.run(work)

    def _inspect_shared(self, memory: WorkloadMemory) -> None:
        work, secret = self._harness.work(), self._draws.constants(memory.workload)
        self._placing.inspect(work, memory.shared, memory.shared_buffer, secret, slot=0)
        (found,) = self._harness.run(work, 1)
        if not found.fine:
            after = _bytes(memory.session, memory.shared_buffer)
            memory.shared.inspect(self._image(memory.shared, secret), after)
            raise _disagreement(found)

    def _inspect_scratches(self, memory: WorkloadMemory, scratches: Collection[int]) -> None:
        """Scratch of bindings' own: nothing round it may have changed."""
        buffers = [memory.scratches[copy] for copy in scratches]
        work = self._harness.work()
        for slot, buffer in enumerate(buffers):
            secret = self._scratch_secrets[buffer]
            self._placing.inspect(work, memory.scratch, buffer, secret, slot=slot)
        for buffer, found in zip(buffers, self._harness.run(work, len(buffers)), strict=True):
            if not found.fine:
                before = self._image(memory.scratch, self._scratch_secrets[buffer])
                memory.scratch.inspect_guards(before, _bytes(memory.session, buffer))
                raise _disagreement(found)

    def _judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        count, work = len(self._task.outputs), self._harness.work()
        held = {copy: self._held(memory, draw) for copy, draw in placed.items()}
        for i, (copy, one) in enumerate(held.items()):
            base = memory.copies[copy]
            self._placing.inspect(work, memory.region, base, one.secret, slot=i * count)
            for k, output in enumerate(self._task.outputs):
                work.compare(
                    memory.bindings[copy][output.name],
                    one.references[output.name],
                    dtype=output.dtype,
                    key=one.mask(output.name),
                    rtol=output.rtol(memory.workload.dims),
                    atol=output.atol(memory.workload.dims),
                    slot=i * count + k,
                )
        found = self._harness.run(work, len(placed) * count)
        errors: dict[str, Error] = {}
        for i, (copy, draw) in enumerate(placed.items()):
            each = found[i * count : (i + 1) * count]
            self._explain(memory, copy, draw, each)
            for key, error in self._errors(memory, draw, each).items():
                errors[key] = error.beside(errors.get(key, error))
        return errors

    def _errors(
        self, memory: WorkloadMemory, draw: Draw, found: Sequence[Found]
    ) -> dict[str, Error]:
        """Raises Rejected(WRONG): less exact than it may be."""
        errors = {}
        for output, one in zip(self._task.outputs, found, strict=True):
            count = math.prod(output.shape(memory.workload.dims))
            unit = rounding_unit(output.np_dtype) / FLOAT32_ULP
            rms, ulp = math.sqrt(one.beyond / count), unit * math.sqrt(one.ulps / count)
            errors[f"{memory.workload.label}/{output.name}"] = spent(
                output,
                Error(largest=one.error, rms=rms, ulp=ulp),
                draw.standard.limits.get(output.name, NONE),
            )
        return errors

    def _explain(
        self, memory: WorkloadMemory, copy: int, draw: Draw, found: Sequence[Found]
    ) -> None:
        """The host finds the words for what the device found. Raises MemorySpoilt, Rejected."""
        held = self._held(memory, draw)
        checksums = [held.checksums[output.name] for output in self._task.outputs]
        if checksums != [one.checksum for one in found]:
            raise MemorySpoilt(
                f"references of {memory.workload.label} on the device were changed "
                "while a kernel ran that has no business there"
            )
        if all(one.fine for one in found):
            return
        before = self._image(memory.region, held.secret)
        references = self._draws.references(held, memory.workload)
        memory.judge(references, before, memory.taken(copy), draw.standard)
        raise _disagreement(*found)

    def _image(self, region: Region, secret: Secret) -> Image:
        """A region's bytes as they were placed."""
        try:
            with self._device.open(self._trusted.harness, memory_bytes=region.nbytes) as session:
                buffer = session.alloc(region.nbytes)
                self._place({buffer: secret}, region)
                return _bytes(session, buffer)
        except Rejected as rejected:
            raise DeviceFault(f"no room to draw inputs once more: {rejected.reason}") from rejected


def _drawn_on_device(task: Task, backend: str) -> set[str]:
    """Labels of all benchmark and held-out shapes but those that are small tests too."""
    tests = task.workloads("tests", backend)
    others = (*task.workloads("benchmarks", backend), *task.workloads("held_out", backend))
    small = {w.label for w in tests if task.nbytes(w) <= SMALL_BYTES}
    return {workload.label for workload in others} - small


def _bytes(session: Session, buffer: Buffer) -> Image:
    return session.read(buffer, np.dtype(np.uint8), (buffer.nbytes,))


def _disagreement(*found: Found) -> DeviceFault:
    return DeviceFault(f"the device finds fault ({found}) with what the host finds right")
