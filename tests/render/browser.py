"""A headless Chromium, driven through its DevTools pipe: no driver, no package, no port.

    def test_the_page(browser: Browser) -> None:
        page = browser.open(file)
        page.hover("#field-3")
        assert page.value("document.title") == ...
        assert page.errors == []

The protocol: https://chromedevtools.github.io/devtools-protocol/ (JSON, each message ended by a
zero byte, over file descriptors 3 and 4).
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

import pytest

from tests.helpers.requirements import skip_or_fail

#: Names that Chromium has on one system or another.
NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
#: Seconds that a browser on a busy machine may take for one answer.
PATIENCE = 60.0
_KEYS = {
    "ArrowUp": 38, "ArrowDown": 40, "ArrowLeft": 37, "ArrowRight": 39, "Home": 36, "End": 35,
    "PageUp": 33, "PageDown": 34, "Enter": 13, "Escape": 27, "Tab": 9, "/": 191,
}  # fmt: skip


def require_browser() -> str:
    """The browser's program; skips the test where there is none, or fails if all must run."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        skip_or_fail("no browser: install Chromium (apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def started_browser() -> Iterator[Browser]:
    with Browser() as started:
        yield started


@pytest.fixture
def browser(started_browser: Browser) -> Iterator[Browser]:
    """The browser of all tests of a worker; its pages are closed behind each test."""
    yield started_browser
    started_browser.close_pages()


class Browser:
    """The browser's process and its messages."""

    def __init__(self) -> None:
        program = require_browser()
        self._stack = contextlib.ExitStack()
        home = self._stack.enter_context(
            tempfile.TemporaryDirectory(prefix="browser-", ignore_cleanup_errors=True)
        )
        their_input, self._out = os.pipe()
        self._in, their_output = os.pipe()
        arguments = [
            program, "--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu",
            "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            # A process for each page, and one in reserve, is as much work as the pages.
            "--renderer-process-limit=1", "--disable-features=SpareRendererForSitePerProcess",
            f"--user-data-dir={home}", "about:blank",
        ]  # fmt: skip
        # The browser reads from descriptor 3 and writes to 4, whatever numbers ours have. Ones
        # above 9 cannot be named in every shell, so they go through cat's own: /dev/fd.
        redirect = f'exec "$0" "$@" 3</dev/fd/{their_input} 4>/dev/fd/{their_output}'
        self.process = subprocess.Popen(
            ["/bin/sh", "-c", redirect, *arguments],
            pass_fds=(their_input, their_output),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(their_input)
        os.close(their_output)
        self._buffer = b""
        self._number = 0
        self.events: list[dict[str, Any]] = []
        self._pages: list[Page] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        with contextlib.suppress(OSError, AssertionError):
            self.call("Browser.close")
        os.close(self._out)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self._in)
        self._stack.close()

    def open(self, file: Path, *, fragment: str = "", size: tuple[int, int] = (1500, 900)) -> Page:
        """A new page that shows the file."""
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        attached = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        page = Page(self, attached["sessionId"])
        self._pages.append(page)
        for domain in ("Page", "Runtime", "Network", "Log"):
            page.call(f"{domain}.enable")
        width, height = size
        page.call(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False},
        )
        page.go(file.as_uri() + fragment)
        return page

    def close_pages(self) -> None:
        """Close the pages that are open: each of them slows the next ones."""
        for page in self._pages:
            page.call("Page.close")
        self._pages.clear()
        self.events.clear()

    def call(
        self, method: str, parameters: dict[str, Any] | None = None, session: str = ""
    ) -> dict[str, Any]:
        """Ask, and wait for the answer; what else arrives is kept in ``events``."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method}
        message["params"] = parameters or {}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next(method)
            if answer.get("id") == self._number:
                assert "error" not in answer, (method, answer["error"])
                result: dict[str, Any] = answer["result"]
                return result
            self.events.append(answer)

    def _next(self, waiting_for: str) -> dict[str, Any]:
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._in], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                pytest.fail(f"the browser gave no answer to {waiting_for} in {PATIENCE:.0f} s")
            piece = os.read(self._in, 1 << 16)
            assert piece, f"the browser ended before it answered {waiting_for}"
            self._buffer += piece
        line, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        return message


class Page:
    """One page: what a person does there, and what a script sees."""

    def __init__(self, browser: Browser, session: str) -> None:
        self._browser = browser
        self._session = session

    def call(self, method: str, parameters: dict[str, Any] | None = None) -> dict[str, Any]:
        return self._browser.call(method, parameters, self._session)

    def go(self, url: str) -> None:
        """Load the page and wait until it has."""
        self.call("Page.navigate", {"url": url})
        deadline = time.monotonic() + PATIENCE
        while self.value("document.readyState") != "complete":
            assert time.monotonic() < deadline, f"{url} does not load"
        self.rest()

    def value(self, expression: str) -> Any:
        """What a script's expression gives, as JSON."""
        answer = self.call(
            "Runtime.evaluate",
            {"expression": expression, "returnByValue": True, "awaitPromise": True},
        )
        assert "exceptionDetails" not in answer, (expression, answer["exceptionDetails"])
        return answer["result"].get("value")

    def texts(self, selector: str) -> list[str]:
        """The texts of the elements."""
        script = f"[...document.querySelectorAll({json.dumps(selector)})].map((e) => e.textContent)"
        found: list[str] = self.value(script)
        return found

    def rest(self) -> None:
        """Wait until what was done is on the screen, where a person would see it."""
        frame = "requestAnimationFrame"
        self.value(f"new Promise((done) => {frame}(() => {frame}(() => setTimeout(done, 0))))")

    def hover(self, selector: str) -> None:
        """Move the mouse onto the middle of the element."""
        x, y = self._middle(selector)
        self._mouse("mouseMoved", x, y)

    def click(self, selector: str) -> None:
        """Click on the middle of the element."""
        x, y = self._middle(selector)
        self._mouse("mouseMoved", x, y)
        for kind in ("mousePressed", "mouseReleased"):
            self._mouse(kind, x, y, button="left", clickCount=1)

    def press(self, *keys: str) -> None:
        """Press keys, by their names in ``KeyboardEvent.key``; other texts are typed."""
        for key in keys:
            if key in _KEYS:
                code: dict[str, Any] = {"key": key, "windowsVirtualKeyCode": _KEYS[key]}
                if key == "/":
                    code["text"] = key
                self.call("Input.dispatchKeyEvent", {"type": "keyDown", **code})
                self.call("Input.dispatchKeyEvent", {"type": "keyUp", **code})
            else:
                self.call("Input.insertText", {"text": key})

    @property
    def errors(self) -> list[str]:
        """What the console got: exceptions, refusals of the page's policy, warnings."""
        wanted = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        return [json.dumps(e["params"]) for e in self._events() if e["method"] in wanted]

    @property
    def requests(self) -> list[str]:
        """Every address that the page asked for."""
        found = self._events()
        sent = [e for e in found if e["method"] == "Network.requestWillBeSent"]
        return [e["params"]["request"]["url"] for e in sent]

    def _events(self) -> list[dict[str, Any]]:
        self.rest()
        return [e for e in self._browser.events if e.get("sessionId") == self._session]

    def _middle(self, selector: str) -> tuple[float, float]:
        self.value(
            f"document.querySelector({json.dumps(selector)}).scrollIntoView({{block: 'nearest'}})"
        )
        self.rest()  # a click goes to what is on the screen
        box = self.value(
            f"(() => {{ const box = document.querySelector({json.dumps(selector)})"
            ".getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        return box[0], box[1]

    def _mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        self.call("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, **more})
