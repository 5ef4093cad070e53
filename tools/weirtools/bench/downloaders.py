"""The programs that tools/bench get measures: `weir get` and other downloaders, each with a fresh folder."""

import contextlib
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

from weirtools import processes
from weirtools.bench import common

YT_DLP = "yt-dlp==2026.10.26"
CURL = ["curl", "-q", "-s", "-f", "--noproxy", "*"]


class Presentation:
    """A media playlist of `count` segments of `size` bytes, at a URL that ends in a slash."""

    def __init__(self, url, count, size):
        self.url, self.count, self.size = url, count, size
        self.playlist, self.bytes = url + "media.m3u8", count * size
        self.segments = ["%s%d.ts" % (url, number) for number in range(count)]


class Run:
    """One download: seconds to its end, seconds until all is synced (by Weir also hashed and recorded; over a link its own alone),
    seconds of processor time of all that took part, and the most memory of the largest, in bytes. Weir's processor time and memory
    include hashing and syncing."""

    def __init__(self, seconds, cpu, memory):
        self.seconds, self.synced, self.cpu, self.memory = seconds, seconds, cpu, memory


class Failure(Exception):
    """A download that did not come to its end; the argument says why."""


def run(command, folder, limit):
    """Runs a command in a folder, for so many seconds at most; gives what it said, too."""
    start = time.monotonic()
    with open(folder / "said", "w+b") as said:
        child = subprocess.Popen([str(item) for item in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=said,
                                 stderr=said, start_new_session=True)
        peak = watch(child.pid, limit)
        seconds = time.monotonic() - start
        if peak is None:
            os.killpg(child.pid, signal.SIGKILL)
        _, status, usage = os.wait4(child.pid, 0)  # with what its own children used
        child.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        text = said.read()[-600:].decode(errors="replace").strip()
    if peak is None:
        raise Failure("not done after %d s" % limit)
    if child.returncode:
        raise Failure("exit %d: %s" % (child.returncode, text))
    return Run(seconds, usage.ru_utime + usage.ru_stime, peak), text


def watch(pid, limit):
    """The most memory of a process, when it has ended; None when it has not within so many seconds.

    Its rusage would do, if that did not begin with the memory of this process before exec(2).
    """
    descriptor, peak, pause, until = os.pidfd_open(pid), 0, 0.002, time.monotonic() + limit
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        while not poll.poll(pause * 1000):
            if time.monotonic() > until:
                return None
            peak = max(peak, processes.memory(pid, "VmHWM"))
            pause = min(pause * 1.5, 0.05)
        return peak
    finally:
        os.close(descriptor)


def forget_most_memory(pid):
    """Begins the peak anew with what it has now."""
    pathlib.Path("/proc/%d/clear_refs" % pid).write_text("5")


@contextlib.contextmanager
def fresh_folder(place):
    """A new folder in that one, as long as the with statement. A program that did not start may still write there."""
    with tempfile.TemporaryDirectory(prefix="weir-bench-", dir=place, ignore_cleanup_errors=True) as folder:
        yield pathlib.Path(folder)


class Weir:
    """`weir get`, which follows a `weir serve` that runs already; memory is the daemon's, processor time that of both."""

    def __init__(self, bench, *options):
        self.bench, self.options = bench, options

    def fetch(self, presentation, limit, is_far, place=None):
        with fresh_folder(place or self.bench.folder) as folder:
            return self.fetch_into(folder, presentation, limit)

    def fetch_into(self, folder, presentation, limit):
        server = self.bench.weir(folder, self.options)
        try:
            forget_most_memory(server.process)
            before = server.cpu()
            result, _ = run(server.words("get", presentation.playlist), server.folder, limit)
            ended = time.monotonic()
            wait_for_digests(server.store, presentation)
            result.synced += time.monotonic() - ended
            result.cpu += server.cpu() - before
            result.memory = server.memory("VmHWM")
            check_files(server.store.glob("assets/*/*/*.ts"), presentation)
            return result
        finally:
            server.end()


def slow_disk(presentation):
    """Seconds that a slow disk takes for all of it."""
    return presentation.bytes / 20e6


def wait_for_digests(store, presentation):
    """Waits until the digest of each piece is written, which happens after its sync."""
    until = time.monotonic() + 60 + slow_disk(presentation)
    while True:
        lists = [path.read_bytes() for path in store.glob("assets/*/*/SHA256SUMS")]
        if sum(line[:1] != b"#" for text in lists for line in text.splitlines()) >= presentation.count:
            return
        if time.monotonic() > until:
            raise Failure("no digests of all pieces after %d s" % (60 + slow_disk(presentation)))
        time.sleep(0.02)


class Peer:
    """Another program: `command` makes its command line of a presentation and the folder with its lists. Without a link its files
    are synced after its end."""

    def __init__(self, bench, command, check):
        self.bench, self.command, self.check = bench, command, check

    def fetch(self, presentation, limit, is_far, place=None):
        with fresh_folder(place or self.bench.folder) as folder:
            return self.fetch_into(folder, presentation, limit, is_far)

    def fetch_into(self, folder, presentation, limit, is_far):
        command = self.command(presentation, self.bench.folder)
        if is_far and self.check is check_list:
            # What is given a list has read a playlist before, as the others do.
            first = CURL + ["-o", "media.m3u8", presentation.playlist]
            command = ["sh", "-c", '%s && exec "$@"' % " ".join("'%s'" % item for item in first), "sh"] + command
        result, text = run(command, folder, limit)
        self.check(folder, presentation, text)
        if not is_far:
            start = time.monotonic()
            subprocess.run(["sync", "-f", folder], check=True)
            result.synced += time.monotonic() - start
        return result


def curl(parallel):
    def command(presentation, folder):
        lines = "".join('url = "%s"\nremote-name\n' % url for url in presentation.segments)
        (folder / "curl").write_text(lines)
        return CURL + ["--parallel", "--parallel-max", parallel, "-K", folder / "curl"]
    return command


def bare_copy(*options):
    program = pathlib.Path(__file__).with_name("bare_copy.py")
    return lambda presentation, folder: [
        sys.executable, "-I", "-S", program, *options, presentation.url, presentation.count, presentation.size]


def aria2c(parallel):
    def command(presentation, folder):
        (folder / "urls").write_text("\n".join(presentation.segments) + "\n")
        return ["aria2c", "--no-conf", "-q", "--all-proxy=", "--file-allocation=none", "-j", parallel, "-i", folder / "urls"]
    return command


def yt_dlp(parallel):
    package = common.python_package(YT_DLP)

    def command(presentation, folder):
        return ["env", "PYTHONPATH=%s" % package, sys.executable, "-m", "yt_dlp", "--ignore-config", "--no-cache-dir", "--proxy", "",
                "--quiet", "--no-warnings", "--no-progress", "--fixup", "never", "--downloader", "native",
                "--concurrent-fragments", parallel, "-o", "whole.ts", presentation.playlist]
    return command


def ffmpeg(presentation, folder):
    return ["env", "-u", "http_proxy", "ffmpeg", "-nostdin", "-v", "error", "-i", presentation.playlist, "-c", "copy",
            "-f", "mpegts", "whole.ts"]


def check_files(files, presentation):
    sizes = [file.stat().st_size for file in files]
    if sizes != [presentation.size] * presentation.count:
        raise Failure("wrote %d files with %d bytes" % (len(sizes), sum(sizes)))


def check_list(folder, presentation, text):
    check_files(folder.glob("*.ts"), presentation)


def check_joined(folder, presentation, text):
    size = (folder / "whole.ts").stat().st_size
    if size != presentation.bytes:
        raise Failure("wrote %d bytes of %d" % (size, presentation.bytes))


def check_copied(folder, presentation, text):
    """ffmpeg leaves out what it cannot fetch, and says so."""
    if text or (folder / "whole.ts").stat().st_size < 0.8 * presentation.bytes:
        raise Failure("wrote %d bytes of %d: %s" % ((folder / "whole.ts").stat().st_size, presentation.bytes, text))


def peers(bench, parallel):
    """The others by name, with as many transfers at once as Weir has to one host; two more with their usual number; and bare copies."""
    return {
        "curl": Peer(bench, curl(parallel), check_list),
        "aria2c": Peer(bench, aria2c(parallel), check_list),
        "yt-dlp": Peer(bench, yt_dlp(parallel), check_joined),
        "ffmpeg": Peer(bench, ffmpeg, check_copied),
        "curl-50": Peer(bench, curl(50), check_list),
        "aria2c-16": Peer(bench, aria2c(16), check_list),
        "copy": Peer(bench, bare_copy(), check_list),
        "hashed-copy": Peer(bench, bare_copy("--hash"), check_list),
    }
