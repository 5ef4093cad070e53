"""ffmpeg as a viewer: it reads as fast as the media plays, and each decoded frame is noted with the moment at which it came."""

import subprocess
import threading
import time

from weirtools.players import frames


class Viewer:
    """ffmpeg at media playlists that go together, from the start to the end.

    `begun` is set when the first frame is there; `began` is its moment then, by the monotonic clock. A `rate` of None reads as
    fast as it can. With `decodes` false the hashes are those of encoded frames.
    """

    def __init__(self, urls, rate=1.0, decodes=True):
        self.arrivals, self.text, self.began, self.begun = [], [], None, threading.Event()
        pace = ["-readrate", str(rate)] if rate else []
        # More threads hold frames back; so would output that is gathered.
        inputs = [word for url in urls for word in [*pace, "-threads", "1", "-i", url]]
        maps = [word for number in range(len(urls)) for word in ("-map", str(number))]
        self.child = subprocess.Popen(
            ["ffmpeg", "-nostdin", "-v", "warning", "-copyts", *inputs, *maps, "-autoscale", "0", "-vsync", "passthrough",
             *([] if decodes else ["-c", "copy"]), "-flush_packets", "1", "-f", "framemd5", "pipe:1"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.errors = ""
        self.readers = [threading.Thread(target=read, daemon=True) for read in (self.read, self.read_errors)]
        for reader in self.readers:
            reader.start()

    def read(self):
        for line in self.child.stdout:
            self.text.append(line)
            if not line.startswith("#"):
                self.arrivals.append(time.monotonic())
                if self.began is None:
                    self.began = self.arrivals[0]
                    self.begun.set()
        self.begun.set()

    def read_errors(self):
        self.errors = self.child.stderr.read()

    @property
    def plays(self):
        return self.child.poll() is None

    def finish(self, within):
        """Waits for its end; whether that was a good one."""
        try:
            self.child.wait(within)
        except subprocess.TimeoutExpired:
            return False
        finally:
            self.end()
        return self.child.returncode == 0

    def end(self):
        if self.plays:
            self.child.kill()
            self.child.wait()
        for reader in self.readers:
            reader.join()

    @property
    def streams(self):
        return frames.read("".join(self.text))

    def lateness(self, rate=1.0):
        """(seconds, media time): by how much the latest frame came later than the first one and its own time allow."""
        rows = [line for line in self.text if not line.startswith("#")]
        ticks = {number: stream.tick for number, stream in enumerate(self.streams)}
        times = []
        for row in rows[:len(self.arrivals)]:
            fields = row.split(",")
            if len(fields) == 6:
                tick = ticks[int(fields[0])]
                times.append(int(fields[2]) * tick[0] / tick[1])
        if not times:
            return 0.0, 0.0
        first = times[0]
        late = [(arrival - self.arrivals[0] - (moment - first) / rate, moment - first)
                for arrival, moment in zip(self.arrivals, times)]
        return max(late)
