"""A headless Chromium driven through its debugging pipe: pages are opened, looked at and used as a reader would."""

import base64
import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

COMMAND = next((p for p in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if p), None)
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync", "--hide-scrollbars",
    "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-extensions",
    "--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe",
]  # fmt: skip


def needed() -> None:
    """Skip where there is no browser; in CI there must be one."""
    if COMMAND is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is not installed")
        pytest.skip("Chromium is not installed: the page was not opened in a browser")


class Chromium:
    """One page. What it logs and what it asks for is kept in `logged` and `asked`."""

    def __init__(self, profile: Path):
        read, self.commands = os.pipe()
        self.answers, write = os.pipe()

        def wire():  # Chromium reads commands at 3 and answers at 4
            os.dup2(read, 13), os.dup2(write, 14)
            os.dup2(13, 3), os.dup2(14, 4)

        self.process = subprocess.Popen(
            [COMMAND, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(read), os.close(write)
        self.pending, self.count, self.session = b"", 0, None
        self.logged: list[str] = []
        self.asked: list[str] = []
        self.events: list[dict] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(t["targetId"] for t in targets if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setFocusEmulationEnabled", enabled=True)

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=20)
        os.close(self.commands), os.close(self.answers)

    def message(self) -> dict:
        while b"\0" not in self.pending:
            read = os.read(self.answers, 1 << 20)
            if not read:
                raise RuntimeError("Chromium ended")
            self.pending += read
        text, self.pending = self.pending.split(b"\0", 1)
        return json.loads(text)

    def call(self, method: str, **params) -> dict:
        self.count += 1
        words = {"id": self.count, "method": method, "params": params}
        if self.session:
            words["sessionId"] = self.session
        text = json.dumps(words).encode() + b"\0"
        while text:
            text = text[os.write(self.commands, text) :]
        while True:
            found = self.message()
            if found.get("id") == self.count:
                if "error" in found:
                    raise RuntimeError(f"{method}: {found['error']['message']}")
                return found["result"]
            self.note(found)

    def note(self, event: dict) -> None:
        params = event.get("params", {})
        match event.get("method"):
            case "Runtime.consoleAPICalled":
                self.logged.append(
                    " ".join(str(a.get("value", a.get("description"))) for a in params["args"])
                )
            case "Runtime.exceptionThrown":
                self.logged.append(
                    params["exceptionDetails"].get("exception", {}).get("description", "exception")
                )
            case "Log.entryAdded":
                self.logged.append(params["entry"]["text"])
            case "Network.requestWillBeSent":
                self.asked.append(params["request"]["url"])
        self.events.append(event)

    def open(self, address: str) -> None:
        self.events.clear()
        self.call("Page.navigate", url=address)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.note(self.message())
        self.run("typeof exploring === 'undefined' ? null : exploring")  # once its numbers are unpacked

    def run(self, script: str):
        """The value of an expression in the page."""
        found = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(found["exceptionDetails"]["exception"].get("description", script))
        return found["result"].get("value")

    def screen(self, width: int, height: int, touch: bool = False, dark: bool = False) -> None:
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=touch,
        )
        self.call("Emulation.setTouchEmulationEnabled", enabled=touch)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", media="", features=[theme])

    def choose(self, selector: str, value) -> None:
        """Set a control as a reader would, with the event that follows."""
        box = "node.type === 'checkbox' ? node.checked = value : node.value = value"
        self.run(
            f"(() => {{ const node = document.querySelector({json.dumps(selector)}), value = {json.dumps(value)}; {box};"
            " node.dispatchEvent(new Event('input', {bubbles: true})); })()"
        )

    def key(self, key: str) -> None:
        for kind in ("keyDown", "keyUp"):
            text = {"text": "\r"} if key == "Enter" and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, **text,
                      windowsVirtualKeyCode={"Tab": 9, "Enter": 13, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38,
                                             "ArrowRight": 39, "ArrowDown": 40}.get(key, 0))  # fmt: skip

    def mouse(self, kind: str, x: float, y: float) -> None:
        self.call(
            "Input.dispatchMouseEvent",
            type=kind,
            x=x,
            y=y,
            button="left" if kind != "mouseMoved" else "none",
            clickCount=1,
        )

    def tap(self, x: float, y: float) -> None:
        self.call("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def picture(self, path: Path, whole: bool = False) -> None:
        found = self.call("Page.captureScreenshot", captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def pdf(self, pages: str = "1-6") -> bytes:
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True, pageRanges=pages)["data"])

    def wait(self, script: str, seconds: float = 20.0) -> None:
        end = time.time() + seconds
        while not self.run(script):
            if time.time() > end:
                raise TimeoutError(script)
            time.sleep(0.05)
