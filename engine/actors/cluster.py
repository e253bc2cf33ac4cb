"""Where a campaign runs: its devices and cores, and the Ray it starts or joins."""

import logging
import os
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
from ray._private import services
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from engine.actors.clear_up import cleared_up
from engine.actors.lifeline import Driver
from engine.actors.ray_address import TOKEN_NEEDED, address_of, check_answers
from engine.actors.ray_messages import to_file
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.ending import CampaignFailed
from engine.store.run_folder import RAY_LOG
from evaluators.device import backend, shown_alone
from evaluators.device_info import BackendMissing
from evaluators.sandbox.environment import VARIABLES, showing, visible_name

STARTS, START_S = 4, 75.0
"""Ray gives its processes 30 s to start, its agent 15 s: on a busy machine they are given longer
where that can be, and other tries. No try begins after twice START_S."""

_ENDED = "Check failed: "
"""In raylet.err, before what did not hold, a word, and why."""

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


class RayletEnded(Exception):
    """Why, in Ray's words."""


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
    if not shown_alone(config.backend):
        # A core that measures does nothing else, where there are two or more.
        devices = ids if ids is not None else tuple(range(count))[-max(1, count // 2) :]
        spare = frozenset(cores) - {cores[device] for device in devices if device < len(cores)}
        workers = config.devices.compile_workers or max(1, len(spare))
        return Layout(devices=devices, gpus=0, compile_workers=workers, compile_cores=spare)
    devices = ids if ids is not None else tuple(range(count))
    workers = config.devices.compile_workers or max(1, len(cores) - len(devices) - 1)
    return Layout(devices=devices, gpus=1, compile_workers=workers, compile_cores=frozenset())


def fitted(config: CampaignConfig) -> CampaignConfig:
    """With as many islands and cycles in flight as the devices that are here need.

    Raises BackendMissing, ConfigError.
    """
    islands = config.islands.fitted(len(layout(config).devices))
    return config.model_copy(update={"islands": islands})


@contextmanager
def ray_session(config: CampaignConfig, plan: Layout) -> Iterator[Driver]:
    """A Ray of this campaign's own, or the cluster it was told of.

    Raises ConfigError when no cluster answers, CampaignFailed when Ray does not start.
    """
    # Candidates and references are small: more threads only disturb what is being timed.
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray's workers would run at nice 15: beside other work they, and what they time, would starve.
    os.environ.setdefault("RAY_worker_niceness", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    to_file(config.runs_dir / config.name / RAY_LOG)
    key, address = address_of(config, os.environ)
    session = _joined(key, address) if address else _own_ray(plan)
    with _showing(config, plan), session:
        yield Driver.here()


@contextmanager
def _joined(key: str, address: str) -> Iterator[None]:
    try:
        with _told(lambda why: ConfigError(f"{key}: Ray at {address} can't be used: {why}")):
            check_answers(key, address)
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR)
        yield
    finally:
        ray.shutdown()


@contextmanager
def _own_ray(plan: Layout) -> Iterator[None]:
    with ExitStack() as stack:
        with _told(_not_started):
            until = time.monotonic() + 2 * START_S
            for left in reversed(range(STARTS)):
                try:
                    stack.enter_context(_started(plan))
                    break
                except Exception as error:  # what Ray raises is no more special than that
                    slow = isinstance(error, RayletEnded) or "timed out during" in str(error)
                    if not left or not slow or time.monotonic() > until:
                        raise
        yield


@contextmanager
def _started(plan: Layout) -> Iterator[None]:
    # A folder of its own: what an earlier, killed campaign left is neither met nor waited for.
    with cleared_up(tempfile.mkdtemp(prefix="ks-")) as folder:
        try:
            with _patience(Path(folder, "session_latest", "logs", "raylet.err")):
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
            yield
        finally:
            ray.shutdown()


@contextmanager
def _patience(told: Path) -> Iterator[None]:
    """START_S for a node to tell of itself: Ray's 30 s are no setting (_private/node.py), so each
    look of its loop takes as long as is needed. One whose raylet has ended, as it told, never
    will: raises RayletEnded."""
    look: Callable[..., Any] = services.get_node
    until = time.monotonic() + START_S

    def get_node(*which: Any) -> Any:
        while True:
            try:
                return look(*which)
            except RuntimeError:
                for line in told.read_text().splitlines() if told.is_file() else ():
                    if _ENDED in line:
                        why = line.partition(_ENDED)[2].partition(" ")[2]
                        raise RayletEnded(f"its raylet ended ({why})") from None
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    services.get_node = get_node
    try:
        yield
    finally:
        services.get_node = look


def _not_started(why: str) -> CampaignFailed:
    return CampaignFailed(
        f"Ray does not start: {why}; look at this machine with 'kernel-scientist doctor', then try "
        "again"
    )


@contextmanager
def _told(sentence: Callable[[str], Exception]) -> Iterator[None]:
    """Whatever ray.init() raises (also a bare Exception, when it times out), as one sentence."""
    try:
        yield
    except (ConfigError, CampaignFailed):
        raise
    except Exception as error:
        said = (str(error).strip().splitlines() or [type(error).__name__])[0]
        refused = "InvalidAuthToken" in "".join(traceback.format_exception(error))
        raise sentence(TOKEN_NEEDED if refused else said.rstrip(". ")) from error


@contextmanager
def _showing(config: CampaignConfig, plan: Layout) -> Iterator[None]:
    """Ray shares out only the GPUs that it is shown, by the variable of the vendor it detects.

    On AMD it raises where ROCR_VISIBLE_DEVICES stands alone.
    """
    before = {name: os.environ.get(name) for name in VARIABLES}
    if plan.gpus:
        os.environ.update(showing(visible_name(config.backend, one) for one in plan.devices))
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def on_this_node() -> NodeAffinitySchedulingStrategy:
    """For actors that need the driver's disk or its cores."""
    node = ray.get_runtime_context().get_node_id()
    return NodeAffinitySchedulingStrategy(node, soft=False)
