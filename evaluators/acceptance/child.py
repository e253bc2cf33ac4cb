"""`python -m evaluators.acceptance.child SECTION BACKEND FIRST FILE`: trials, in a process apart.

One JSON line a result is appended to FILE. It ends early (status 3) when the device failed:
whoever started it starts another for the rest.
"""

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from evaluators.acceptance.sections import sections
from evaluators.acceptance.trial import Broken, Result, Setup, Skipped, State, Trial
from evaluators.device import times
from evaluators.device_info import BackendMissing, DeviceFault
from evaluators.evaluation import Rejected, Status
from evaluators.measuring.race import AnchorFailed
from evaluators.sandbox.confine import forbid_core_dumps
from evaluators.tasks.task import TaskError

DEVICE_LOST = 3
FATAL = {Status.CRASHED, Status.TIMEOUT}


def main(arguments: list[str]) -> int:
    name, backend_name, first, file = arguments
    forbid_core_dumps()
    (section,) = (one for one in sections() if one.name == name)
    setup = Setup(backend_name)
    for trial in section.trials[int(first) :]:
        result, lost = attempt(section.name, trial, setup)
        with Path(file).open("a", encoding="utf-8") as lines:
            print(json.dumps(asdict(result)), file=lines)
        if lost:
            return DEVICE_LOST
    return 0


def attempt(section: str, trial: Trial, setup: Setup) -> tuple[Result, bool]:
    """The trial's result, and whether the device is lost to this process.

    What is not expected to be raised ends the process; whoever started it reports that.
    """
    state: State = "FAIL"
    lost = False
    started = time.monotonic()
    try:
        if trial.times and not times(setup.backend_name):
            raise Skipped("nothing is timed on an emulated device")
        found = trial.run(setup)
        state = "PASS"
    except Skipped as skipped:
        found, state = str(skipped), "SKIPPED"
    except (Broken, BackendMissing, TaskError) as error:
        found = str(error)
    except Rejected as rejected:
        found, lost = str(rejected), rejected.status in FATAL
    except (DeviceFault, AnchorFailed) as error:
        found, lost = str(error), True
    return Result(
        section=section,
        name=trial.name,
        state=state,
        found=found,
        todo=trial.todo if state == "FAIL" else "",
        seconds=time.monotonic() - started,
    ), lost


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
