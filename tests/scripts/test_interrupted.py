"""Tests of Ctrl-C and kills of programs with pools of processes: a sentence, nothing left."""

import json
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

import pytest

from scripts.lib.pools import Pool, result_of, uninterrupted
from scripts.search.table import Table
from tests.soaked import one_in

TABLE = "docs/measured/tables/sgemm_h200/gemm_lds.T4.json.gz"
PATIENCE_S = 120.0


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(one) for one in text.split()]


def gone(pid: int) -> bool:
    """Also one that nobody has waited for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


@contextmanager
def started(module: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """In a session of its own, which ends with the test."""
    command = [sys.executable, "-m", module, *words]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            yield process
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


@pytest.mark.parametrize("kill", [signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("least", one_in(3, [1, 2, 3]))  # the two, and multiprocessing's tracker
def test_a_search_leaves_no_process(kill: signal.Signals, least: int, tmp_path: Path) -> None:
    out = str(tmp_path / "found.json")
    words = ["--workers", "2", "--seeds", "200", "--no-kernel-tuner", "--out", out]
    with started("scripts.bench_search", TABLE, *words) as process:
        until(lambda: len(children(process.pid)) >= least)
        born = children(process.pid)
        if kill is signal.SIGINT:
            os.killpg(process.pid, kill)  # as a terminal does
        else:
            process.kill()
        told = process.communicate(timeout=PATIENCE_S)[1]
    if kill is signal.SIGINT:
        assert process.returncode == 130
        assert told.splitlines() == ["bench_search: interrupted; nothing was written"]
    until(lambda: all(gone(one) for one in born))


@pytest.mark.soak
def test_an_interrupted_recording_keeps_what_was_measured(tmp_path: Path) -> None:
    out = tmp_path / "part.T4.json"
    words = ["--task", "softmax", "--out", str(out), "--family", "softmax_block"]
    words += ["--shape", "R=16,C=32", "--workers", "1"]
    with started("scripts.record_table", *words) as process:
        until(lambda: out.exists() or process.poll() is not None)  # every 20 s
        os.killpg(process.pid, signal.SIGINT)
        told = process.communicate(timeout=PATIENCE_S)[1]
    assert process.returncode == 130
    assert "Traceback" not in told
    assert told.splitlines()[-1].startswith(f"record_table: interrupted; {out} has")
    assert len(Table.read(out).rows) > 0
    assert json.loads(out.read_text())["metadata"]["points"] > len(Table.read(out).rows)


def half_told(begun: str) -> None:
    """Runs in a pool's process: the first part of a result, as one that is ended there leaves."""
    frame = sys._getframe()
    while frame.f_code.co_name != "_process_worker":
        assert frame.f_back is not None
        frame = frame.f_back
    os.write(frame.f_locals["result_queue"]._writer.fileno(), struct.pack("!i", 20_000))
    Path(begun).touch()
    time.sleep(10 * PATIENCE_S)


HALF = """
import sys
from pathlib import Path
from scripts.lib.pools import pool_of
from tests.scripts.test_interrupted import half_told, until

if __name__ == "__main__":
    with pool_of(2) as pool:
        pool.submit(half_told, sys.argv[1])
        until(Path(sys.argv[1]).exists)
        raise KeyboardInterrupt
"""


def test_a_process_that_ends_amid_a_result_is_not_waited_for(tmp_path: Path) -> None:
    program = tmp_path / "half.py"
    program.write_text(HALF)
    command = [sys.executable, str(program), str(tmp_path / "begun")]
    environment = {**os.environ, "PYTHONPATH": os.getcwd()}
    ended = subprocess.run(
        command,
        check=False,
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE_S,
        env=environment,
    )
    assert ended.stderr.splitlines()[-1] == "KeyboardInterrupt"


class Interrupted:
    """As an executor, and as a future: Ctrl-C comes amid the call. done: calls that ended."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def submit(self, function: Callable[[], int]) -> "Future[int]":
        signal.raise_signal(signal.SIGINT)
        self.done.append("submit")
        return Future()

    def shutdown(self, *, wait: bool, cancel_futures: bool) -> None:
        signal.raise_signal(signal.SIGINT)
        self.done.append("shutdown")


def test_ctrl_c_leaves_no_lock_of_a_pool_taken() -> None:
    """It did in queue.Queue's: the pool's thread waited for it for ever."""
    executor = Interrupted()
    pool = Pool(cast(ProcessPoolExecutor, executor))
    with pytest.raises(KeyboardInterrupt):
        pool.submit(int)
    with pytest.raises(KeyboardInterrupt):
        pool.cancel()
    assert executor.done == ["submit", "shutdown"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_while_a_result_is_waited_for() -> None:
    future: Future[int] = Future()
    main = threading.main_thread().ident
    assert main is not None
    threading.Timer(0.1, signal.pthread_kill, (main, signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        result_of(future)
    future.set_result(3)
    assert result_of(future) == 3


def test_ctrl_c_beside_an_error_is_heard() -> None:
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        raise ValueError
