"""The scripted server in a thread of its own, or as a process of its own:

python -m scripts.scripted_model.endpoint --latency 2

prints its base URL, and serves until it is stopped.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from scripts.scripted_model.answers import answer, asking
from scripts.scripted_model.server import Script, ScriptedServer


@contextmanager
def serving(script: Script) -> Iterator[ScriptedServer]:
    """A server at work while the caller does something else."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = ScriptedServer(script)
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
    try:
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def in_a_process(*options: str) -> Iterator[str]:
    """The base URL of a server with cores of its own. options: as this module takes them."""
    command = (sys.executable, "-m", "scripts.scripted_model.endpoint", *options)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


async def _main() -> None:
    parser = argparse.ArgumentParser(description="Serves scripted replies.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--chunks", type=int, default=0)
    parser.add_argument("--fail", type=float, default=0.0)
    parser.add_argument("--malform", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--unique", action="store_true", help="no two kernels are the same")
    parser.add_argument("--probes", action="store_true", help="its designers ask for probes")
    parser.add_argument("--log", default="", help="append each call to this file, as JSON lines")
    given = parser.parse_args()
    script = Script(
        latency_s=given.latency,
        chunks=given.chunks,
        fail=given.fail,
        malform=given.malform,
        seed=given.seed,
        unique=given.unique,
        rule=asking if given.probes else answer,
    )
    async with ScriptedServer(script, port=given.port) as server:
        print(server.base_url, flush=True)
        written = 0
        while True:
            await asyncio.sleep(0.1)
            fresh, written = server.log[written:], len(server.log)
            if given.log and fresh:
                with open(given.log, "a", encoding="utf-8") as file:
                    for one in fresh:
                        line = {
                            "number": one.number,
                            "fault": one.fault,
                            "answered": one.answered,
                            "prompt": one.prompt,
                            "text": one.text,
                        }
                        file.write(json.dumps(line) + "\n")
            if not given.log:
                server.log.clear()
                written = 0


if __name__ == "__main__":
    asyncio.run(_main())
