"""A Ray head of a test's own, with token authentication, all of it ended afterwards."""

import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.engine.ports import free_port

BIN = Path(sys.executable).parent


def environment_of_head() -> dict[str, str]:
    """Of the head, and of who uses it."""
    environment = {
        **os.environ,
        "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(16),
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_worker_niceness": "0",
    }
    environment.pop("RAY_ADDRESS", None)
    return environment


@contextmanager
def running_head(
    options: Mapping[str, Any], environment: dict[str, str], answers: Callable[[], bool]
) -> Iterator[Path]:
    """Ray's folder, once it answers. options: of ray start, beside those that every head here
    has."""
    # Not pytest's folder: its long name does not fit into that of a socket.
    with tempfile.TemporaryDirectory(prefix="ks-", ignore_cleanup_errors=True) as folder:
        everywhere = {
            "num-cpus": 2,
            "dashboard-agent-listen-port": 0,
            "ray-client-server-port": free_port(),
            "object-store-memory": 100_000_000,
            "temp-dir": folder,
        }
        process = _start([f"--{k}={v}" for k, v in {**everywhere, **options}.items()], environment)
        try:
            while not answers():
                assert process.poll() is None, "the head ended before it answered"
                time.sleep(0.5)
            yield Path(folder)
        finally:
            process.terminate()  # it ends what it started
            process.wait(timeout=100)
            assert process.stdout is not None
            process.stdout.close()


def _start(options: list[str], environment: dict[str, str]) -> "subprocess.Popen[str]":
    """Once its node is up: Ray gives it 30 s, so that a busy machine may need another try."""
    for _ in range(4):
        process = subprocess.Popen(
            [BIN / "ray", "start", "--head", "--block", *options],
            env={**environment, "PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        if any("Ray runtime started" in line for line in process.stdout):
            return process
        process.wait()
    pytest.fail("no head started in four tries")
