"""mpv without a window, steered by its JSON IPC."""

import contextlib
import json
import socket
import subprocess
import time

# Until it listens, in seconds.
PATIENCE = 60
QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
# How it says that it has ended, where a command or an event is waited for.
GONE = {"event": "end-file", "reason": "mpv ended"}


class MPV:
    """A player with its socket at `path`. `start` starts a child with its command line; `left` says how long a message is waited for."""

    def __init__(self, path, *options, start=None, left=lambda: None):
        words = ["mpv", "--no-config", "--vo=null", "--ao=null", "--ytdl=no", "--no-terminal", "--input-ipc-server=%s" % path, *options]
        self.child = start(words) if start else subprocess.Popen(words, **QUIET)
        self.left, self.number, self.events, self.rest = left, 100, [], b""
        self.connection = socket.socket(socket.AF_UNIX)
        until = time.monotonic() + PATIENCE
        while self.connection.connect_ex(str(path)) and self.child.poll() is None and time.monotonic() < until:
            time.sleep(0.02)

    def send(self, *words):
        """Sends a command without waiting for its answer; returns the answer's number."""
        self.number += 1
        with contextlib.suppress(OSError):
            self.connection.sendall((json.dumps({"command": words, "request_id": self.number}) + "\n").encode())
        return self.number

    def ask(self, *words):
        """The data of a command's answer."""
        number = self.send(*words)
        return self.next(lambda message: message.get("request_id") == number).get("data")

    def observe(self, *names):
        """From now on each change of these properties is a message."""
        for number, name in enumerate(names, 1):
            self.send("observe_property", number, name)

    def next(self, wanted):
        """The next message that is wanted; events that come before it are put by. GONE if mpv has ended."""
        for index, message in enumerate(self.events):
            if wanted(message):
                return self.events.pop(index)
        for message in self.messages():
            if wanted(message):
                return message
            self.events.append(message)
        return GONE

    def messages(self):
        """All messages as they come, until mpv ends. Raises TimeoutError."""
        while True:
            while b"\n" not in self.rest:
                try:
                    self.connection.settimeout(self.left())
                    part = self.connection.recv(65536)
                except TimeoutError:
                    raise
                except OSError:
                    return
                if not part:
                    return
                self.rest += part
            line, _, self.rest = self.rest.partition(b"\n")
            yield json.loads(line)

    def close(self):
        self.child.kill()
        self.child.wait()
        self.connection.close()
