"""A campaign on GPUs whose designer asks for probes, on the HIP runtime double."""

import json
from pathlib import Path

import pytest

from engine.store.events import Evaluated
from engine.store.kinds.probes import Probed
from engine.store.replay import replay
from engine.store.store import read_events
from evaluators.cxx import CACHE_VARIABLE
from scripts.scripted_model.answers import asking
from scripts.scripted_model.endpoint import serving
from scripts.scripted_model.server import Script
from tests.engine.test_device_campaigns import values
from tests.evaluators.hip import test_hip_double
from tests.evaluators.small_task import write_task

# In a process of its own: the double of the HIP runtime stays loaded where it was used.
DRIVER = """
import json, sys
from engine.campaign import run_campaign
from engine.config import parse_config
from tests.engine.local_ray import local_ray
from tests.engine.twin_workbench import TwinWorkbench
from tests.scripts.double_throughput import QUICK

with local_ray():
    config = parse_config(json.loads(sys.argv[1]), where="test")
    workbench = TwinWorkbench(task=config.task, backend="hip", secret=7, policy=QUICK)
    run_campaign(config, workbench=workbench)
"""


@pytest.mark.soak
def test_probes_are_answered_by_the_devices_processes(
    double: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    double.setenv("KEY_OF_THIS_TEST", "sk-of-this-test")
    double.setenv(CACHE_VARIABLE, str(tmp_path / "cache"))
    with serving(Script(rule=asking, latency_s=0.02, key="sk-of-this-test")) as server:
        settings = values(
            tmp_path,
            server.base_url,
            task=str(write_task(tmp_path / "small")),
            budgets={"evaluations": 4},
            islands={"count": 1},
            probes={"most": 2},
            profiles="off",
            final={"seconds": 0},
        )
        test_hip_double.python(DRIVER, json.dumps(settings), timeout_s=580)
    store = tmp_path / "it" / "store.sqlite"
    events = [stored.event for stored in read_events(store)]
    answers = [event for event in events if isinstance(event, Probed)]
    own = [one for one in answers if not one.shipped]
    assert len(own) == 2 and all(one.answer.passed for one in own)
    assert len({one.answer.probe_id for one in answers}) == len(answers)
    # The double's memory is too small for some, its speed for others, and it has no MFMA.
    became = {one.answer.status for one in answers if one.shipped}
    assert became <= {"PASSED", "LAUNCH_ERROR", "TIMEOUT", "UNSUPPORTED"}
    told = [sentence for one in answers if one.shipped for sentence in one.answer.sentences]
    assert any(one.startswith("In a wavefront of 64 lanes __shfl_down") for one in told)
    evaluated = [event.evaluation for event in events if isinstance(event, Evaluated)]
    assert len(evaluated) == 4 and {one.status for one in evaluated} == {"PASSED"}
    assert replay(store).ended == "the evaluations are spent"
