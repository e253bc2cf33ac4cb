"""A batch: applications of a baseline to several bindings, ready to be timed together."""

import traceback
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Protocol

from evaluators.evaluation import Rejected, Status
from evaluators.tasks.baselines import Baseline


class Batch(Protocol):
    """Made once for some bindings and run many times. Raises Rejected (see telling())."""

    def warm(self) -> None:
        """Apply the first binding's, on a GPU, so that libraries have loaded what they need."""

    def graph(self) -> Any:
        """The driver's handle of a library's graph of all applications, which the library keeps;
        None where there is none. Who replays it needs no enqueue()."""

    def current(self) -> AbstractContextManager[None]:
        """What a library needs to have set up round enqueue(), so that it takes no timed moment."""

    def enqueue(self) -> None:
        """Apply each in turn; this is what is timed."""

    def finish(self) -> None:
        """Put results that are elsewhere into the outputs' places; not timed."""


class Plain:
    """Of batches without a graph and a stream of their own."""

    def graph(self) -> Any:
        return None

    def current(self) -> AbstractContextManager[None]:
        return nullcontext()


@contextmanager
def telling(baseline: Baseline) -> Iterator[None]:
    """What a task author's code raises, as a verdict on the baseline."""
    try:
        yield
    except Rejected:
        raise
    except (ImportError, OSError) as error:  # a library that is not there
        raise Rejected(Status.UNSUPPORTED, _said(error, baseline)) from error
    except Exception as error:  # the task's author may raise anything
        raise Rejected(Status.LAUNCH_ERROR, f"it raised {_said(error, baseline)}") from error


def _said(error: Exception, baseline: Baseline) -> str:
    """ "ValueError: shapes differ (baselines.py, line 7)"."""
    said = (str(error).strip().splitlines() or [""])[0]
    steps = traceback.extract_tb(error.__traceback__)
    own = [step.lineno for step in steps if step.filename == str(baseline.file)]
    where = f" ({baseline.file.name}, line {own[-1]})" if baseline.kind == "call" and own else ""
    return f"{type(error).__name__}{f': {said}' if said else ''}{where}"
