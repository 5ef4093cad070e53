"""The memory and the processor time of a process, as /proc has them, and a port for one."""

import contextlib
import os
import pathlib
import socket

TICKS = os.sysconf("SC_CLK_TCK")


def memory(process, field="VmRSS"):
    """A field of the process's status, in bytes: what is resident, with VmHWM the most that was, with RssAnon what is its own.

    0 if the process has ended, or is about to.
    """
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/%d/status" % process).read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) << 10
    return 0


def cpu(process):
    """(seconds outside the kernel, seconds in it) of a process so far."""
    fields = pathlib.Path("/proc/%d/stat" % process).read_text().rsplit(")", 1)[1].split()
    return int(fields[11]) / TICKS, int(fields[12]) / TICKS


def free_port():
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
