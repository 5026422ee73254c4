"""A page in the browser, and the texels of its canvas."""

import base64

import numpy as np

from browser import Browser

# Messages of browsers and drivers that do not concern the page.
HARMLESS = [
    "software rendering",
    "No available adapters",
    "powerPreference option is currently ignored",
    "GPU stall due to ReadPixels",
    "Automatic fallback to software WebGL",
]


class Page:
    """A page in a window."""

    # The object of the page that holds the module.
    name = ""

    def __init__(self, address, api, size, scale=1, before=""):
        self.browser = Browser(size, scale, before)
        self.browser.open(f"{address}/index.html" + (f"?api={api}" if api else ""))

    def ready(self):
        self.browser.wait("blurs can be shown", "document.body.dataset.ready", 240)
        self.browser.frames(3)
        return self

    def canvas(self):
        """The texels of the canvas in the next frame."""
        script = """
        const source = document.getElementById("canvas");
        await new Promise(requestAnimationFrame);
        const { width, height } = source;
        const context = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
        context.drawImage(source, 0, 0);
        const { data } = context.getImageData(0, 0, width, height);
        let text = "";
        for (let i = 0; i < data.length; i += 32768) text += String.fromCharCode(...data.subarray(i, i + 32768));
        return [width, height, btoa(text)];
        """
        width, height, data = self.browser.run(script)
        return np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 4)

    def settled(self, part=lambda texels: texels):
        """Returns the canvas's texels as soon as `part` of them no longer changes. Only for still pictures."""
        before = self.canvas()
        for _ in range(60):
            self.browser.frames(4)
            now = self.canvas()
            if np.array_equal(part(now), part(before)):
                return now
            before = now
        raise AssertionError("the picture does not come to rest")

    def module(self, call):
        self.browser.run(f"{self.name}.module.{call};")

    def check_console(self):
        complaints = [line for line in self.browser.complaints() if not any(known in line for known in HARMLESS)]
        assert not complaints, "the console complains:\n  " + "\n  ".join(complaints)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.browser.close()
