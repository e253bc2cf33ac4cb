"""Workers: processes that run a study's trials side by side, and end with their parent."""

import asyncio
import ctypes
import logging
import os
import signal
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from multiprocessing import active_children, get_context
from pathlib import Path
from types import FrameType

from engine.ending import kept_interrupts
from evaluators.sandbox.confine import die_with_parent
from scripts.lib.pools import deaf, listen, result_of
from scripts.population.cores import settle
from scripts.population.plan import Plan

Work = Callable[[Plan, Path, int], None]


def in_processes(plan: Plan, out: Path, sets: Sequence[frozenset[int]], work: Work) -> None:
    """As many as the plan says, each on its set where there are some. Ctrl-C ends them in order.

    Raises BrokenProcessPool: one was killed; and what work raises.
    """
    with ExitStack() as ends:
        try:
            with deaf():
                pool = ProcessPoolExecutor(
                    plan.workers, get_context("spawn"), _born, (os.getpid(),)
                )
                ends.enter_context(pool)
                ran = [
                    pool.submit(_settled, work, plan, out, number, sets[number] if sets else None)
                    for number in range(plan.workers)
                ]
            for one in ran:
                result_of(one)
        except KeyboardInterrupt:
            for child in active_children():
                child.terminate()
            raise


def _settled(work: Work, plan: Plan, out: Path, number: int, cores: frozenset[int] | None) -> None:
    settle(cores)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        with kept_interrupts():
            work(plan, out, number)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _born(parent: int) -> None:
    """A terminal's Ctrl-C is for the parent, which ends its workers, and for their campaigns:
    these do not inherit a handler, as they would a signal that is ignored."""
    die_with_parent(ctypes.CDLL(None, use_errno=True), parent)
    listen(_let_pass)


def _let_pass(number: int, frame: FrameType | None) -> None:
    pass


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Once. Where a loop runs, as one of its callbacks: what it was about to do would be lost
    elsewhere, and who waits for that could not be cancelled."""
    signal.signal(signal.SIGTERM, _let_pass)
    logging.getLogger("asyncio").disabled = True  # it would tell of tasks that were cut off
    warnings.filterwarnings("ignore", ".* was never awaited")  # nor of what had not begun
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        raise KeyboardInterrupt from None
    loop.call_soon_threadsafe(_raise)


def _raise() -> None:
    raise KeyboardInterrupt
