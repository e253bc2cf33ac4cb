"""The Ray that a campaign starts for itself, or the cluster that it joins."""

import logging
import os
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray
from ray._private import services
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from engine.actors.clear_up import cleared_up
from engine.actors.layout import Layout, layout, layout_here
from engine.actors.lifeline import Driver
from engine.actors.nodes.node import living_nodes
from engine.actors.ray_address import TOKEN_NEEDED, address_of, check_answers, in_job
from engine.actors.ray_messages import to_file
from engine.config import CampaignConfig
from engine.config_errors import ConfigError
from engine.ending import CampaignFailed
from engine.store.run_folder import RAY_LOG
from evaluators.device import shown_alone
from evaluators.device_info import EMULATE, EMULATED_ORDER, FURTHER_BACKENDS
from evaluators.sandbox.environment import VARIABLES, showing, visible_name

STARTS, START_S = 6, 75.0
"""Ray gives its processes 30 s to start, its agent 15 s: on a busy machine they are given longer
where that can be, and other tries. No try begins after four times START_S."""

_ENDED = "Check failed: "
"""In raylet.err, before what did not hold, a word, and why."""

ALONE = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Candidates and references are small: more threads only disturb what is being timed."""

TOLD = (EMULATE, EMULATED_ORDER, FURTHER_BACKENDS)
"""Variables of this process that decide what a backend is, on every node."""

PACKAGES = ("engine", "operators", "evaluators")

OBJECT_STORE_BYTES = 256 << 20
"""Compiled kernels and anchors pass through it; nothing stays."""


class RayletEnded(Exception):
    """Why, in Ray's words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """Where a campaign runs. cluster: on the nodes of one that was joined; else on this machine.
    plan: of this machine, or how many devices the cluster may have."""

    plan: Layout
    cluster: bool


@contextmanager
def on_site(config: CampaignConfig) -> Iterator[Site]:
    """Inside, this process is part of the cluster that the campaign was told of, if of any.

    Raises ConfigError when none answers there, BackendMissing.
    """
    key, address = address_of(config, os.environ)
    if not address:
        yield Site(plan=layout(config), cluster=False)
        return
    if config.devices.ids is not None and shown_alone(config.backend):
        raise ConfigError(
            "devices.ids: on a cluster Ray shares out the GPUs; leave it out, and bound their "
            "number by devices.most"
        )
    _quiet()
    try:
        with _told(lambda why: ConfigError(f"{key}: Ray at {address} can't be used: {why}")):
            check_answers(key, address)
            ray.init(
                address=address,
                log_to_driver=False,
                logging_level=logging.CRITICAL,  # what goes wrong is told in sentences of ours
                runtime_env=_what_nodes_need(),
            )
        yield Site(plan=_of_cluster(config), cluster=True)
    finally:
        ray.shutdown()


def _of_cluster(config: CampaignConfig) -> Layout:
    """How many devices there may be, as far as Ray tells at once."""
    here = layout_here(config.backend, config.devices, gpus=0, cpus=0)
    if not shown_alone(config.backend):
        return here
    gpus = sum(node.gpus for node in living_nodes())
    return replace(here, devices=tuple(range(gpus))[: config.devices.most])


def fitted(config: CampaignConfig, devices: int) -> CampaignConfig:
    """With as many islands as so many devices need."""
    return config.model_copy(update={"islands": config.islands.fitted(max(1, devices))})


@contextmanager
def ray_session(config: CampaignConfig, site: Site) -> Iterator[Driver]:
    """The cluster that was joined, or a Ray of this campaign's own.

    Raises CampaignFailed when Ray does not start.
    """
    to_file(config.runs_dir / config.name / RAY_LOG)
    if site.cluster:
        yield Driver.here()
        return
    _quiet()
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    with _showing(config, site.plan), _own_ray(site.plan):
        yield Driver.here()


def _quiet() -> None:
    """What this process and all that Ray starts for it shall have in their environment."""
    for name, value in ALONE.items():
        os.environ.setdefault(name, value)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # What nobody waits for any more, as after a Ctrl-C, would be told with its traceback.
    os.environ.setdefault("RAY_IGNORE_UNHANDLED_ERRORS", "1")
    # Ray's workers would run at nice 15: beside other work they, and what they time, would starve.
    os.environ.setdefault("RAY_worker_niceness", "0")


def _what_nodes_need() -> dict[str, Any]:
    """A job's nodes have its folder; others are sent the code that runs here."""
    told = {name: os.environ[name] for name in TOLD if name in os.environ}
    needs: dict[str, Any] = {"env_vars": {**ALONE, **told}}
    if not in_job():
        packages = Path(__file__).resolve().parents[2]
        needs["py_modules"] = [str(packages / name) for name in PACKAGES]
    return needs


@contextmanager
def _own_ray(plan: Layout) -> Iterator[None]:
    with ExitStack() as stack:
        with _told(_not_started):
            until = time.monotonic() + 4 * START_S
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
                    logging_level=logging.CRITICAL,  # what goes wrong is told in sentences of ours
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
