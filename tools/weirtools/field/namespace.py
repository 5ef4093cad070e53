"""Namespaces of the field laboratory: a network that has only this process's servers, and files of /etc of its own.

All of 1.2.0.0/16, 1.16.0.0/14, 10.16.0.0/14 and 2a0f:2::/32 are addresses of this machine there, so each case takes some without
setting up interfaces. Packets to 1.48.0.0/14 vanish: these are addresses of dead hosts. There is no way out.
"""

import os
import pathlib
import subprocess
import sys

MARK = "WEIR_FIELD_NAMESPACE"
NAMESERVER = "127.0.0.53"
COMMANDS = """
ip link set lo up
ip route add local 1.2.0.0/16 dev lo
ip route add local 1.16.0.0/14 dev lo
ip route add local 10.16.0.0/14 dev lo
ip -6 route add local 2a0f:2::/32 dev lo
ip tuntap add void mode tun
ip link set void up
ip addr add 1.48.255.254/14 dev void
ip route add unreachable default metric 4000
"""
# A query is sent once: a slow resolver answers it late, and is not asked anew.
RESOLV = "nameserver %s\noptions timeout:30 attempts:1\n" % NAMESERVER
SYSTEM_AUTHORITIES = pathlib.Path("/etc/ssl/certs/ca-certificates.crt")


def enter():
    """Runs this program again in new namespaces; returns only there."""
    if os.environ.get(MARK) == "inside":
        return
    if os.geteuid() != 0:
        sys.exit("tools/field: root is needed for the namespaces: sudo tools/field")
    inside = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "--propagation", "private"]
    os.execvpe("unshare", inside + [sys.executable, *sys.argv], {**os.environ, MARK: "inside"})


def set_up(folder, authority):
    """The network, the resolver's configuration, and the trust store with one more authority (PEM text)."""
    for line in COMMANDS.strip().splitlines():
        subprocess.run(line.split(), check=True)
    # An address of an IPv6 local route can be bound only with this.
    pathlib.Path("/proc/sys/net/ipv6/ip_nonlocal_bind").write_text("1")
    replace("/etc/resolv.conf", RESOLV, folder)
    replace("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", folder)
    replace(SYSTEM_AUTHORITIES, SYSTEM_AUTHORITIES.read_text() + authority, folder)


def replace(path, text, folder):
    """Mounts a file with this text over a file of the system, in this mount namespace only."""
    own = folder / pathlib.Path(path).name
    own.write_text(text)
    subprocess.run(["mount", "--bind", str(own), str(path)], check=True)
