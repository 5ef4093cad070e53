"""A headless Firefox of one's own, driven by Marionette, for tools/lab/firefox. It needs nothing but Firefox."""

import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile
import time

from weirtools import players

# A window of a test asks nobody, updates nothing, and plays without a click.
SETTINGS = {
    "marionette.port": 0, "media.autoplay.default": 0, "media.autoplay.blocking_policy": 0, "media.volume_scale": "0.0",
    "browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False, "app.update.enabled": False,
    "browser.safebrowsing.downloads.remote.enabled": False, "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False, "toolkit.telemetry.reportingpolicy.firstRun": False, "network.proxy.type": 0,
}

# The value of an expression, of its promise where it is one.
EVALUATION = """
const done = arguments[arguments.length - 1];
(async () => (%s))().then(value => done({value: value ?? null}), error => done({error: String(error)}));
"""


def program():
    """The path of Firefox; None if it is not installed."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Browser:
    """A Firefox that ends with this object. Each wait is bounded by `patience` seconds."""

    def __init__(self, patience=60):
        self.patience, self.number, self.connection = patience, 0, None
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-firefox-"))
        lines = ["user_pref(%s, %s);" % (json.dumps(key), json.dumps(value)) for key, value in SETTINGS.items()]
        (self.folder / "user.js").write_text("\n".join(lines))
        self.child = subprocess.Popen(
            [program(), "--headless", "--marionette", "--no-remote", "--profile", str(self.folder)], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=str(self.folder)), start_new_session=True)
        try:
            self.connect()
            self.call("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": False}})
            # A new window is opened from one that is there.
            self.first = self.call("WebDriver:GetWindowHandle")["value"]
            self.call("WebDriver:SetTimeouts", script=int(patience * 1000))
        except BaseException:
            self.close()
            raise

    def connect(self):
        """Waits for the port, which Firefox writes into its profile."""
        end, file = time.monotonic() + self.patience, self.folder / "MarionetteActivePort"
        while not (file.exists() and file.read_text().strip()):
            if self.child.poll() is not None or time.monotonic() > end:
                raise RuntimeError("Firefox does not start")
            time.sleep(0.05)
        self.connection = socket.create_connection(("127.0.0.1", int(file.read_text())), timeout=self.patience)
        self.received = b""
        self.message()

    def message(self):
        """The next message: its length in bytes, a colon, and JSON."""
        while b":" not in self.received:
            self.receive()
        length, _, self.received = self.received.partition(b":")
        while len(self.received) < int(length):
            self.receive()
        text, self.received = self.received[:int(length)], self.received[int(length):]
        return json.loads(text)

    def receive(self):
        more = self.connection.recv(1 << 16)
        if not more:
            raise RuntimeError("Firefox ended")
        self.received += more

    def call(self, command, **parameters):
        """The result of a command of Marionette; RuntimeError says why there is none."""
        self.number += 1
        text = json.dumps([0, self.number, command, parameters]).encode()
        self.connection.sendall(b"%d:%s" % (len(text), text))
        _, _, error, result = self.message()
        if error:
            raise RuntimeError("%s: %s" % (command, error["message"]))
        return result

    def page(self, width=1280, height=800):
        """A new page of this size; its handle."""
        self.call("WebDriver:SwitchToWindow", handle=self.first)
        handle = self.call("WebDriver:NewWindow", type="window")["handle"]
        self.call("WebDriver:SwitchToWindow", handle=handle)
        self.call("WebDriver:SetWindowRect", width=width, height=height)
        return handle

    def open(self, page, url):
        self.call("WebDriver:SwitchToWindow", handle=page)
        self.call("WebDriver:Navigate", url=url)

    def evaluate(self, page, script):
        """`{"value": …}`, or `{"error": …}` if the script failed."""
        self.call("WebDriver:SwitchToWindow", handle=page)
        return self.call("WebDriver:ExecuteAsyncScript", script=EVALUATION % script, args=[])["value"]

    def end(self, page):
        self.call("WebDriver:SwitchToWindow", handle=page)
        self.call("WebDriver:CloseWindow")

    def close(self):
        if self.connection:
            self.connection.close()
        players.end(self.child)
        shutil.rmtree(self.folder, ignore_errors=True)
