"""VLC without a window, steered by its rc interface; as nobody where we are root, for it refuses to run as root."""

import contextlib
import os
import pwd
import re
import signal
import socket
import subprocess
import time

from weirtools import processes

NUMBER = re.compile(rb"(?m)^(?:> )*(\d+)\s*$")


class VLC:
    """A player in a folder of its own. `start` starts a child with its command line; without an interface after `patience` it has failed."""

    def __init__(self, folder, *options, start=None, patience=20):
        user = []
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            user = ["runuser", "-u", "nobody", "--"]
        port = processes.free_port()
        words = user + [
            "env", "HOME=%s" % folder, "XDG_RUNTIME_DIR=%s" % folder, "LC_ALL=C.UTF-8", "DBUS_SESSION_BUS_ADDRESS=", "cvlc", "-I", "rc",
            "--rc-host", "127.0.0.1:%d" % port, "--vout", "dummy", "--aout", "dummy", "--no-media-library",
            "--no-metadata-network-access", *options]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.child = start(words) if start else subprocess.Popen(words, start_new_session=True, **quiet)
        self.connection, until = None, time.monotonic() + patience
        while not self.connection and self.child.poll() is None and time.monotonic() < until:
            with contextlib.suppress(OSError):
                self.connection = socket.create_connection(("127.0.0.1", port), timeout=5)
            time.sleep(0.02)

    def ask(self, command):
        """The number that a command answers, or None; what else the interface says goes by."""
        try:
            self.connection.sendall((command + "\n").encode())
            text = b""
            self.connection.settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                while not NUMBER.search(text):
                    if not (more := self.connection.recv(4096)):
                        return None
                    text += more
            found = NUMBER.findall(text)
            return int(found[-1]) if found else None
        except OSError:
            return None

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait()
