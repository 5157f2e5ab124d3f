"""A real browser for tests and measurements of pages: Debian's chromium, headless, driven through pipes (the DevTools
protocol)."""

from __future__ import annotations

import json
import os
import select
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
SIZE = "--window-size=1400,900"
SECONDS = 60.0
"""For one answer of the browser, on a busy machine."""


def chromium() -> str | None:
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One page in a browser without a window."""

    def __init__(self, program: str, folder: Path) -> None:
        to_browser, self._commands = os.pipe()
        self._answers, from_browser = os.pipe()
        high = os.dup(to_browser), os.dup(from_browser)  # 3 and 4 may be ends of these pipes themselves

        def place() -> None:
            os.dup2(high[0], 60)
            os.dup2(high[1], 61)
            os.dup2(60, 3)
            os.dup2(61, 4)

        flags = ("--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage", SIZE)
        profile = f"--user-data-dir={folder / 'profile'}"
        self._process = subprocess.Popen(
            [program, *flags, "--remote-debugging-pipe", profile, "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=place,
            pass_fds=(3, 4),
            start_new_session=True,
        )
        for end in (to_browser, from_browser, *high):
            os.close(end)
        self._buffer = b""
        self._number = 0
        self._session: str | None = None
        target = self._ask("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

    def open(self, path: Path, after: str = "", dark: bool = False) -> None:
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._ask("Emulation.setEmulatedMedia", features=[scheme])
        self._ask("Page.navigate", url="about:blank")
        self._ask("Page.navigate", url=f"file://{path}{after}")
        end = time.monotonic() + SECONDS
        while self.run("document.readyState") != "complete" or self.run("location.protocol") != "file:":
            assert time.monotonic() < end, "the page does not load"
            time.sleep(0.02)

    def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        answer = self._ask("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def close(self) -> None:
        os.killpg(self._process.pid, 9)
        self._process.wait()
        os.close(self._commands)
        os.close(self._answers)

    def _ask(self, method: str, **parameters: Any) -> dict[str, Any]:
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                result: dict[str, Any] = answer["result"]
                return result

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._answers], [], [], SECONDS)
            assert ready, "the browser does not answer"
            data = os.read(self._answers, 1 << 16)
            assert data, "the browser has ended"
            self._buffer += data
        first, _, self._buffer = self._buffer.partition(b"\0")
        answer: dict[str, Any] = json.loads(first)
        return answer
