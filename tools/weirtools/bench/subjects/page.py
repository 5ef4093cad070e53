"""Opens the page of a store with many assets in Chromium, while as many browsers as in a classroom have it open.

    tools/bench page [--assets 10000] [--browsers 50] [--idle 30] [--shots FOLDER]

The store has bundles as Weir writes them, each a complete download; Weir is then started again, so that nothing of them is in its
memory. The other browsers only listen to the events, which is all that the page does while nobody plays. Printed are
- until all of them have had their first message, of how many bytes that was, and the daemon's processor time for it;
- for a page in Chromium: until the first paint, until the first rows are there, until all assets are known; the elements in the
  document and the memory of its scripts; until the end of the list is on the screen, by one jump and by pages, and the elements then;
- until a new name of an asset has come to all who listen, and stands on the page;
- the processor time of the daemon while nothing moves, as a share of one processor, and its memory.
Wanted: rows within 1 s, the end within 1 s, fewer than 10,000 elements, and 1 % of a processor at most.
"""

import base64
import pathlib
import selectors
import socket
import threading
import time

from weirtools.bench import bundles, common
from weirtools.players import browsing

# Notes in the page when its rows come, from the document's own beginning.
WATCH = """
window.seen = {};
new MutationObserver(() => {
    if (document.querySelector('.row')) seen.rows ??= performance.now();
    if (document.getElementById('count')?.textContent === '%s assets') seen.all ??= performance.now();
}).observe(document, {subtree: true, childList: true, characterData: true});
"""
# Goes to the end of the list, as often as that moves away, or by twenty windows at a time.
JUMP = """(async () => {
    const began = performance.now(), last = '%s', frame = () => new Promise(requestAnimationFrame);
    const isThere = () => { const row = document.querySelector(`.row[data-name="${last}"]`)?.getBoundingClientRect(); return row && row.top < innerHeight && row.bottom > 0; };
    let turns = 0, blank = 0;
    scrollTo(0, 0);
    await frame();
    while (!isThere() && performance.now() - began < 60000) {
        %s;
        await frame();
        if (![...document.querySelectorAll('.row')].some(row => { const box = row.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight; })) blank += 1;
        turns += 1;
    }
    return {seconds: (performance.now() - began) / 1000, turns, blank, isThere: isThere()};
})()"""


SMOKE = {"assets": 40, "segments": 3, "browsers": 3, "idle": 1}


def add_options(parser):
    parser.add_argument("--assets", type=int, default=10_000)
    parser.add_argument("--segments", type=int, default=10)
    parser.add_argument("--browsers", type=int, default=50)
    parser.add_argument("--idle", type=int, default=30, help="seconds")
    parser.add_argument("--shots", type=pathlib.Path, help="a folder for pictures of the page's beginning and end")


def measure(bench, arguments):
    home = bench.home("weir")
    bundles.write_all(bench, home, arguments.assets, arguments.segments)
    adoption = bundles.Adoption(bench, home, arguments.assets)
    print("%d assets are in the list after %.1f s, noted after %.1f s" % (arguments.assets, adoption.known, adoption.noted), flush=True)
    server = adoption.server
    server.restart()
    print("%-52s%10.1f MiB" % ("memory of the daemon after its start", server.memory() / (1 << 20)), flush=True)
    browser, listeners = browsing.Browser(patience=120), Listeners(server)
    try:
        began = gather(server, listeners, arguments)
        page, seconds = look(browser, server, arguments)
        rename(browser, page, server, listeners)
        share = rest(server, arguments)
        common.row(arguments, "%d assets and %d browsers that listen: until all of these have begun, until the page has rows, "
                   "until it knows all, from its beginning to its end by one jump" % (arguments.assets, arguments.browsers),
                   "", common.listed("%.2f", [began, *seconds]) + " s")
        common.row(arguments, "processor time of Weir for these while nothing moves", "", "%.2f %% of a core" % share)
    finally:
        listeners.end()
        browser.close()


def say(what, text):
    print("%-52s%s" % (what, text), flush=True)


# Those who listen


class Listeners:
    """Browsers with the page open while nobody plays: sockets that listen to the events, read by one thread."""

    def __init__(self, server):
        # Of HTTP/1.0, so that nothing is in chunks.
        self.head = ("GET /api/v1/events HTTP/1.0\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n\r\n"
                     % (server.port, server.token)).encode()
        self.port, self.isOver, self.thread = server.port, threading.Event(), threading.Thread(target=self.read)
        self.readers, self.first, self.heard = selectors.DefaultSelector(), {}, {}

    def open(self, count):
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", self.port))
            connection.sendall(self.head)
            self.heard[connection] = b""
            self.readers.register(connection, selectors.EVENT_READ)
        self.thread.start()

    def read(self):
        while not self.isOver.is_set():
            for key, _ in self.readers.select(0.1):
                more = key.fileobj.recv(1 << 18)
                if not more:
                    self.readers.unregister(key.fileobj)
                    continue
                text = self.heard[key.fileobj] + more
                self.heard[key.fileobj] = text
                if key.fileobj not in self.first and b"\n\n" in text.partition(b"\r\n\r\n")[2]:
                    self.first[key.fileobj] = len(text.partition(b"\r\n\r\n")[2])
                    self.heard[key.fileobj] = b""

    def have(self, text):
        return sum(text in heard for heard in self.heard.values())

    def end(self):
        self.isOver.set()
        if self.thread.is_alive():
            self.thread.join()


