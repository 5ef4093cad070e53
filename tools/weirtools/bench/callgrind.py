"""Counts the instructions and allocations of programs with valgrind's callgrind: figures that no other load of the machine changes.

A program is a copy without debug information, because valgrind does not read all that a Swift compiler writes.
"""

import collections
import pathlib
import re
import subprocess
import time

from weirtools.bench import common

# What a program calls for memory.
ALLOCATORS = {"malloc", "calloc", "realloc", "memalign", "posix_memalign", "aligned_alloc"}
# A line of a profile that begins with a position and has a cost.
COST = re.compile(r"[-+*\d]")
# The library that hashes.
HASHING = "libcrypto.so"
# A program has nothing to do once it has taken no processor time for so many looks in a row. What is left for later, such as syncs
# of the last segments of a download, follows within two seconds.
LOOK, SOON, LATER = 0.1, 1, 30
# Valgrind 3.19 changes the mask of sigsuspend(2) in place. That of Swift's libdispatch is in memory that cannot be written to.
SHIM = """
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>
int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return syscall(SYS_rt_sigsuspend, &copy, _NSIG / 8);
}
"""


class Cost(collections.namedtuple("Cost", "instructions hashing allocations")):
    """Instructions without those of the hash, instructions of the hash, and allocations."""

    def __add__(self, other):
        return Cost(*[one + two for one, two in zip(self, other)])

    def __sub__(self, other):
        return Cost(*[one - two for one, two in zip(self, other)])

    def per(self, count):
        """The share of one of so many."""
        return Cost(*[value / count for value in self])


def low(costs):
    """The lower quartiles: at most three in four batches have something in them that comes at its own time."""
    return Cost(*[sorted(values)[(len(values) - 1) // 4] for values in zip(*costs)])


def middle(costs):
    """The medians."""
    return Cost(*[common.median(values) for values in zip(*costs)])


class Callgrind:
    """Runs programs under callgrind, with their profiles in the folder of a benchmark."""

    def __init__(self, bench):
        self.bench, self.folder = bench, bench.home("callgrind")
        self.shim, self.pipes = self.folder / "shim.so", self.folder / "vgdb"
        command = ["gcc", "-O1", "-shared", "-fPIC", "-x", "c", "-", "-o", self.shim]
        subprocess.run(command, input=SHIM, text=True, check=True)

    def program(self, path):
        """A copy of a program without debug information."""
        copy = self.folder / pathlib.Path(path).name
        subprocess.run(["strip", "--strip-debug", "-o", copy, path], check=True)
        return copy

    def command(self, name):
        """The words before a program's own, and the beginning of its profiles' names."""
        out = self.bench.home(name) / "profile"
        # The seed of Swift's hash tables decides how long their chains are.
        settings = ["env", "LD_PRELOAD=%s" % self.shim, "SWIFT_DETERMINISTIC_HASHING=1"]
        words = ["valgrind", "--quiet", "--tool=callgrind", "--callgrind-out-file=%s" % out, "--vgdb-prefix=%s" % self.pipes]
        return settings + words, out

    def run(self, arguments, **options):
        """The cost of a program from its beginning to its end."""
        words, out = self.command("run")
        subprocess.run([str(item) for item in words + list(arguments)], check=True, **options)
        return cost(out)

    def server(self, name, start):
        """Starts a server with the words that `start` puts before its own."""
        words, out = self.command(name)
        return CountedServer(self, start(words), out)


class CountedServer:
    """A server under callgrind."""

    def __init__(self, callgrind, server, out):
        self.callgrind, self.server, self.out, self.dumps = callgrind, server, out, 0

    def spent(self, looks=SOON):
        """The cost since the last call, once the server has nothing to do for so many looks."""
        self.wait_until_quiet(looks)
        command = ["vgdb", "--vgdb-prefix=%s" % self.callgrind.pipes, "--pid=%d" % self.server.child.pid, "dump"]
        subprocess.run(command, check=True, capture_output=True)
        self.dumps += 1
        return cost(self.out.with_name("%s.%d" % (self.out.name, self.dumps)))

    def wait_until_quiet(self, looks):
        last, seen = None, 0
        while seen < looks:
            time.sleep(LOOK)
            now = self.server.cpu()
            seen = seen + 1 if now == last else 0
            last = now


def cost(profile):
    """The cost that a profile has."""
    with open(profile, encoding="utf-8", errors="replace") as lines:
        return read(lines)


def read(lines):
    """The cost that the lines of a profile have: instructions of functions, and how often each calls another one.

    A name is written once, with a number that stands for it later. The line below a call is what all that is called there cost.
    """
    names, own, called = {}, collections.Counter(), collections.Counter()
    library = callee = None
    is_below_call = False
    for line in lines:
        key, _, value = line.rstrip("\n").partition("=")
        if key in ("ob", "cob", "fn", "cfn"):
            number, _, name = value.partition(" ")
            kind = key[-2:]
            name = names.setdefault((kind, number), name)
            if key == "ob":
                library = name
            elif key == "cfn":
                callee = name
        elif key == "calls":
            # A function that calls itself is called NAME'2 there.
            called[callee.partition("'")[0]] += int(value.split()[0])
            is_below_call = True
        elif COST.match(line):
            if not is_below_call:
                own[library] += int(line.split()[1])
            is_below_call = False
    hashing = sum(count for name, count in own.items() if pathlib.Path(name).name.startswith(HASHING))
    allocations = sum(called[name] for name in ALLOCATORS)
    return Cost(sum(own.values()) - hashing, hashing, allocations)
