"""Judge inputs and masked references kept on a GPU, where results are judged too."""

import secrets
from collections.abc import Collection

import numpy as np

from evaluators.checks.gpu_draws import HEAVY_FLOPS, LIMIT_BYTES, GpuDraws, Held
from evaluators.checks.gpu_kernels import Found, Harness, Trusted, probe
from evaluators.checks.inputs import Draw, InputPool
from evaluators.checks.judge import Placed
from evaluators.checks.memory import WorkloadMemory
from evaluators.checks.region import GUARD_BYTES, SCRATCH_POISON, TAIL_BYTES, Region
from evaluators.device import Buffer, Device, Session
from evaluators.device_info import DeviceFault
from evaluators.tasks.task import Task

_NOISE_BYTES = GUARD_BYTES + TAIL_BYTES + 4096


class GpuJudge:
    """See judge.Judge. Serves every kernel of a task's pool on one GPU."""

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
        self._task = task
        self._pool = pool
        self._harness = Harness(device, trusted)
        probe(self._harness, device, trusted)
        self._store = GpuDraws(
            device,
            task,
            pool,
            trusted,
            self._harness,
            limit_bytes=limit_bytes,
            heavy_flops=heavy_flops,
        )
        self._memory = device.open(trusted.harness, memory_bytes=_NOISE_BYTES)
        self._noise_host = np.random.default_rng(secrets.randbits(64)).integers(
            0, 256, _NOISE_BYTES, dtype=np.uint8
        )
        self._noise = self._memory.alloc(_NOISE_BYTES)
        self._memory.write(self._noise, self._noise_host)

    def place_shared(self, memory: WorkloadMemory, draw: Draw, rng: np.random.Generator) -> None:
        if not memory.shared.spans:
            return
        held, work = self._held(memory, draw), self._harness.work()
        for start, stop in memory.shared.guards():
            guard = memory.shared_buffer.view(start, stop - start)
            work.copy(guard, self._noise.view(0, guard.nbytes))
        for span in memory.shared.spans:
            buffer = memory.shared_buffer.view(span.start, span.nbytes)
            if span.given:
                work.copy(buffer, held.constants[span.name])
            else:
                work.fill(buffer, SCRATCH_POISON)
        self._harness.run(work)

    def inspect_shared(self, memory: WorkloadMemory, *, scratches: Collection[int]) -> None:
        if memory.scratches:
            self._inspect_scratches(memory, scratches)
        if not memory.shared.spans:
            return
        work, after = self._harness.work(), memory.shared_buffer
        for start, stop in memory.shared.guards():
            noise = self._noise.view(0, stop - start)
            work.unchanged(noise, after.view(start, stop - start), 0)
        constants = [span for span in memory.shared.spans if span.given]
        if constants:  # the same for every draw
            held = self._held(memory, self._pool.get(memory.workload, 0))
            for span in constants:
                wanted = held.constants[span.name]
                work.unchanged(wanted, after.view(span.start, span.nbytes), 0)
        (found,) = self._harness.run(work, 1)
        if found.fine:
            return
        draw = self._pool.get(memory.workload, 0)
        before = memory.shared.image(draw.inputs, np.random.default_rng())
        for start, stop in memory.shared.guards():
            before[start:stop] = self._noise_host[: stop - start]
        memory.shared.inspect(before, _bytes(memory.session, after))
        raise _disagreement(found)

    def _inspect_scratches(self, memory: WorkloadMemory, scratches: Collection[int]) -> None:
        work = self._harness.work()
        for copy in scratches:
            for start, stop in memory.scratch.guards():
                guard = memory.scratches[copy].view(start, stop - start)
                work.unchanged(self._noise.view(0, guard.nbytes), guard, 0)
        (found,) = self._harness.run(work, 1)
        if found.fine:
            return
        for copy in scratches:
            memory.inspect_guards(memory.scratch, memory.scratches[copy], self._noise_host)
        raise _disagreement(found)

    def place(
        self,
        memory: WorkloadMemory,
        placed: Placed,
        rng: np.random.Generator,
        *,
        stale: Collection[int] = (),
    ) -> None:
        work = self._harness.work()
        for copy, draw in placed.items():
            image, buffer = self._held(memory, draw).image, memory.copies[copy]
            for start, stop in _placed(memory.region, stale=copy in stale):
                work.copy(buffer.view(start, stop - start), image.view(start, stop - start))
            if copy < len(memory.scratches):
                scratch = memory.scratches[copy]
                for start, stop in memory.scratch.guards():
                    guard = scratch.view(start, stop - start)
                    work.copy(guard, self._noise.view(0, guard.nbytes))
                for own in memory.scratch.buffers(scratch).values():
                    work.fill(own, SCRATCH_POISON)
        self._harness.run(work)

    def judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, float]:
        outputs = self._task.outputs
        work = self._harness.work()
        for i, (copy, draw) in enumerate(placed.items()):
            held, after = self._held(memory, draw), memory.copies[copy]
            for start, stop in _kept(memory.region):
                before = held.image.view(start, stop - start)
                work.unchanged(before, after.view(start, stop - start), i * len(outputs))
            for k, output in enumerate(outputs):
                work.compare(
                    memory.bindings[copy][output.name],
                    held.references[output.name],
                    dtype=output.dtype,
                    key=held.key,
                    rtol=output.rtol(memory.workload.dims),
                    atol=output.atol(memory.workload.dims),
                    slot=i * len(outputs) + k,
                )
        found = self._harness.run(work, len(placed) * len(outputs))
        errors: dict[str, float] = {}
        for i, (copy, draw) in enumerate(placed.items()):
            each = found[i * len(outputs) : (i + 1) * len(outputs)]
            if not all(one.fine for one in each):
                self._explain(memory, copy, draw, each)
            for output, one in zip(outputs, each, strict=True):
                key = f"{memory.workload.label}/{output.name}"
                errors[key] = max(one.error, errors.get(key, 0.0))
        return errors

    def spot_check(self, memory: WorkloadMemory, placed: Placed, rng: np.random.Generator) -> None:
        self.judge(memory, placed)

    def close(self) -> None:
        self._store.close()
        self._memory.close()
        self._harness.close()

    def _held(self, memory: WorkloadMemory, draw: Draw) -> Held:
        return self._store.held(memory.workload, memory.region, draw)

    def _explain(self, memory: WorkloadMemory, copy: int, draw: Draw, found: list[Found]) -> None:
        """The host finds the words for what the device found. Raises Rejected(WRONG)."""
        held = self._held(memory, draw)
        references = {
            name: self._store.reference(held, name, memory.workload) for name in held.references
        }
        memory.judge(references, _bytes(memory.session, held.image), memory.taken(copy))
        raise _disagreement(*found)


def _placed(region: Region, *, stale: bool) -> list[tuple[int, int]]:
    """From where to where a draw's bytes are put: everywhere, or but for the poison."""
    poisoned = [span for span in region.spans if stale and not span.given]
    starts = [0, *(span.stop for span in poisoned)]
    stops = [*(span.start for span in poisoned), region.nbytes]
    return list(zip(starts, stops, strict=True))


def _kept(region: Region) -> list[tuple[int, int]]:
    """From where to where a region must be as it was: guards and what is only read."""
    written = [span for span in region.spans if span.written]
    starts = [0, *(span.stop for span in written)]
    stops = [*(span.start for span in written), region.nbytes]
    return list(zip(starts, stops, strict=True))


def _bytes(session: Session, buffer: Buffer) -> "np.ndarray[tuple[int], np.dtype[np.uint8]]":
    return session.read(buffer, np.dtype(np.uint8), (buffer.nbytes,))


def _disagreement(*found: Found) -> DeviceFault:
    return DeviceFault(f"the device finds fault ({found}) with what the host finds right")
