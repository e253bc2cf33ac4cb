"""What a machine gives a campaign: devices that measure, and cores that compile."""

import os
from dataclasses import dataclass

from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.config_sections import Devices
from evaluators.device import backend, shown_alone
from evaluators.device_info import BackendMissing


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
    """Which devices of this machine measure and how many tasks compile. Raises BackendMissing,
    ConfigError."""
    count = backend(config.backend).device_count()
    if not count:
        raise BackendMissing(
            f"no {config.backend} device here; 'kernel-scientist doctor' says what is missing"
        )
    ids = config.devices.ids
    if ids is not None and (len(set(ids)) < len(ids) or not all(0 <= one < count for one in ids)):
        raise ConfigError(f"devices.ids: {list(ids)} must be distinct, from 0 to {count - 1}")
    plan = _planned(config.backend, config.devices, count)
    workers = config.devices.compile_workers or plan.compile_workers
    return Layout(
        devices=plan.devices[: config.devices.most],
        gpus=plan.gpus,
        compile_workers=workers,
        compile_cores=plan.compile_cores,
    )


def layout_here(name: str, devices: Devices, *, gpus: int, cpus: int) -> Layout:
    """The same of this node of a cluster, which may have no device. gpus, cpus: that Ray shares out
    there; of GPUs it says which are there, also where one is divided."""
    count = gpus if shown_alone(name) else backend(name).device_count()
    plan = _planned(name, devices, count)
    return Layout(
        devices=plan.devices,
        gpus=plan.gpus,
        compile_workers=min(cpus, plan.compile_workers),
        compile_cores=plan.compile_cores,
    )


def _planned(name: str, devices: Devices, count: int) -> Layout:
    """As many compile workers as there are cores for."""
    cores, ids = sorted(os.sched_getaffinity(0)), devices.ids
    if shown_alone(name):
        chosen = ids if ids is not None else tuple(range(count))
        workers = max(1, len(cores) - len(chosen) - 1)
        return Layout(devices=chosen, gpus=1, compile_workers=workers, compile_cores=frozenset())
    # A core that measures does nothing else, where there are two or more.
    half = tuple(range(count))[-max(1, count // 2) :]
    chosen = half if ids is None else tuple(one for one in ids if one < count)
    spare = frozenset(cores) - {cores[device] for device in chosen if device < len(cores)}
    return Layout(devices=chosen, gpus=0, compile_workers=max(1, len(spare)), compile_cores=spare)
