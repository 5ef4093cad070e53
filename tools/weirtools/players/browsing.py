"""A headless Chromium of one's own, with pages that are driven by scripts: for tools/lab/browser and tools/make/page-shots."""

import pathlib
import shutil
import subprocess
import tempfile
import time

from weirtools import players
from weirtools.players import chromium


class Browser:
    """A Chromium that ends with this object. Each wait is bounded by `patience` seconds."""

    def __init__(self, options=(), patience=60):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="weir-browser-"))
        self.patience, self.deadline, self.child = patience, time.monotonic() + patience, None
        self.pipe = chromium.Pipe(self, options)

    # The interface that chromium.Pipe calls.

    def start(self, command, **more):
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **more)
        return self.child

    def left(self):
        return max(0.1, self.deadline - time.monotonic())

    # The interface for the tools.

    def call(self, method, session=None, **parameters):
        """The result of a command of the protocol; RuntimeError says why there is none."""
        self.deadline = time.monotonic() + self.patience
        return self.pipe.call(method, session, **parameters)

    def page(self, width=1280, height=800):
        """A new page of this size; its session."""
        target = self.call("Target.createTarget", url="about:blank", newWindow=True, width=width, height=height)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(domain + ".enable", session)
        return session

    def evaluate(self, session, script):
        """The value of a JavaScript expression, of its promise where it is one."""
        answer = self.call("Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "the script failed"))
        return answer["result"].get("value")

    def wait(self, session, condition, seconds=20):
        """Waits until a JavaScript expression is true."""
        end = time.monotonic() + seconds
        # In a document that is only coming it cannot be asked.
        while not self.evaluate(session, "(() => { try { return Boolean(%s) } catch { return false } })()" % condition):
            if time.monotonic() > end:
                raise TimeoutError("not within %d s: %s" % (seconds, condition))
            time.sleep(0.02)

    def close(self):
        if self.child:
            players.end(self.child)
        shutil.rmtree(self.folder, ignore_errors=True)
