"""Pictures of campaigns in MLflow's pages, taken with a headless Chromium: docs/images/mlflow_*."""

import argparse
import asyncio
import base64
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import aiohttp
from PIL import Image

from engine.tracking.experiments import MACHINE_LEARNING, page_of, table_of

ROOT = Path(__file__).resolve().parents[2]
WIDTH, HEIGHT = 1280, 800
START_S = 120.0
SETTLE_S = 4.0
COLOURS = 128

NO_ASSISTANT = """
localStorage.setItem('mlflow.assistant.fab.autoOpenedOnFirstLoad_v1', 'true');
localStorage.setItem('mlflow.assistant.panelOpen_v1', 'false');
"""
"""Else a quarter of every picture is a chat that nobody asked for."""


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Page:
    """A browser's page, by the DevTools protocol."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._number = 0

    async def call(self, method: str, **params: Any) -> Mapping[str, Any]:
        self._number += 1
        await self._socket.send_json({"id": self._number, "method": method, "params": params})
        while True:
            said = await self._socket.receive_json(timeout=60)
            if said.get("id") == self._number:
                if "error" in said:
                    raise RuntimeError(f"{method}: {said['error']}")
                return dict(said["result"])

    async def evaluate(self, script: str) -> Any:
        said = await self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        return said["result"].get("value")

    async def open(self, address: str) -> None:
        await self.call("Page.navigate", url="about:blank")
        await self.call("Page.navigate", url=address)

    async def until(self, script: str, wait_s: float = 60) -> None:
        """Wait for that to be true, and for what is drawn after it."""
        deadline = time.monotonic() + wait_s
        while not await self.evaluate(script):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the page never came to this: {script}")
            await asyncio.sleep(0.5)
        await asyncio.sleep(SETTLE_S)

    async def click(self, text: str) -> None:
        """The last button, link or tab with that text."""
        script = f"""(() => {{
            const kinds = 'button, a, [role=tab], [role=treeitem], li';
            const all = [...document.querySelectorAll(kinds)];
            const found = all.filter(one => one.innerText?.trim() === {json.dumps(text)});
            found.at(-1)?.scrollIntoView({{block: 'center'}});
            const box = found.at(-1)?.getBoundingClientRect();
            return box ? [box.x + box.width / 2, box.y + box.height / 2] : null;
        }})()"""
        place = await self.evaluate(script)
        if place is None:
            raise RuntimeError(f"the page has nothing to click that says {text!r}")
        for kind in ("mousePressed", "mouseReleased"):
            await self.call(
                "Input.dispatchMouseEvent",
                type=kind,
                x=place[0],
                y=place[1],
                button="left",
                clickCount=1,
            )
        await asyncio.sleep(SETTLE_S)

    async def press(self, label: str) -> None:
        """The button of that name, where there is one."""
        await self.evaluate(
            f"document.querySelector('button[aria-label={json.dumps(label)}]')?.click()"
        )
        await asyncio.sleep(SETTLE_S)

    async def picture(self, path: Path) -> None:
        taken = await self.call("Page.captureScreenshot", format="png")
        image = Image.open(io.BytesIO(base64.b64decode(taken["data"]))).convert("RGB")
        path.parent.mkdir(parents=True, exist_ok=True)
        few = image.quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
        print(f"{path}: {path.stat().st_size // 1000} kB")


@contextmanager
def server(database: Path) -> Iterator[str]:
    """A real one, until the end of the block; its address."""
    port = free_port()
    command = [sys.executable, "-m", "mlflow", "server", "--workers", "1", "--port", str(port)]
    environment = {**os.environ, "MLFLOW_DISABLE_TELEMETRY": "true"}
    process = subprocess.Popen(
        [*command, "--backend-store-uri", f"sqlite:///{database}"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, 15)
        process.wait()


@asynccontextmanager
async def browser() -> AsyncIterator[Page]:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("no chromium is on PATH; install one to take pictures of MLflow's pages")
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        process = await asyncio.create_subprocess_exec(
            *(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"),
            *(f"--window-size={WIDTH},{HEIGHT}", f"--remote-debugging-port={port}"),
            *(f"--user-data-dir={home}/profile", "about:blank"),
            env={**os.environ, "HOME": home},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            async with aiohttp.ClientSession() as http:
                target = await _first_page(http, f"http://127.0.0.1:{port}/json")
                async with http.ws_connect(target, max_msg_size=0) as socket:
                    page = Page(socket)
                    await page.call(
                        "Emulation.setDeviceMetricsOverride",
                        width=WIDTH,
                        height=HEIGHT,
                        deviceScaleFactor=1,
                        mobile=False,
                    )
                    await page.call("Page.enable")
                    await page.call("Page.addScriptToEvaluateOnNewDocument", source=NO_ASSISTANT)
                    yield page
        finally:
            process.terminate()
            await process.wait()


async def _first_page(http: aiohttp.ClientSession, address: str) -> str:
    deadline = time.monotonic() + START_S
    while True:
        try:
            async with http.get(address) as answer:
                pages = [one for one in await answer.json() if one["type"] == "page"]
                return str(pages[0]["webSocketDebuggerUrl"])
        except (aiohttp.ClientError, IndexError):
            if time.monotonic() > deadline:
                raise
            await asyncio.sleep(0.5)


async def healthy(address: str) -> None:
    deadline = time.monotonic() + START_S
    async with aiohttp.ClientSession() as http:
        while True:
            try:
                async with http.get(f"{address}/health") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                if time.monotonic() > deadline:
                    raise
            await asyncio.sleep(0.5)


async def pictures(address: str, folder: Path) -> None:
    """Of the experiment with most campaigns, and of the latest three in it."""
    from mlflow import MlflowClient

    client = MlflowClient(address)
    wanted = "tags.`kernel_scientist.island` = 'all'"
    tables = [
        client.search_runs([one.experiment_id], wanted, max_results=3)
        for one in client.search_experiments()
    ]
    runs = max(tables, key=len)
    if not runs:
        raise SystemExit("these runs hold no campaign that MLflow was told of")
    experiment = str(runs[0].info.experiment_id)
    best = max(runs, key=lambda run: run.data.metrics.get("best_speedup", 0.0))
    async with browser() as page:
        await page.open(address + table_of(experiment))
        await page.until("document.body.innerText.includes('matching run')")
        await page.press("Hide banner")
        await page.picture(folder / "mlflow_table.png")
        await page.open(f"{address}{table_of(experiment)}&compareRunsMode=CHART")
        await page.until("document.querySelectorAll('.js-plotly-plot').length > 2")
        await page.press("Hide banner")
        await page.picture(folder / "mlflow_charts.png")
        await page.open(address + page_of(experiment, best.info.run_id))
        await page.until("document.body.innerText.includes('best_speedup')")
        await page.click("Show more")
        await page.picture(folder / "mlflow_run.png")
        ids = json.dumps([run.info.run_id for run in runs], separators=(",", ":"))
        compared = (
            f"/#/compare-runs?runs={quote(ids)}&experiments={quote(json.dumps([experiment]))}"
        )
        await page.open(f"{address}{compared}&{MACHINE_LEARNING}")
        await page.until("document.body.innerText.includes('Comparing')")
        await page.picture(folder / "mlflow_compare.png")


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("database", type=Path, help="MLflow's, such as runs/mlflow.db")
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "images", metavar="FOLDER")
    arguments = parser.parse_args()
    if not arguments.database.is_file():
        raise SystemExit(f"{arguments.database}: no such file; name the database of campaigns")
    with server(arguments.database.resolve()) as address:
        await healthy(address)
        await pictures(address, arguments.to)


if __name__ == "__main__":
    asyncio.run(main())
