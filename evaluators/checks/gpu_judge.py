"""Judge inputs and masked references kept on a GPU, where results are judged too."""

import math
import secrets
from collections.abc import Mapping, Sequence

import numpy as np

from evaluators.checks.budget import NONE, Error, spent
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

    def inspect_shared(self, memory: WorkloadMemory) -> None:
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

    def place(self, memory: WorkloadMemory, placed: Placed, rng: np.random.Generator) -> None:
        work = self._harness.work()
        for copy, draw in placed.items():
            work.copy(memory.copies[copy], self._held(memory, draw).image)
        self._harness.run(work)

    def place_afresh(
        self,
        memory: WorkloadMemory,
        pool: InputPool,
        rng: np.random.Generator,
        draw: Draw | None = None,
    ) -> None:
        """Inputs never met are a known draw, each input's elements moved round at random."""
        known = draw or pool.draws(memory.workload, rng, 1)[0]
        image, work = self._held(memory, known).image, self._harness.work()
        work.copy(memory.copies[0], image)
        for span in memory.region.spans:
            if span.given and span.nbytes:
                count = span.nbytes // span.dtype.itemsize
                shift = int(rng.integers(count)) * span.dtype.itemsize if draw is None else 0
                buffer = memory.bindings[0][span.name]
                work.rotate(buffer, image.view(span.start, span.nbytes), shift)
        self._harness.run(work)

    def judge(self, memory: WorkloadMemory, placed: Placed) -> dict[str, Error]:
        """Small draws of unusual values, whose scale differs by element, are the host's."""
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
        errors: dict[str, Error] = {}
        for i, (copy, draw) in enumerate(placed.items()):
            each = found[i * len(outputs) : (i + 1) * len(outputs)]
            if draw.standard.values:
                made = self._judged_by_host(memory, copy, draw)
            elif all(one.fine for one in each):
                made = self._errors(memory, draw, each)
            else:
                self._judged_by_host(memory, copy, draw)
                raise _disagreement(*each)
            for key, error in made.items():
                errors[key] = error.beside(errors.get(key, error))
        return errors

    def _errors(
        self, memory: WorkloadMemory, draw: Draw, found: Sequence[Found]
    ) -> dict[str, Error]:
        """Raises Rejected(WRONG): less exact than it may be."""
        errors = {}
        for output, one in zip(self._task.outputs, found, strict=True):
            count = math.prod(output.shape(memory.workload.dims))
            rms, ulp = math.sqrt(one.beyond / count), math.sqrt(one.ulps / count)
            errors[f"{memory.workload.label}/{output.name}"] = spent(
                output,
                Error(largest=one.error, rms=rms, ulp=ulp),
                draw.standard.limits.get(output.name, NONE),
            )
        return errors

    def close(self) -> None:
        self._store.close()
        self._memory.close()
        self._harness.close()

    def _held(self, memory: WorkloadMemory, draw: Draw) -> Held:
        return self._store.held(memory.workload, memory.region, draw)

    def _judged_by_host(self, memory: WorkloadMemory, copy: int, draw: Draw) -> Mapping[str, Error]:
        """Raises Rejected(WRONG), in words that only the host finds."""
        held = self._held(memory, draw)
        references = {
            name: self._store.reference(held, name, memory.workload) for name in held.references
        }
        return memory.judge(
            references, _bytes(memory.session, held.image), memory.taken(copy), draw.standard
        )


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
