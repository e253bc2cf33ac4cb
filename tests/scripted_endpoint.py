"""The scripted server as a process of its own: prints its base URL, serves until it is stopped.

python -m tests.scripted_endpoint --latency 2
"""

import argparse
import asyncio
import json

from tests.scripted_server import Script, ScriptedServer


async def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--chunks", type=int, default=0)
    parser.add_argument("--fail", type=float, default=0.0)
    parser.add_argument("--malform", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--log", default="", help="append each call to this file, as JSON lines")
    given = parser.parse_args()
    script = Script(
        latency_s=given.latency,
        chunks=given.chunks,
        fail=given.fail,
        malform=given.malform,
        seed=given.seed,
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
