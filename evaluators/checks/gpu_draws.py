"""A task's draws on a GPU: the secrets that inputs are drawn from, and masked references."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from evaluators.checks.compare import compare
from evaluators.checks.gpu_kernels import DEADLINE_S, Harness, Trusted
from evaluators.checks.gpu_outputs import (
    compared_on_device,
    inputs_in,
    reference_bytes,
    small_tests,
)
from evaluators.checks.gpu_placing import Secret, key_of, new_secret
from evaluators.checks.inputs import Array, InputPool
from evaluators.checks.memory import WorkloadMemory
from evaluators.device import Buffer, Device, Session
from evaluators.device_info import DeviceFault
from evaluators.dtypes import wide
from evaluators.evaluation import Rejected
from evaluators.tasks.arguments import TaskError, Workload
from evaluators.tasks.reference import smallest
from evaluators.tasks.task import Task

LIMIT_BYTES = 24 << 30
HEAVY_FLOPS = 2e10
"""Work beyond which an evaluation computes one new reference of a shape, and no more."""
_AT_ONCE = 1 << 22  # elements, in whole tiles of 512
_NEAR = 1e-3  # of the tolerance: as far as reference.hip may be from reference.py


@dataclass(slots=True, kw_only=True)
class Held:
    """One draw on the device. references: by output, masked; known by their checksums once made.

    evaluation: the one in which its secret was chosen. made: what the task's inputs() made of it.
    own: references that are judged on the host, as an epilogue() comes before.
    """

    memory: Session
    references: Mapping[str, Buffer]
    nbytes: int
    evaluation: int
    secret: Secret = field(default_factory=new_secret, repr=False)
    checksums: dict[str, int] = field(default_factory=dict, repr=False)
    made: Mapping[str, Array] | None = field(default=None, repr=False)
    own: Mapping[str, Array] | None = field(default=None, repr=False)

    def mask(self, output: str) -> int:
        return key_of(self.secret, f"mask of {output}")


class GpuDraws:
    """Draws by workload and index, made when first asked for, the longest unused dropped.

    With every evaluation come new secrets: for all draws where the task's reference.hip makes
    the references, on a heavy shape for the first that is asked for; where reference.py makes
    them, on the host, for the first of the smallest shape. Other draws stay.
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
        """limit_bytes: for all of them, or an eighth of the device where that is less; those of the
        shape in use are never dropped."""
        self._device = device
        self._task = task
        self._pool = pool
        self._reference = trusted.reference
        self._trusted = trusted
        self._harness = harness
        self._limit_bytes = min(limit_bytes, device.info.memory_bytes // 8 or limit_bytes)
        self._heavy_flops = heavy_flops
        self._smallest = smallest(task, device.info.backend, ("benchmarks",))
        self._session: Session | None = None  # of reference.hip, once it is trusted
        self._evaluation = 0
        self._renewed: dict[str, int] = {}  # the evaluation of a shape's newest secret
        self._constants: dict[str, tuple[int, Secret]] = {}
        self._draws: OrderedDict[tuple[str, int], Held] = OrderedDict()

    def renew(self) -> None:
        """Another evaluation begins."""
        self._evaluation += 1

    def held(self, workload: Workload, index: int) -> Held:
        """The draw on the device. Raises DeviceFault."""
        key = (workload.label, index)
        held = self._draws.get(key)
        if held is None:
            held = self._draws[key] = self._allocate(workload)
            self._renewed[workload.label] = self._evaluation
        elif self._is_old(workload, held):
            held.secret, held.checksums, held.made, held.own = new_secret(), {}, None, None
            held.evaluation = self._renewed[workload.label] = self._evaluation
        self._draws.move_to_end(key)
        return held

    def constants(self, workload: Workload) -> Secret:
        """What a shape's constants and shared guards are drawn from, the same for every draw."""
        made, secret = self._constants.get(workload.label, (-1, b""))
        if made < 0 or (made != self._evaluation and self._renews(workload) == "all"):
            made, secret = self._evaluation, new_secret()
        self._constants[workload.label] = made, secret
        return secret

    def made(self, held: Held, workload: Workload) -> Mapping[str, Array]:
        """What the task's own inputs() makes for a draw, by the host. Raises TaskError."""
        if held.made is None:
            constants = {a.name for a in self._task.arguments if a.role == "constant"}
            shared = constants & self._task.makes
            secret = self.constants(workload) if shared else held.secret
            held.made = self._task.made(workload, key_of(secret, "inputs()"))
        return held.made

    def complete(self, held: Held, memory: WorkloadMemory, copy: int) -> None:
        """Make the references from the inputs in a binding, unless they are made.

        Raises DeviceFault, and TaskError for a wrong reference.hip.
        """
        if held.checksums or not held.references:
            return
        if self._reference is not None:
            self._compute(memory.workload, memory.bindings[copy], held.references)
        else:
            references = self._task.reference(memory.workload, inputs_in(memory, copy))
            for name, buffer in held.references.items():
                held.memory.write(buffer, references[name])
        work = self._harness.work()
        for slot, (name, buffer) in enumerate(held.references.items()):
            work.mask(buffer, held.mask(name), slot=slot)
        found = self._harness.run(work, len(held.references))
        held.checksums = {
            name: one.checksum for name, one in zip(held.references, found, strict=True)
        }

    def reference(self, workload: Workload, inputs: Mapping[str, Array]) -> Mapping[str, Array]:
        """Of inputs that the host made, by the task's reference.hip where there is one.

        Raises DeviceFault, and TaskError for a wrong reference.hip.
        """
        if self._reference is None:
            return self._task.reference(workload, inputs)
        if self._session is None:
            self._check_reference()
        return self._computed(workload, inputs)

    @property
    def computes(self) -> bool:
        """Whether references are made on the device, by the task's reference.hip."""
        return self._reference is not None

    def references(self, held: Held, workload: Workload) -> dict[str, Array]:
        """Read back from the device, by output."""
        found: dict[str, Array] = {}
        for output in compared_on_device(self._task, workload):
            shape = output.shape(workload.env)
            raw = held.memory.read(held.references[output.name], np.dtype(np.uint64), shape)
            found[output.name] = unmasked(raw, held.mask(output.name)).view(wide(output.np_dtype))
        return found

    def judged_by_host(
        self, held: Held, memory: WorkloadMemory, inputs: Mapping[str, Array]
    ) -> Mapping[str, Array]:
        """All references, where the host judges. inputs: as they were placed. Raises TaskError."""
        if held.references or self._task.own.epilogue is None:
            return self.references(held, memory.workload)
        if held.own is None:
            held.own = self._task.reference(memory.workload, inputs)
        return held.own

    def close(self) -> None:
        while self._drop_one():
            pass
        if self._session is not None:
            self._session.close()

    def _is_old(self, workload: Workload, held: Held) -> bool:
        match self._renews(workload):
            case "all":
                return held.evaluation != self._evaluation
            case "one":
                return self._renewed[workload.label] != self._evaluation
            case "none":
                return False

    def _renews(self, workload: Workload) -> Literal["all", "one", "none"]:
        if self._reference is None:
            return "one" if workload == self._smallest else "none"
        flops = self._task.flops
        heavy = flops is not None and float(flops.evaluate(workload.env)) > self._heavy_flops
        return "one" if heavy else "all"

    def _drop_one(self, *, but: str = "") -> bool:
        """The longest unused one, but none of that shape; False when there is none."""
        for key in self._draws:
            if key[0] != but:
                self._draws.pop(key).memory.close()
                return True
        return False

    def _allocate(self, workload: Workload) -> Held:
        sizes = reference_bytes(self._task, workload)
        nbytes = sum(sizes.values())
        while self._nbytes() + nbytes > self._limit_bytes and self._drop_one(but=workload.label):
            pass
        memory = self._device.open(self._trusted.harness, memory_bytes=nbytes)
        try:
            references = {name: memory.alloc(size) for name, size in sizes.items()}
        except Rejected as rejected:
            memory.close()
            if self._drop_one(but=workload.label):
                return self._allocate(workload)
            raise DeviceFault(
                f"no room for the references of {workload.label} on the device "
                f"({rejected.reason}): is another process using it?"
            ) from rejected
        return Held(
            memory=memory, references=references, nbytes=nbytes, evaluation=self._evaluation
        )

    def _nbytes(self) -> int:
        return sum(held.nbytes for held in self._draws.values())

    def _compute(
        self,
        workload: Workload,
        given: Mapping[str, Buffer],
        references: Mapping[str, Buffer],
    ) -> None:
        """The references by the task's own kernel, in double precision: what a kernel finds in
        an inout argument lies widened where its reference goes."""
        if self._session is None:
            self._check_reference()
        work = self._harness.work()
        for output in self._task.on(workload).outputs:
            if output.role == "inout" and output.name in references:
                work.widen(references[output.name], given[output.name], output.dtype)
        self._harness.run(work)  # nothing, of most tasks
        self._run(workload, {**given, **references})

    def _run(self, workload: Workload, buffers: Mapping[str, Buffer]) -> None:
        """Nothing stays in the memory that was its scratch."""
        assert self._reference is not None
        kernel, compiled = self._reference
        if self._session is None:
            self._session = self._device.open(compiled, memory_bytes=0)
        try:
            plan = kernel.plan(self._task, workload, self._device.info.target)
            nbytes = sum(plan.scratch.values())
            with self._device.open(self._trusted.harness, memory_bytes=nbytes) as memory:
                scratch = {name: memory.alloc(size) for name, size in plan.scratch.items()}
                self._session.run(plan, {**buffers, **scratch}, deadline_s=DEADLINE_S)
                for buffer in scratch.values():
                    memory.fill(buffer, 0)
        except Rejected as rejected:
            where = f"{self._task.folder / 'reference.hip'} on {workload.label}"
            raise DeviceFault(f"{where}: {rejected}") from rejected

    def _check_reference(self) -> None:
        """reference.hip against reference.py on small tests' shapes. Raises TaskError."""
        for workload in small_tests(self._task, self._device.info.backend):
            draw = self._pool.get(workload, 0)
            found = self._computed(workload, draw.inputs)
            for output in compared_on_device(self._task, workload):
                rtol, atol = output.rtol(workload.env), output.atol(workload.env)
                reference = draw.reference[output.name]
                error = compare(found[output.name], reference, rtol=rtol, atol=atol).error
                if error > _NEAR:
                    raise TaskError(
                        f"{self._task.folder / 'reference.hip'}: {output.name} on "
                        f"{workload.label} is {error:.3g} of its tolerance away from "
                        f"reference.py, at most {_NEAR:g} is allowed"
                    )

    def _computed(self, workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Array]:
        """What reference.hip makes of inputs of the host."""
        sizes = reference_bytes(self._task, workload)
        given = {
            a.name: np.ascontiguousarray(inputs[a.name].astype(a.np_dtype, copy=False))
            for a in self._task.on(workload).arguments
            if a.role != "out"
        }
        nbytes = sum(sizes.values()) + sum(array.nbytes for array in given.values())
        with self._device.open(self._trusted.harness, memory_bytes=nbytes) as memory:
            results = {name: memory.alloc(size) for name, size in sizes.items()}
            buffers = {name: memory.alloc(array.nbytes) for name, array in given.items()}
            for name, array in given.items():
                memory.write(buffers[name], array)
                if name in results:  # inout
                    memory.write(results[name], array.astype(wide(array.dtype)))
            self._run(workload, {**buffers, **results})
            return {
                output.name: memory.read(
                    results[output.name],
                    wide(output.np_dtype),
                    output.shape(workload.env),
                )
                for output in compared_on_device(self._task, workload)
            }


def unmasked(data: np.ndarray[Any, np.dtype[np.uint64]], key: int) -> Any:
    """The host's twin of mask_jobs in compare.hip, a part at a time: words take twice the room."""
    stream, flat = np.random.Philox(key=key), data.reshape(-1)
    found = np.empty_like(flat)
    for start in range(0, flat.size, _AT_ONCE):
        part = flat[start : start + _AT_ONCE]
        tiles = -(-part.size // 512)
        words = stream.random_raw(tiles * 1024).reshape(tiles, 256, 4)
        mask = words[:, :, :2].transpose(0, 2, 1).reshape(-1)[: part.size]
        found[start : start + _AT_ONCE] = part ^ mask
    return found.reshape(data.shape)
