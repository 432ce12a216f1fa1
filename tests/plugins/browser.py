"""Debian's Chromium without a screen, driven over its debugging port: go, evaluate, take a picture."""

import base64
import itertools
import json
import os
import shutil
import subprocess
import time
import urllib.request
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from websockets.sync.client import connect

CHROMIUM = shutil.which("chromium")
WIDTH, HEIGHT = 1280, 900


class Browser:
    """One page. `complaints` collects what its console says: errors, and what the content security policy stopped."""

    def __init__(self, profile: Path) -> None:
        assert CHROMIUM
        self.complaints: list[str] = []
        self._numbers = itertools.count(1)
        self._process = subprocess.Popen(
            [CHROMIUM, "--headless", "--disable-gpu",
             "--no-first-run", "--hide-scrollbars", "--remote-debugging-port=0",
             "--disable-background-networking", "--disable-component-update", "--no-proxy-server", "--lang=en",
             f"--user-data-dir={profile}", f"--window-size={WIDTH},{HEIGHT}",
             *(["--no-sandbox"] if os.geteuid() == 0 else []), "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        try:
            port = self._port(profile / "DevToolsActivePort")
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                page = next(target for target in json.load(answer) if target["type"] == "page")
            self._open = ExitStack()
            self._socket = self._open.enter_context(connect(page["webSocketDebuggerUrl"], max_size=2**26, proxy=None))
            for domain in ("Page", "Runtime", "Network", "Log"):
                self.send(f"{domain}.enable")
            self.send(
                "Emulation.setFocusEmulationEnabled", enabled=True
            )  # a person looks at it: it may use the clipboard
        except BaseException:
            self._end()
            raise

    def __enter__(self) -> "Browser":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        self._end()

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The result of one command."""
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv(timeout=60))
            if message.get("id") == number:
                assert "error" not in message, message
                return dict(message["result"])
            self._note(message)

    def open(self, url: str) -> None:
        self.send("Page.navigate", url=url)

    def evaluate(self, expression: str) -> Any:
        """The JSON value of a JavaScript expression, awaited if it is a promise."""
        found = self.send(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def wait_for(self, expression: str, seconds: float = 60) -> Any:
        """The first true value of `expression`."""
        limit = time.monotonic() + seconds
        while not (found := self.evaluate(f"(() => {{ try {{ return {expression} }} catch {{ return null }} }})()")):
            assert time.monotonic() < limit, f"{expression} in {self.evaluate('document.documentElement.innerText')}"
            time.sleep(0.2)
        return found

    def picture(self, path: Path, *, height: int = HEIGHT) -> None:
        self.send("Emulation.setDeviceMetricsOverride", width=WIDTH, height=height, deviceScaleFactor=1, mobile=False)
        time.sleep(0.5)
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"]))

    def _note(self, message: dict[str, Any]) -> None:
        given = message.get("params", {})
        if message.get("method") == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.complaints.append(f"{given['entry'].get('url')}: {given['entry']['text']}")
        elif message.get("method") == "Runtime.exceptionThrown":
            self.complaints.append(f"{given['exceptionDetails'].get('url')}: {given['exceptionDetails']['text']}")
        elif message.get("method") == "Page.javascriptDialogOpening":
            self.complaints.append(f"{given['url']}: dialog {given['message']}")

    def _port(self, told: Path) -> int:
        limit = time.monotonic() + 60
        while not told.exists() or not told.read_text().strip():
            assert self._process.poll() is None, f"chromium ended with {self._process.returncode}"
            assert time.monotonic() < limit
            time.sleep(0.1)
        return int(told.read_text().split()[0])

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