def gather(server, listeners, arguments):
    server.api("GET", "/assets?brief=1&limit=1")
    cpu, began = server.cpu(), time.monotonic()
    listeners.open(arguments.browsers)
    common.wait_for("first messages", lambda: len(listeners.first) == arguments.browsers, bound=600, pause=0.005)
    seconds = time.monotonic() - began
    say("%d browsers have their first message" % arguments.browsers, "%10.3f s, %.3f s of processor time, of %d bytes each"
        % (seconds, server.cpu() - cpu, max(listeners.first.values())))
    say("memory of the daemon", "%10.1f MiB, at most %.1f" % (server.memory() / (1 << 20), server.memory("VmHWM") / (1 << 20)))
    return seconds


# The page


def look(browser, server, arguments):
    page = browser.page(1440, 1000)
    browser.call("Page.addScriptToEvaluateOnNewDocument", page, source=WATCH % format(arguments.assets, ","))
    browser.call("Page.navigate", page, url=server.url + server.api("GET", "/page")[1]["path"])
    browser.wait(page, "seen.all", 60)
    seen = browser.evaluate(page, "seen")
    paint = browser.evaluate(page, "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
    say("first paint, first rows, all known", "%10.3f s, %.3f s, %.3f s" % tuple(value / 1000 for value in (paint, seen["rows"], seen["all"])))
    count(browser, page, "elements at first")
    shoot(browser, page, arguments.shots, "begin")
    last, jumps = "film-%05d" % (arguments.assets - 1), []
    for what, step in (("jump", "scrollTo(0, document.documentElement.scrollHeight)"), ("pages", "scrollBy(0, innerHeight * 20)")):
        end = browser.evaluate(page, JUMP % (last, step))
        if not end["isThere"]:
            raise SystemExit("the end of the list is not reached by %s: %r" % (what, end))
        jumps.append(end["seconds"])
        say("the end of the list, by %s" % what, "%10.3f s, %d turns, %d of them with no row on the screen" % (end["seconds"], end["turns"], end["blank"]))
        count(browser, page, "elements then")
    shoot(browser, page, arguments.shots, "end")
    return page, [seen["rows"] / 1000, seen["all"] / 1000, jumps[0]]


def count(browser, page, what):
    browser.call("HeapProfiler.collectGarbage", page)
    elements, rows = browser.evaluate(page, "[document.getElementsByTagName('*').length, document.querySelectorAll('.row').length]")
    heap = browser.call("Runtime.getHeapUsage", page)["usedSize"]
    say(what, "%10d, of %d rows; %.1f MiB of scripts" % (elements, rows, heap / (1 << 20)))


def shoot(browser, page, folder, name):
    if not folder:
        return
    folder.mkdir(parents=True, exist_ok=True)
    browser.evaluate(page, "new Promise(done => setTimeout(done, 500))")
    (folder / (name + ".png")).write_bytes(base64.b64decode(browser.call("Page.captureScreenshot", page, format="png")["data"]))


def rename(browser, page, server, listeners):
    browser.evaluate(page, "scrollTo(0, 0)")
    browser.wait(page, "document.querySelector('.row[data-name=\"film-00000\"]')")
    cpu, began = server.cpu(), time.monotonic()
    server.api("PATCH", "/assets/film-00000", {"title": "Another title"})
    try:
        common.wait_for("event", lambda: listeners.have(b"Another title") == len(listeners.heard), bound=5, pause=0.002)
        heard = time.monotonic() - began
        browser.wait(page, "document.querySelector('.row h3').textContent === 'Another title'", 5)
        say("a new title has come to all, and stands on the page", "%10.3f s, %.3f s; %.3f s of processor time"
            % (heard, time.monotonic() - began, server.cpu() - cpu))
    except (SystemExit, TimeoutError) as error:
        say("a new title", "%10s %s" % ("-", error))


def rest(server, arguments):
    time.sleep(2)
    cpu = server.cpu()
    time.sleep(arguments.idle)
    spent = server.cpu() - cpu
    say("processor time in %d s of rest" % arguments.idle, "%10.2f s, %.2f %% of one" % (spent, 100 * spent / arguments.idle))
    say("memory of the daemon", "%10.1f MiB, at most %.1f" % (server.memory() / (1 << 20), server.memory("VmHWM") / (1 << 20)))
    return 100 * spent / arguments.idle
