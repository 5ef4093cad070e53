#!/usr/bin/python3
"""A user's service manager on a bus of its own, for tests: user_manager.py SOCKET STATE

python-dbusmock is the manager: it takes orders for transient units, each of which has the ActiveState STATE from then on, and a line is
printed for each call. It needs Debian's own Python, and ends with the process that has started it.
"""

import ctypes
import os
import subprocess
import sys
import time

import dbus
import dbus.bus

SERVICE, ROOT = "org.freedesktop.systemd1", "/org/freedesktop/systemd1"
# As sd_bus_path_encode(3) makes the path of a unit.
START = """
import re
label = re.sub("[^A-Za-z0-9]", lambda found: "_%%02x" %% ord(found[0]), args[0])
self.AddObject("/org/freedesktop/systemd1/unit/" + label, "org.freedesktop.systemd1.Unit", {"ActiveState": "%s"}, [])
ret = "/org/freedesktop/systemd1/job/1"
"""
PR_SET_PDEATHSIG, SIGKILL = 1, 9


def begin(*arguments, **more):
    """A child that does not outlive this process."""
    return subprocess.Popen(arguments, preexec_fn=lambda: ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL), **more)


def wait_for(what, condition):
    end = time.monotonic() + 20
    while not condition():
        if time.monotonic() > end:
            sys.exit("user_manager.py: no %s" % what)
        time.sleep(0.02)


def main():
    path, state = sys.argv[1:]
    address = "unix:path=" + path
    begin("dbus-daemon", "--session", "--nofork", "--address=" + address)
    wait_for("bus", lambda: os.path.exists(path))
    manager = begin(
        sys.executable, "-u", "-m", "dbusmock", "--session", SERVICE, ROOT, SERVICE + ".Manager",
        env=dict(os.environ, DBUS_SESSION_BUS_ADDRESS=address), stdout=subprocess.PIPE, text=True)
    bus = dbus.bus.BusConnection(address)
    wait_for("manager", lambda: bus.name_has_owner(SERVICE))
    mock = dbus.Interface(bus.get_object(SERVICE, ROOT), "org.freedesktop.DBus.Mock")
    mock.AddMethod("", "StartTransientUnit", "ssa(sv)a(sa(sv))", "o", START % state)
    mock.AddMethod("", "StopUnit", "ss", "o", "ret = '/org/freedesktop/systemd1/job/2'")
    mock.AddMethod("", "ResetFailedUnit", "s", "", "")
    print("listening on " + path, flush=True)
    for line in manager.stdout:
        # Behind the time.
        print(line.rstrip("\n").split(" ", 1)[-1], flush=True)


if __name__ == "__main__":
    main()
