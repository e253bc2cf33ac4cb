"""Judge inputs drawn on a GPU against masked references there; small tests' shapes on the host."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from weakref import WeakSet

import numpy as np

from evaluators.checks.budget import FLOAT32_ULP, NONE, Error, rounding_unit, spent
from evaluators.checks.gpu_by_host import ByHost
from evaluators.checks.gpu_draws import (
    HEAVY_FLOPS,
    LIMIT_BYTES,
    GpuDraws,
    Held,
)
from evaluators.checks.gpu_kernels import Found, Harness, Trusted, probe
from evaluators.checks.gpu_outputs import bytes_of, compared_on_device, drawn_on_device
from evaluators.checks.gpu_placing import Placing, Secret
from evaluators.checks.inputs import Array, Draw, InputPool
from evaluators.checks.judge import HostJudge, Placed
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import Image, Region
from evaluators.device import Buffer, Device
from evaluators.device_info import DeviceFault, MemorySpoilt
from evaluators.evaluation import Rejected
from evaluators.tasks.arguments import Argument, Workload
from evaluators.tasks.task import Task


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
        self._placings: dict[str, Placing] = {}
        self._host = HostJudge()
        self._scratch_secrets: dict[Buffer, Secret] = {}
        self._unusual: WeakSet[WorkloadMemory] = WeakSet()
        self._drawn = drawn_on_device(task, device.info.backend)
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
        self._by_host = ByHost(task, self._draws, self._image)

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
            self._place(memory.workload, {memory.shared_buffer: secret}, memory.shared)
            held = self._held(memory, draw)
            self._by_host.place(memory, memory.session, memory.shared, memory.shared_buffer, held)

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
        work, placing = self._harness.work(), self._placing(memory.workload)
        for copy, one in held.items():
            stays, base = copy in stale, memory.copies[copy]
            placing.place(work, memory.region, base, one.secret, stale=stays)
            if copy < len(memory.scratches):
                own = memory.scratches[copy]
                self._scratch_secrets[own] = one.secret
                placing.place(work, memory.scratch, own, one.secret)
        self._harness.run(work)
        for copy, one in held.items():
            base = memory.copies[copy]
            self._by_host.place(memory, memory.session, memory.region, base, one)
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

    def narrows(self, workload: Workload) -> bool:
        return workload.label in self._drawn and self._draws.computes

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

    def _placing(self, workload: Workload) -> Placing:
        if workload.label not in self._placings:
            self._placings[workload.label] = Placing(self._task, workload)
        return self._placings[workload.label]

    def _place(self, workload: Workload, secrets: Mapping[Buffer, Secret], region: Region) -> None:
        work = self._harness.work()
        for buffer, secret in secrets.items():
            self._placing(workload).place(work, region, buffer, secret)
        self._harness.run(work)

    def _inspect_shared(self, memory: WorkloadMemory) -> None:
        work, secret = self._harness.work(), self._draws.constants(memory.workload)
        placing = self._placing(memory.workload)
        placing.inspect(work, memory.shared, memory.shared_buffer, secret, slot=0)
        (found,) = self._harness.run(work, 1)
        if not found.fine:
            after = bytes_of(memory.session, memory.shared_buffer)
            before = self._image(memory, memory.shared, secret)
            memory.shared.inspect(self._by_host.beside(memory.shared, before, after), after)
            raise _disagreement(found)

    def _inspect_scratches(self, memory: WorkloadMemory, scratches: Collection[int]) -> None:
        """Scratch of bindings' own: nothing round it may have changed."""
        buffers = [memory.scratches[copy] for copy in scratches]
        work = self._harness.work()
        for slot, buffer in enumerate(buffers):
            secret = self._scratch_secrets[buffer]
            self._placing(memory.workload).inspect(work, memory.scratch, buffer, secret, slot=slot)
        for buffer, found in zip(buffers, self._harness.run(work, len(buffers)), strict=True):
            if not found.fine:
                before = self._image(memory, memory.scratch, self._scratch_secrets[buffer])
                memory.scratch.inspect_guards(before, bytes_of(memory.session, buffer))
                raise _disagreement(found)

    def _judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        outputs = compared_on_device(self._task, memory.workload)
        count, work = max(1, len(outputs)), self._harness.work()
        held = {copy: self._held(memory, draw) for copy, draw in placed.items()}
        env, placing = memory.workload.env, self._placing(memory.workload)
        for i, (copy, one) in enumerate(held.items()):
            base = memory.copies[copy]
            placing.inspect(work, memory.region, base, one.secret, slot=i * count)
            for k, output in enumerate(outputs):
                work.compare(
                    memory.bindings[copy][output.name],
                    one.references[output.name],
                    dtype=output.dtype,
                    key=one.mask(output.name),
                    rtol=output.rtol(env),
                    atol=output.atol(env),
                    slot=i * count + k,
                )
        found = self._harness.run(work, len(placed) * count)
        errors: dict[str, Error] = {}
        for i, (copy, draw) in enumerate(placed.items()):
            each = found[i * count : (i + 1) * count]
            self._explain(memory, copy, draw, outputs, each)
            for key, error in self._errors(memory, draw, outputs, each).items():
                errors[key] = error.beside(errors.get(key, error))
        return {**self._by_host.judge(memory, placed), **errors}

    def _errors(
        self,
        memory: WorkloadMemory,
        draw: Draw,
        outputs: Sequence[Argument],
        found: Sequence[Found],
    ) -> dict[str, Error]:
        """Raises Rejected(WRONG): less exact than it may be."""
        errors = {}
        for output, one in zip(outputs, found, strict=False):
            count = math.prod(output.shape(memory.workload.env))
            unit = rounding_unit(output.np_dtype) / FLOAT32_ULP
            rms, ulp = math.sqrt(one.beyond / count), unit * math.sqrt(one.ulps / count)
            errors[f"{memory.workload.label}/{output.name}"] = spent(
                output,
                Error(largest=one.error, rms=rms, ulp=ulp),
                draw.standard.limits.get(output.name, NONE),
            )
        return errors

    def _explain(
        self,
        memory: WorkloadMemory,
        copy: int,
        draw: Draw,
        outputs: Sequence[Argument],
        found: Sequence[Found],
    ) -> None:
        """The host finds the words for what the device found. Raises MemorySpoilt, Rejected."""
        held = self._held(memory, draw)
        checksums = [held.checksums[output.name] for output in outputs]
        if outputs and checksums != [one.checksum for one in found]:
            raise MemorySpoilt(
                f"references of {memory.workload.label} on the device were changed "
                "while a kernel ran that has no business there"
            )
        if all(one.fine for one in found):
            return
        before = self._image(memory, memory.region, held.secret, held)
        inputs = self._by_host.inputs(memory, copy, held)
        references = self._draws.judged_by_host(held, memory, inputs)
        memory.judge(references, before, memory.taken(copy), draw.standard, inputs)
        raise _disagreement(*found)

    def _image(
        self, memory: WorkloadMemory, region: Region, secret: Secret, held: Held | None = None
    ) -> Image:
        """A region's bytes as they were placed. held: whose inputs() made a part of it."""
        try:
            with self._device.open(self._trusted.harness, memory_bytes=region.nbytes) as session:
                buffer = session.alloc(region.nbytes)
                self._place(memory.workload, {buffer: secret}, region)
                if held is not None:
                    self._by_host.place(memory, session, region, buffer, held)
                return bytes_of(session, buffer)
        except Rejected as rejected:
            raise DeviceFault(f"no room to draw inputs once more: {rejected.reason}") from rejected


def _disagreement(*found: Found) -> DeviceFault:
    return DeviceFault(f"the device finds fault ({found}) with what the host finds right")
