"""Where a campaign runs: its devices and cores, and the Ray it starts or joins."""

import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from engine.config import CampaignConfig, ConfigError
from engine.watch import Driver
from evaluators.device import BackendMissing, backend
from evaluators.telemetry import VISIBLE

STARTS = 4
"""Ray gives its processes 30 s to start; on a busy machine they may need another try."""

OBJECT_STORE_BYTES = 256 << 20
"""Compiled kernels and anchors pass through it; nothing stays."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """devices: as evaluators.device.Backend.open_device() takes them.

    gpus: Ray's GPUs for each device, 1 or on cpu 0. compile_cores: where compile tasks may
    run, none named: anywhere.
    """

    devices: tuple[int, ...]
    gpus: int
    compile_workers: int
    compile_cores: frozenset[int]


def layout(config: CampaignConfig) -> Layout:
    """Which devices measure and how many tasks compile. Raises BackendMissing, ConfigError."""
    count = backend(config.backend).device_count()
    if not count:
        raise BackendMissing(
            f"no {config.backend} device here; 'kernel-scientist doctor' says what is missing"
        )
    ids = config.devices.ids
    if ids is not None and (len(set(ids)) < len(ids) or not all(0 <= one < count for one in ids)):
        raise ConfigError(f"devices.ids: {list(ids)} must be distinct, from 0 to {count - 1}")
    cores = sorted(os.sched_getaffinity(0))
    if config.backend == "cpu":
        # A core that measures does nothing else, where there are two or more.
        devices = ids if ids is not None else tuple(range(count))[-max(1, count // 2) :]
        spare = frozenset(cores) - {cores[device] for device in devices if device < len(cores)}
        workers = config.devices.compile_workers or max(1, len(spare))
        return Layout(devices=devices, gpus=0, compile_workers=workers, compile_cores=spare)
    devices = ids if ids is not None else tuple(range(count))
    workers = config.devices.compile_workers or max(1, len(cores) - len(devices) - 1)
    return Layout(devices=devices, gpus=1, compile_workers=workers, compile_cores=frozenset())


@contextmanager
def ray_session(config: CampaignConfig, plan: Layout) -> Iterator[Driver]:
    """A Ray of this campaign's own, or the cluster it was told of. Raises ConfigError."""
    # Candidates and references are small: more threads only disturb what is being timed.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    address = config.ray.address or os.environ.get("RAY_ADDRESS")
    if address:
        try:
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        except ConnectionError as error:
            raise ConfigError(
                f"ray.address: no Ray cluster answers at {address}; start one, or leave it out"
            ) from error
        try:
            yield Driver.here(owns_ray=False)
        finally:
            ray.shutdown()
        return
    with _showing(config, plan), ExitStack() as folders:
        try:
            _start(plan, folders)
            yield Driver.here(owns_ray=True)
        finally:
            ray.shutdown()


def _start(plan: Layout, folders: ExitStack) -> None:
    """A Ray for this process, in a folder that folders removes."""
    for left in reversed(range(STARTS)):
        # A folder of its own: what an earlier, killed campaign left is neither met nor waited for.
        folder = folders.enter_context(_own_folder())
        try:
            ray.init(
                address="local",
                num_cpus=plan.compile_workers,
                num_gpus=plan.gpus * len(plan.devices),
                object_store_memory=OBJECT_STORE_BYTES,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                _temp_dir=folder,
            )
            return
        except Exception as error:  # Ray raises no other class here
            if not left or "timed out during startup" not in str(error):
                raise


@contextmanager
def _showing(config: CampaignConfig, plan: Layout) -> Iterator[None]:
    """Ray shares out only the GPUs that it is shown, by the variable of the vendor it detects."""
    before = {name: os.environ.get(name) for name in VISIBLE.values()}
    if plan.gpus:
        shown = before[VISIBLE[config.backend]]
        names = shown.split(",") if shown else []
        chosen = [names[one] if names else str(one) for one in plan.devices]
        os.environ.update(dict.fromkeys(before, ",".join(chosen)))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


@contextmanager
def _own_folder() -> Iterator[str]:
    folder = tempfile.mkdtemp(prefix="ks-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def on_this_node() -> NodeAffinitySchedulingStrategy:
    """For actors that need the driver's disk or its cores."""
    node = ray.get_runtime_context().get_node_id()
    return NodeAffinitySchedulingStrategy(node, soft=False)
