"""What a configuration needs: a device for its backend, models that answer, and their price."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing

from engine.cli.examined import Finding
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.preparation import emulation
from evaluators.device import backend
from evaluators.device_info import BackendMissing, DeviceInfo
from operators.llm.question import ModelUnavailable


def find_backend(config: CampaignConfig) -> Finding:
    """Whether the campaign's backend has a device here; of a cluster find_nodes() tells."""
    name = config.backend
    if joins(config):
        found = f"{name}, on the nodes of a Ray cluster, which are looked at below"
        return Finding(what="backend", state="ok", found=found)
    try:
        with emulation(config):
            count = backend(name).device_count()
    except BackendMissing as missing:
        return Finding(what="backend", state="broken", found=name, todo=str(missing))
    if not count and config.devices.emulated:
        todo = "the emulator needs a C++ compiler and the disassembler of ROCm ('make rocm')"
        return Finding(what="backend", state="broken", found="no emulated device", todo=todo)
    if config.devices.emulated:
        found = f"{name}, emulated on {count} cores: nothing is timed"
        return Finding(what="backend", state="ok", found=found)
    if not count:
        todo = f"what {name} lacks is listed below; backend=cpu needs no GPU"
        return Finding(what="backend", state="broken", found=f"no {name} device", todo=todo)
    return Finding(what="backend", state="ok", found=f"{name}, {count} to measure on")


def joins(config: CampaignConfig) -> bool:
    """Whether the campaign would run on a cluster."""
    from engine.actors.ray_address import address_of

    return bool(address_of(config, os.environ)[1])


def find_nodes(config: CampaignConfig) -> Iterator[Finding]:
    """Every node of the cluster that it would join: devices are opened, a kernel is compiled."""
    from engine.actors.cluster_look import look_at_cluster
    from engine.preparation import settled, task_of, workbench_of
    from evaluators.tasks.task import TaskError

    if not joins(config):
        return
    try:
        planned = settled(config)
        task = task_of(planned)
        found = look_at_cluster(planned, workbench_of(planned, travels=True), task.naive)
    except (BackendMissing, ConfigError, TaskError) as missing:
        yield Finding(what="cluster", state="broken", found="not usable", todo=str(missing))
        return
    for told in found.nodes:
        yield Finding(what="node", state="ok", found=told)
    for note in found.notes:
        yield Finding(what="node", state="absent", found=note.removeprefix("node "))
    if found.failed:
        yield Finding(
            what="cluster", state="broken", found="no campaign can run", todo=found.failed
        )
        return
    text = f"{found.devices} × {found.device}, {found.compile_workers} kernels compiled at once"
    yield Finding(what="cluster", state="ok", found=text)


def find_models(config: CampaignConfig) -> Finding:
    """The endpoints, keys and models that a campaign's islands would ask."""
    if config.llm is None or not config.asks_models:
        return Finding(what="models", state="ok", found="this campaign asks none")
    from engine.llm.preflight import preflight

    try:
        asyncio.run(preflight(config.llm))
    except ModelUnavailable as unavailable:
        return Finding(what="models", state="broken", found="missing", todo=str(unavailable))
    names = sorted({model.model for model in config.llm.models.values()})
    return Finding(what="models", state="ok", found=f"{', '.join(names)} answer")


def find_memory(config: CampaignConfig) -> Finding:
    """What the task's shapes need of the device."""
    from evaluators.kernel.seeds import on_backend
    from evaluators.processes.memory_needs import memory_need, require_memory
    from evaluators.tasks.task import TaskError
    from evaluators.tasks.task_file import load_task

    try:
        need = memory_need(on_backend(load_task(config.task), config.backend), config.backend)
        if need is None or config.devices.emulated:
            return Finding(what="memory", state="ok", found="small shapes alone are run")
        info = _device_here(config)
        if info is not None:
            require_memory(load_task(config.task), info)
        return Finding(what="memory", state="ok", found=need.told(info))
    except (BackendMissing, TaskError) as missing:
        return Finding(what="memory", state="broken", found="too little", todo=str(missing))


def _device_here(config: CampaignConfig) -> DeviceInfo | None:
    """None: there is none, which find_backend() tells."""
    if joins(config):
        return None
    try:
        device = backend(config.backend).open_device(0)
    except BackendMissing:
        return None
    with closing(device):
        return device.info


def find_forecast(config: CampaignConfig) -> Finding:
    """What the budgets would buy of models."""
    from engine.actors.cluster import fitted
    from engine.actors.layout import layout
    from engine.forecast.beginning import foretell
    from evaluators.kernel.seeds import on_backend
    from evaluators.tasks.task import TaskError
    from evaluators.tasks.task_file import load_task

    if config.llm is None or not config.asks_models:
        return Finding(what="forecast", state="ok", found="no model costs anything")
    try:
        with emulation(config):
            task = on_backend(load_task(config.task), config.backend)
            device = backend(config.backend).open_device(0)
            with closing(device):
                planned = fitted(config, len(layout(config).devices))
                made = foretell(planned, task, device.info, None)
    except (BackendMissing, TaskError) as missing:
        return Finding(what="forecast", state="absent", found="none", todo=str(missing))
    return Finding(what="forecast", state="ok", found=made.sentence)
