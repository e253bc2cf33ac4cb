"""A task's draws on a GPU: pristine bytes and masked references, within a bound of memory."""

import secrets
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from evaluators.checks.compare import compare
from evaluators.checks.gpu_kernels import DEADLINE_S, Harness, Trusted, unmasked
from evaluators.checks.inputs import Array, Draw, InputPool
from evaluators.checks.region import Region
from evaluators.device import Buffer, Device, Session
from evaluators.device_info import DeviceFault
from evaluators.evaluation import Rejected
from evaluators.tasks.arguments import TaskError, Workload
from evaluators.tasks.task import Task

LIMIT_BYTES = 24 << 30
HEAVY_FLOPS = 2e9
"""Work beyond which a task's reference.hip, where it has one, serves instead of reference.py."""
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


class GpuDraws:
    """Draws by workload and index, uploaded when first asked for, the longest unused dropped.

    limit_bytes: for all of them, but those of the shape in use are never dropped.
    """

    def __init__(
        self,
        device: Device,
        task: Task,
        pool: InputPool,
        trusted: Trusted,
        harness: Harness,
        *,
        limit_bytes: int = LIMIT_BYTES,
        heavy_flops: float = HEAVY_FLOPS,
    ) -> None:
        self._device = device
        self._task = task
        self._pool = pool
        self._trusted = trusted
        self._harness = harness
        self._limit_bytes = limit_bytes
        self._heavy_flops = heavy_flops
        self._trusts_reference = False
        self._draws: OrderedDict[tuple[str, int], Held] = OrderedDict()
        self._nbytes = 0

    def held(self, workload: Workload, region: Region, draw: Draw) -> Held:
        """The draw on the device. Raises DeviceFault, and TaskError for a wrong reference.hip."""
        key = (workload.label, draw.index)
        held = self._draws.get(key)
        if held is None:
            held = self._upload(workload, region, draw, heavy=self._is_heavy(workload))
            self._draws[key] = held
            self._nbytes += held.nbytes
        self._draws.move_to_end(key)
        return held

    def close(self) -> None:
        while self._drop_one():
            pass

    def _drop_one(self, *, but: str = "") -> bool:
        """The longest unused one, but none of that shape; False when there is none."""
        for key in self._draws:
            if key[0] != but:
                held = self._draws.pop(key)
                held.memory.close()
                self._nbytes -= held.nbytes
                return True
        return False

    def reference(self, held: Held, name: str, workload: Workload) -> Array:
        """Read back from the device."""
        (output,) = (output for output in self._task.outputs if output.name == name)
        buffer, shape = held.references[name], output.shape(workload.dims)
        raw = held.memory.read(buffer, np.dtype(np.uint64), shape)
        wide = np.int64 if np.issubdtype(output.np_dtype, np.integer) else np.float64
        reference: Array = unmasked(raw, held.key).view(wide)
        return reference

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
        while self._nbytes + nbytes > self._limit_bytes and self._drop_one(but=workload.label):
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
            if self._drop_one(but=workload.label):
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
                    self.reference(held, output.name, workload).view(np.uint64), held.key
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
