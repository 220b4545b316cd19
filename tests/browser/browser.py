"""A headless Chromium for tests, driven through chromedriver (WebDriver, W3C). Standard library only."""
import base64
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time


def missing():
    """What is not installed, or None."""
    for program in ("chromium", "chromedriver"):
        if shutil.which(program) is None:
            return program
    return None


class Browser:
    def __init__(self, width=1280, height=1000, dark=False):
        self.folder = tempfile.mkdtemp(prefix="espalier-browser-")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={self.port}", "--log-level=SEVERE"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.folder})
        self.session = None
        arguments = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars",
                     f"--window-size={width},{height}", f"--user-data-dir={self.folder}/profile"]
        self._wait_for_driver()
        answer = self._send("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"args": arguments, "binary": shutil.which("chromium")},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = "/session/" + answer["sessionId"]
        self.emulate(width, height, dark)

    def close(self):
        try:
            if self.session:
                self._send("DELETE", self.session)
        finally:
            self.driver.terminate()
            self.driver.wait()
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _wait_for_driver(self):
        for _ in range(600):
            try:
                self._send("GET", "/status")
                return
            except OSError:
                if self.driver.poll() is not None:
                    break
                time.sleep(0.05)
        raise RuntimeError("chromedriver does not answer")

    def _send(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        text = json.dumps(body if body is not None else {}) if method == "POST" else None
        connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
        value = answer["value"]
        if isinstance(value, dict) and "error" in value:
            raise RuntimeError(f"{path}: {value['error']}: {value['message']}")
        return value

    def command(self, name, **parameters):
        """One of the DevTools protocol."""
        return self._send("POST", self.session + "/goog/cdp/execute", {"cmd": name, "params": parameters})

    def emulate(self, width, height, dark=False, reduced_motion=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia", media="", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}])

    def open(self, path):
        self._send("POST", self.session + "/url", {"url": "file://" + os.path.abspath(path)})

    def run(self, script, *arguments):
        return self._send("POST", self.session + "/execute/sync", {"script": script, "args": list(arguments)})

    def console(self):
        """What was written there since the last call, warnings and errors only."""
        return [line for line in self._send("POST", self.session + "/se/log", {"type": "browser"})
                if line["level"] in ("SEVERE", "WARNING")]

    def wait(self, condition, *arguments):
        """Until a script gives something true. A test that never gets there fails by its own limit."""
        for _ in range(1200):
            value = self.run(condition, *arguments)
            if value:
                return value
            time.sleep(0.05)
        raise AssertionError("never true: " + condition)

    def pointer(self, *actions):
        self._send("POST", self.session + "/actions", {"actions": [
            {"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": list(actions)}]})

    def hover(self, x, y):
        self.pointer({"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0})

    def click(self, x, y):
        self.pointer({"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0},
                     {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0})

    def press(self, key):
        self._send("POST", self.session + "/actions", {"actions": [
            {"type": "key", "id": "keys", "actions": [{"type": "keyDown", "value": key},
                                                      {"type": "keyUp", "value": key}]}]})

    def screenshot(self, path, whole=False):
        parameters = {"format": "png", "captureBeyondViewport": whole}
        if whole:
            size = self.command("Page.getLayoutMetrics")["cssContentSize"]
            parameters["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        image = self.command("Page.captureScreenshot", **parameters)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(image))
