"""Shows how large the program is and what its bytes belong to, and how much memory an idle daemon has.

    tools/bench footprint [--rounds 3]

The size is that of the program without debug information, as it is installed. Its named symbols are counted by the module that they
belong to: Weir's rooms together, each library, the data of ICU, the Swift runtime. The rest are names and unwind tables.

The memory is that of a daemon which has just started on an empty store and has served nothing, in MiB (medians): all that is resident,
and of this what belongs to the process alone. The other pages are those of the program and of the system's libraries: they are read
from the disk once, shared with what else runs from these files, and given up when memory is short. Beside it stands an nginx that has
served nothing.
"""

import collections
import pathlib
import re
import subprocess

from weirtools.bench import common

MIB = 1 << 20
MODULE = re.compile(r"\$s(\d+)(\w+)")


def module(symbol, rooms):
    """The part of the program that a symbol belongs to."""
    if symbol.startswith("icudt"):
        return "ICU, data (Foundation, which GRDB imports)"
    found = MODULE.match(symbol)
    if not found:
        return "the Swift runtime and its library, ICU, C" if symbol.startswith("$s") else "C and C++"
    name = found[2][:int(found[1])]
    if name in rooms:
        return "Weir"
    if name.startswith(("Foundation", "_Foundation")):
        return "Foundation (GRDB imports it)"
    return name if name in ("GRDB", "TOMLKit", "ArgumentParser") else "other Swift"


def parts(binary):
    """Bytes of the named symbols by the part of the program."""
    rooms = {folder.name for folder in (common.ROOT / "Sources").iterdir()}
    lines = subprocess.run(["nm", "--print-size", binary], capture_output=True, text=True, check=True).stdout.splitlines()
    sizes = collections.Counter()
    for line in lines:
        words = line.split()
        if len(words) == 4:
            sizes[module(words[3], rooms)] += int(words[1], 16)
    return sizes


def resident(process):
    """The resident bytes of a process, and those that belong to it alone."""
    text = pathlib.Path("/proc/%d/smaps_rollup" % process).read_text()
    figures = {name: int(value) << 10 for name, value in re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE)}
    return figures["Rss"], figures["Anonymous"]


ROUNDS = 3


def measure(bench, arguments):
    stripped = bench.folder / "weir"
    subprocess.run(["strip", "-o", stripped, bench.binary], check=True)
    size = stripped.stat().st_size
    print("%8.1f MiB  the program" % (size / MIB))
    for name, count in parts(bench.binary).most_common():
        print("%8.1f MiB  %s" % (count / MIB, name))
    found = {"weir": [], "nginx": []}
    for _ in range(arguments.rounds):
        for name, start in (("weir", lambda: bench.weir(binary=stripped)), ("nginx", lambda: bench.nginx("root /;"))):
            server = start()
            found[name].append(resident(server.process))
            server.end()
    seen = {name: [common.median([pair[part] for pair in pairs]) / MIB for part in range(2)] for name, pairs in found.items()}
    for name, (whole, own) in seen.items():
        print("%-6s %6.1f MiB resident, %.1f of them its own" % (name, whole, own))
    common.row(arguments, "size of the program, MiB", "", "%.1f" % (size / MIB))
    common.row(arguments, "memory of an idle daemon, MiB: resident, its own", "nginx worker: %.1f, %.1f" % tuple(seen["nginx"]),
               "%.1f, %.1f" % tuple(seen["weir"]))
