"""Shows where Weir's processor time goes where another program does the same in less: segments that are not stored yet, and downloads.

    tools/bench profile [--rounds 3]

Two cells: eight clients ask for segments of 32 KiB that Weir does not have yet, beside nginx with an empty proxy_cache; and
`weir get` of 5,000 segments of 20 KiB, beside `curl --parallel`. Printed for each program: microseconds of processor time for a
segment, in its own code and libraries and in the kernel (medians). Beside the downloads stands what the least work costs that keeps
them: each segment is hashed (SHA-256), written to a file of its own and renamed by one Python process, and all is synced at the end.

Then Weir's time by thread, and by library. That needs perf(1); a last round is for it alone, because it costs time itself.
"""

import collections
import hashlib
import os
import pathlib
import signal
import subprocess
import tempfile

from weirtools import processes
from weirtools.bench import clients, common

COLD, KEPT = 32 << 10, 20 << 10


class Samples:
    """Where a process spends its time, by perf(1)."""

    def __init__(self, folder, process):
        self.file = folder / ("perf-%d" % process)
        self.child = subprocess.Popen(["perf", "record", "-q", "-e", "cpu-clock", "-F", "2000", "-p", str(process), "-o", self.file])
        common.wait_for("samples", lambda: self.file.exists() and self.file.stat().st_size > 0)

    def end(self):
        self.child.send_signal(signal.SIGINT)
        self.child.wait()

    def shares(self, field, most):
        """The shares of all samples, the largest first: [(name, percent)]."""
        command = ["perf", "script", "-i", str(self.file), "-F", field]
        lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
        counts = collections.Counter(name(line) for line in lines if line.strip())
        return [(item, 100 * count / max(1, sum(counts.values()))) for item, count in counts.most_common(most)]


def name(line):
    """The thread of a line of perf script, or the file's name in its parentheses."""
    text = line.strip()
    file = text.rsplit("(", 1)[-1].rstrip(")") if text.endswith(")") else text
    return "the kernel" if "kernel" in file else pathlib.Path(file).name


class Cell:
    """One kind of work, done by several programs in turns."""

    def __init__(self, title, count):
        self.title, self.count, self.found = title, count, {}

    def measure(self, who, process, work):
        before = processes.cpu(process)
        work()
        self.add(who, [after - earlier for after, earlier in zip(processes.cpu(process), before)])

    def add(self, who, seconds):
        self.found.setdefault(who, []).append([item / self.count * 1e6 for item in seconds])

    def report(self, arguments):
        print("\n%s\n%-28s %10s %10s" % (self.title, "µs a segment", "outside", "kernel"))
        medians = {who: [common.median(item) for item in zip(*found)] for who, found in self.found.items()}
        for who, (outside, kernel) in medians.items():
            print("%-28s %10.0f %10.0f" % (who, outside, kernel))
        common.row(arguments, "processor time of %s, in µs for each: outside the kernel, in it" % self.title,
                   ", ".join("%s: %.0f, %.0f" % (who, *medians[who]) for who in medians if who != "weir"),
                   "%.0f, %.0f" % tuple(medians["weir"]))


def described(samples):
    for field, title in (("comm", "by thread"), ("ip,sym,dso", "by library")):
        print("%-12s %s" % (title, ", ".join("%s %.0f %%" % share for share in samples.shares(field, 7))))


def cold(bench, arguments, folders):
    cell = Cell("segments of 32 KiB that are not stored yet, 8 clients", arguments.segments)
    origin = bench.nginx("root %s;" % (bench.folder / "files"))
    cache = bench.caching_nginx(origin)
    weir = bench.weir()
    samples = None
    for turn, folder in enumerate(folders):
        entry = "/%s/%s/media.m3u8" % (origin.url, folder)
        paths = clients.shares([weir.segments(entry) for _ in range(clients.CLIENTS)])
        if turn == arguments.rounds:
            samples = Samples(bench.folder, weir.process)
            clients.throughput(weir, paths)
            samples.end()
            break
        own = clients.shares([["/%s/%d.ts" % (folder, number) for number in range(arguments.segments)]] * clients.CLIENTS)
        cell.measure("nginx", cache.process, lambda: clients.throughput(cache, own))
        cell.measure("weir", weir.process, lambda: clients.throughput(weir, paths))
    cell.report(arguments)
    if samples:
        described(samples)


def least(bench, bodies):
    """Seconds outside the kernel and in it for hashing and keeping the bodies, and nothing else."""
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        before = os.times()
        for number, body in enumerate(bodies):
            hashlib.sha256(body).digest()
            file = os.open("%s/part" % folder, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            os.write(file, body)
            os.close(file)
            os.rename("%s/part" % folder, "%s/%d.ts" % (folder, number))
        os.sync()
        after = os.times()
    return [after.user - before.user, after.system - before.system]


def curl(bench, url, folder, count):
    """Seconds outside the kernel and in it of curl's download."""
    out = pathlib.Path(tempfile.mkdtemp(dir=bench.folder))
    orders = "".join('url="%s/%s/%d.ts"\noutput="%s/%d.ts"\n' % (url, folder, number, out, number) for number in range(count))
    before = os.times()
    subprocess.run(["curl", "-sf", "--parallel", "--parallel-max", "6", "-K", "-"], input=orders, text=True,
                   capture_output=True, check=True)
    after = os.times()
    return [after.children_user - before.children_user, after.children_system - before.children_system]


def kept(bench, arguments, folders):
    cell = Cell("`weir get` of segments of 20 KiB", arguments.segments)
    origin = bench.nginx("root %s; keepalive_requests 100000;" % (bench.folder / "files"))
    weir = bench.weir()
    samples = None
    for turn, folder in enumerate(folders):
        url = "%s/%s/media.m3u8" % (origin.url, folder)

        def get():
            weir.run("get", url, "--name", folder, timeout=600)  # noqa: B023

        if turn == arguments.rounds:
            samples = Samples(bench.folder, weir.process)
            get()
            samples.end()
            break
        files = sorted((bench.folder / "files" / folder).glob("*.ts"))
        cell.add("least work", least(bench, [file.read_bytes() for file in files]))
        cell.add("curl --parallel", curl(bench, origin.url, folder, arguments.segments))
        cell.measure("weir", weir.process, get)
    cell.report(arguments)
    if samples:
        described(samples)


ROUNDS, SMOKE = 3, {"segments": 16}


def add_options(parser):
    parser.add_argument("--segments", type=int, default=5000, help="segments a round")


def measure(bench, arguments):
    has_perf = subprocess.run(["which", "perf"], capture_output=True, check=False).returncode == 0
    if not has_perf:
        print("without perf(1), of the package linux-perf, times by thread and by library are missing")
    for work, size, prefix in ((cold, COLD, "cold"), (kept, KEPT, "kept")):
        folders = ["%s-%d" % (prefix, turn) for turn in range(arguments.rounds + has_perf)]
        for folder in folders:
            common.write_presentation(bench.folder / "files" / folder, arguments.segments, size)
        work(bench, arguments, folders)
