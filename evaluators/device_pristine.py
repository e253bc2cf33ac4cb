"""Pristine inputs and masked references kept on a GPU, where results are judged too."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np

from evaluators.arguments import TaskError, Workload
from evaluators.bench import Bench
from evaluators.checks import compare
from evaluators.device import Buffer, Device, Session
from evaluators.evaluation import Rejected
from evaluators.gpu import DeviceFault
from evaluators.harness import DEADLINE_S, Found, Harness, Trusted, probe, unmasked
from evaluators.pool import Array, Draw, InputPool
from evaluators.pristine import Placed
from evaluators.region import GUARD_BYTES, SCRATCH_POISON, TAIL_BYTES, Region
from evaluators.task import Task

LIMIT_BYTES = 24 << 30
HEAVY_FLOPS = 2e9
"""Work beyond which a task's reference.hip, where it has one, serves instead of reference.py."""
_NOISE_BYTES = GUARD_BYTES + TAIL_BYTES + 4096
_NEAR = 1e-3  # of the tolerance: as far as reference.hip may be from reference.py


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One draw on the device. constants: by name. references: by output, masked with key."""

    memory: Session
    image: Buffer
    constants: dict[str, Buffer]
    references: dict[str, Buffer]
    key: int
    nbytes: int


@dataclass(slots=True)
class _Store:
    """What is held, the longest unused first."""

    draws: OrderedDict[tuple[str, int], Held] = field(default_factory=OrderedDict)
    nbytes: int = 0

    def drop_one(self, *, but: str = "") -> bool:
        """The longest unused one, but none of the shape in use; False when there is none."""
        for key in self.draws:
            if key[0] != but:
                held = self.draws.pop(key)
                held.memory.close()
                self.nbytes -= held.nbytes
                return True
        return False


class DevicePristine:
    """See pristine.Pristine. Serves every kernel of a task's pool on one GPU."""

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
        """limit_bytes: what draws may take of the device's memory, but for one draw at least.

        Raises DeviceFault when the device does not compute a known answer.
        """
        self._device = device
        self._task = task
        self._pool = pool
        self._trusted = trusted
        self._limit_bytes = limit_bytes
        self._heavy_flops = heavy_flops
        self._trusts_reference = False
        self._store = _Store()
        self._harness = Harness(device, trusted)
        probe(self._harness, device, trusted)
        self._memory = device.open(trusted.harness, memory_bytes=_NOISE_BYTES)
        self._noise_host = np.random.default_rng(secrets.randbits(64)).integers(
            0, 256, _NOISE_BYTES, dtype=np.uint8
        )
        self._noise = self._memory.alloc(_NOISE_BYTES)
        self._memory.write(self._noise, self._noise_host)

    def place_shared(self, bench: Bench, draw: Draw, rng: np.random.Generator) -> None:
        if not bench.shared.spans:
            return
        held, work = self._held(bench, draw), self._harness.work()
        for start, stop in bench.shared.guards():
            guard = bench.shared_buffer.view(start, stop - start)
            work.copy(guard, self._noise.view(0, guard.nbytes))
        for span in bench.shared.spans:
            buffer = bench.shared_buffer.view(span.start, span.nbytes)
            if span.given:
                work.copy(buffer, held.constants[span.name])
            else:
                work.fill(buffer, SCRATCH_POISON)
        self._harness.run(work)

    def inspect_shared(self, bench: Bench) -> None:
        if not bench.shared.spans:
            return
        work, after = self._harness.work(), bench.shared_buffer
        for start, stop in bench.shared.guards():
            noise = self._noise.view(0, stop - start)
            work.unchanged(noise, after.view(start, stop - start), 0)
        constants = [span for span in bench.shared.spans if span.given]
        if constants:  # the same for every draw
            held = self._held(bench, self._pool.get(bench.workload, 0))
            for span in constants:
                wanted = held.constants[span.name]
                work.unchanged(wanted, after.view(span.start, span.nbytes), 0)
        (found,) = self._harness.run(work, 1)
        if found.fine:
            return
        draw = self._pool.get(bench.workload, 0)
        before = bench.shared.image(draw.inputs, np.random.default_rng())
        for start, stop in bench.shared.guards():
            before[start:stop] = self._noise_host[: stop - start]
        bench.shared.inspect(before, _bytes(bench.session, after))
        raise _disagreement(found)

    def place(self, bench: Bench, placed: Placed, rng: np.random.Generator) -> None:
        work = self._harness.work()
        for copy, draw in placed.items():
            work.copy(bench.copies[copy], self._held(bench, draw).image)
        self._harness.run(work)

    def place_unseen(self, bench: Bench, pool: InputPool, rng: np.random.Generator) -> None:
        """A known draw with every input's elements moved round by a random distance."""
        (draw,) = pool.draws(bench.workload, rng, 1)
        image, work = self._held(bench, draw).image, self._harness.work()
        work.copy(bench.copies[0], image)
        for span in bench.region.spans:
            if span.given and span.nbytes:
                shift = int(rng.integers(span.nbytes // span.dtype.itemsize)) * span.dtype.itemsize
                buffer = bench.bindings[0][span.name]
                work.rotate(buffer, image.view(span.start, span.nbytes), shift)
        self._harness.run(work)

    def judge(self, bench: Bench, placed: Placed) -> dict[str, float]:
        outputs = self._task.outputs
        work = self._harness.work()
        for i, (copy, draw) in enumerate(placed.items()):
            held, after = self._held(bench, draw), bench.copies[copy]
            for start, stop in _kept(bench.region):
                before = held.image.view(start, stop - start)
                work.unchanged(before, after.view(start, stop - start), i * len(outputs))
            for k, output in enumerate(outputs):
                work.compare(
                    bench.bindings[copy][output.name],
                    held.references[output.name],
                    dtype=output.dtype,
                    key=held.key,
                    rtol=output.rtol(bench.workload.dims),
                    atol=output.atol(bench.workload.dims),
                    slot=i * len(outputs) + k,
                )
        found = self._harness.run(work, len(placed) * len(outputs))
        errors: dict[str, float] = {}
        for i, (copy, draw) in enumerate(placed.items()):
            each = found[i * len(outputs) : (i + 1) * len(outputs)]
            if not all(one.fine for one in each):
                self._explain(bench, copy, draw, each)
            for output, one in zip(outputs, each, strict=True):
                key = f"{bench.workload.label}/{output.name}"
                errors[key] = max(one.error, errors.get(key, 0.0))
        return errors

    def close(self) -> None:
        while self._store.drop_one():
            pass
        self._memory.close()
        self._harness.close()

    def _explain(self, bench: Bench, copy: int, draw: Draw, found: list[Found]) -> None:
        """The host finds the words for what the device found. Raises Rejected(WRONG)."""
        held = self._held(bench, draw)
        references = {name: self._reference(held, name, bench.workload) for name in held.references}
        bench.judge(references, _bytes(bench.session, held.image), bench.taken(copy))
        raise _disagreement(*found)

    def _reference(self, held: Held, name: str, workload: Workload) -> Array:
        (output,) = (output for output in self._task.outputs if output.name == name)
        buffer, shape = held.references[name], output.shape(workload.dims)
        raw = held.memory.read(buffer, np.dtype(np.uint64), shape)
        wide = np.int64 if np.issubdtype(output.np_dtype, np.integer) else np.float64
        reference: Array = unmasked(raw, held.key).view(wide)
        return reference

    def _held(self, bench: Bench, draw: Draw) -> Held:
        key, store = (bench.workload.label, draw.index), self._store
        held = store.draws.get(key)
        if held is None:
            heavy = self._is_heavy(bench.workload)
            held = self._upload(bench.workload, bench.region, draw, heavy=heavy)
            store.draws[key] = held
            store.nbytes += held.nbytes
        store.draws.move_to_end(key)
        return held

    def _upload(
        self, workload: Workload, region: Region, draw: Draw, *, heavy: bool = False
    ) -> Held:
        constants = {
            a.name: a.nbytes(workload.dims) for a in self._task.arguments if a.role == "constant"
        }
        outputs = {
            a.name: a.nbytes(workload.dims) // a.np_dtype.itemsize * 8 for a in self._task.outputs
        }
        nbytes = region.nbytes + sum(constants.values()) + sum(outputs.values())
        store = self._store
        while store.nbytes + nbytes > self._limit_bytes and store.drop_one(but=workload.label):
            pass
        memory = self._device.open(self._trusted.harness, memory_bytes=nbytes)
        try:
            held = Held(
                memory=memory,
                image=memory.alloc(region.nbytes),
                constants={name: memory.alloc(size) for name, size in constants.items()},
                references={name: memory.alloc(size) for name, size in outputs.items()},
                key=secrets.randbits(62),
                nbytes=nbytes,
            )
        except Rejected as rejected:
            memory.close()
            if store.drop_one(but=workload.label):
                return self._upload(workload, region, draw, heavy=heavy)
            raise DeviceFault(
                f"no room for the inputs of {workload.label} on the device ({rejected.reason}): "
                "is another process using it?"
            ) from rejected
        self._fill(held, workload, region, draw, heavy=heavy)
        return held

    def _fill(
        self, held: Held, workload: Workload, region: Region, draw: Draw, *, heavy: bool
    ) -> None:
        rng = np.random.default_rng(secrets.randbits(64))
        held.memory.write(held.image, region.image(draw.inputs, rng))
        for name, buffer in held.constants.items():
            held.memory.write(buffer, draw.inputs[name])
        if heavy:
            self._check_reference()
            self._compute(workload, region, held)
        else:
            for name, buffer in held.references.items():
                held.memory.write(buffer, draw.reference[name])
        work = self._harness.work()
        for buffer in held.references.values():
            work.mask(buffer, held.key)
        self._harness.run(work)

    def _is_heavy(self, workload: Workload) -> bool:
        if self._trusted.reference is None or self._task.flops is None:
            return False
        return float(self._task.flops.evaluate(workload.dims)) > self._heavy_flops

    def _compute(self, workload: Workload, region: Region, held: Held) -> None:
        """The references by the task's own kernel, in double precision."""
        assert self._trusted.reference is not None
        kernel, compiled = self._trusted.reference
        plan = kernel.plan(self._task, workload.dims)
        buffers = {**region.buffers(held.image), **held.constants, **held.references}
        try:
            with self._device.open(compiled, memory_bytes=0) as session:
                session.run(plan, buffers, deadline_s=DEADLINE_S)
        except Rejected as rejected:
            where = f"{self._task.folder / 'reference.hip'} on {workload.label}"
            raise DeviceFault(f"{where}: {rejected}") from rejected

    def _check_reference(self) -> None:
        """reference.hip against reference.py on the tests' shapes. Raises TaskError."""
        if self._trusts_reference:
            return
        for workload in self._task.workloads("tests", self._device.info.backend):
            region = Region.of_arguments(self._task, workload)
            draw = self._pool.get(workload, 0)
            held = self._upload(workload, region, draw)
            self._compute(workload, region, held)
            for output in self._task.outputs:
                found = unmasked(
                    self._reference(held, output.name, workload).view(np.uint64), held.key
                ).view(draw.reference[output.name].dtype)
                rtol, atol = output.rtol(workload.dims), output.atol(workload.dims)
                reference = draw.reference[output.name]
                error = compare(found, reference, rtol=rtol, atol=atol).error
                if error > _NEAR:
                    raise TaskError(
                        f"{self._task.folder / 'reference.hip'}: {output.name} on "
                        f"{workload.label} is {error:.3g} of its tolerance away from "
                        f"reference.py, at most {_NEAR:g} is allowed"
                    )
            held.memory.close()
        self._trusts_reference = True


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
