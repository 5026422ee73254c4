"""Chromium without a screen, driven through WebDriver. Just the functions that the tests need, without dependencies."""

import base64
import functools
import http.server
import json
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request

# WebGPU on a software rasteriser. Without the last four of them the canvas loses its device.
SOFTWARE_GPU = [
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--enable-features=Vulkan",
    "--use-vulkan=swiftshader",
    "--use-angle=swiftshader",
    "--disable-gpu-watchdog",
]


def serve(folder):
    """Serves a folder on localhost and returns its address."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("localhost", 0), functools.partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://localhost:{server.server_port}"


class Browser:
    """One window of its own browser."""

    def __init__(self, size, scale=1, before=""):
        """Of a size in CSS pixels, at so many device pixels each. `before` is a script that runs before any page's."""
        self.profile = tempfile.mkdtemp()
        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
        self.driver = subprocess.Popen(["chromedriver", f"--port={port}", "--silent"], stdout=subprocess.DEVNULL)
        self.address = f"http://localhost:{port}"
        options = {
            "args": [
                "--headless=new", "--no-sandbox", f"--user-data-dir={self.profile}", "--hide-scrollbars",
                f"--force-device-scale-factor={scale}", *SOFTWARE_GPU,
            ],
            "binary": shutil.which("chromium"),
        }
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        self.session = ""
        for attempt in range(50):
            try:
                self.session = "/session/" + self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})["sessionId"]
                break
            except (urllib.error.URLError, ConnectionError):
                if attempt == 49:
                    raise
                time.sleep(0.2)
        self.call("POST", "/timeouts", {"script": 120_000})
        self.is_phone = scale > 1
        self.resize(size)
        if before:
            self.devtools("Page.addScriptToEvaluateOnNewDocument", source=before)

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + (getattr(self, "session", "")) + path, data, method=method)
        request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=180) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.load(error)["value"]["message"].splitlines()[0]) from None

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def resize(self, size):
        """Sets the size of the viewport in CSS pixels, whatever frame the window has.

        The scale of the display stays: an emulated scale would not change `devicePixelContentBoxSize`, by which winit sizes
        the canvas.
        """
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=size[0], height=size[1], deviceScaleFactor=0, mobile=self.is_phone,
        )
        self.devtools("Emulation.setTouchEmulationEnabled", enabled=self.is_phone)

    def open(self, url):
        self.call("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        """The result of a script: the body of an async function."""
        body = (
            "const done = arguments[arguments.length - 1]; const values = [...arguments].slice(0, -1);"
            f"(async (...values) => {{ {script} }})(...values).then((value) => done([value]), (error) => done(String(error)));"
        )
        result = self.call("POST", "/execute/async", {"script": body, "args": list(arguments)})
        if isinstance(result, str):
            raise RuntimeError(result)
        return result[0]

    def wait(self, what, condition, seconds=120):
        """Waits until an expression of the page is true, or the page has stopped with a message."""
        end = time.monotonic() + seconds
        while not self.run(f"return Boolean({condition});"):
            said = self.message()
            assert not said and time.monotonic() < end, f"{what}: not in {seconds} s; the page says {said!r}"
            time.sleep(0.2)

    def message(self):
        """The message with which the page has stopped, if it has."""
        script = "const it = document.getElementById('message'); return it && !it.hidden ? it.innerText : '';"
        return self.run(script)

    def frames(self, count):
        """Waits for some frames."""
        self.run("for (let i = 0; i < values[0]; i++) await new Promise(requestAnimationFrame);", count)

    def complaints(self):
        """The warnings and errors of the console since the last call."""
        entries = self.call("POST", "/se/log", {"type": "browser"})
        return [f"{entry['level']}: {entry['message']}" for entry in entries if entry["level"] in ("WARNING", "SEVERE")]

    def screenshot(self, path):
        with open(path, "wb") as file:
            # WebDriver's own times out after ten seconds, which a software rasteriser may need for one frame.
            file.write(base64.b64decode(self.devtools("Page.captureScreenshot", format="png")["data"]))

    def drag(self, path, seconds):
        """Presses the mouse at the first place, in CSS pixels of the window, and moves it to the others."""
        step = int(1000 * seconds / len(path))
        moves = [{"type": "pointerMove", "duration": step, "x": int(x), "y": int(y)} for x, y in path]
        actions = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        self.call("POST", "/actions", {"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]})

    def close(self):
        try:
            self.call("DELETE", "")
        except (RuntimeError, OSError):
            pass
        self.driver.terminate()
        self.driver.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
