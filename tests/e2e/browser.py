"""A real browser without a window, for tests that look at pages: Debian's chromium."""

import contextlib
import json
import shutil
import sys

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"


def why_none():
    """What is missing, or None where a browser can be started."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "python3-selenium is not installed"
    for program in (CHROMIUM, DRIVER):
        if not shutil.which(program):
            return f"{program} is not installed"
    return None


def skip_loudly():
    """Ends the test program with success, and with words that nobody overlooks."""
    why = why_none()
    if why:
        line = "=" * 88
        print(f"{line}\nNO BROWSER TEST WAS RUN: {why}.\n./setup.sh --developer brings what it takes.\n{line}",
              file=sys.stderr)
        sys.exit(0)


class Browser:
    def __init__(self, width=1280, height=900):
        from selenium import webdriver
        from selenium.webdriver.chrome.options import Options
        from selenium.webdriver.chrome.service import Service
        options = Options()
        options.binary_location = CHROMIUM
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                     "--disable-background-networking", "--disable-component-update", "--no-first-run"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.driver.set_script_timeout(120)
        self.resize(width, height)
        self.driver.execute_cdp_cmd("Network.enable", {})
        self.requests = []

    def resize(self, width, height=900):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def open(self, path):
        self.drain()
        self.driver.get("file://" + path.replace(" ", "%20"))

    def js(self, text, *words):
        return self.driver.execute_script(text, *words)

    def drain(self):
        """Reads the log of requests; returns those made since the last time."""
        new = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                new.append(message["params"]["request"]["url"])
        self.requests += new
        return new

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING")]

    def drag(self, points):
        """A real drag of the mouse through points of the window."""
        def send(kind, point, buttons):
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {
                "type": kind, "x": point[0], "y": point[1], "button": "left", "buttons": buttons, "clickCount": 1})
        send("mouseMoved", points[0], 0)
        send("mousePressed", points[0], 1)
        for point in points[1:]:
            send("mouseMoved", point, 1)
        send("mouseReleased", points[-1], 0)

    def close(self):
        with contextlib.suppress(Exception):
            self.driver.quit()
