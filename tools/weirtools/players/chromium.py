"""Headless Chromium for tools/lab/player: its own HLS in a <video> element, driven over --remote-debugging-pipe."""

import json
import os
import select
import urllib.parse

# Runs in the page. Positions come from the element itself; the promise always settles, with what was seen.
SCRIPT = """
(async () => {
    const video = document.createElement("video");
    const seen = {ended: false, position: null, seeks: [], error: null};
    const until = (names, seconds) => new Promise(resolve => {
        const timer = setTimeout(() => resolve("timeout"), seconds * 1000);
        for (const name of [...names, "error"]) {
            video.addEventListener(name, () => { clearTimeout(timer); resolve(name); }, {once: true});
        }
    });
    const patience = %(patience)f;
    video.muted = true;
    video.src = %(url)s;
    document.body.append(video);
    let last = await until(["canplay"], patience);
    for (const target of %(seeks)s) {
        if (last === "error" || last === "timeout") break;
        const done = until(["seeked"], patience);
        video.currentTime = target;
        last = await done;
        if (last === "seeked") seen.seeks.push({to: target, at: video.currentTime});
    }
    if (last !== "error" && last !== "timeout") {
        const done = until(["ended"], patience);
        video.playbackRate = 4;
        video.play().catch(() => {});
        last = await done;
    }
    seen.ended = last === "ended" && video.ended;
    seen.position = video.currentTime;
    if (video.error) seen.error = "MediaError " + video.error.code + ": " + video.error.message;
    else if (last === "timeout") seen.error = "nothing happened for " + patience + " seconds";
    return seen;
})()
"""


class Pipe:
    """The debugging protocol: JSON messages that end with a NUL, on descriptors 3 (to Chromium) and 4 (from it)."""

    def __init__(self, run, options=()):
        self.run, self.received, self.number, self.events = run, b"", 0, []
        there_read, self.there = os.pipe()
        self.back, back_write = os.pipe()
        # The shell gives the two ends the numbers that Chromium expects, whatever they are here.
        command = 'exec 3<&%d 4>&%d; exec "$0" "$@"' % (there_read, back_write)
        self.child = run.start(
            ["bash", "-c", command, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--mute-audio",
             "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
             "--no-proxy-server", "--autoplay-policy=no-user-gesture-required", "--remote-debugging-pipe",
             "--user-data-dir=%s" % (run.folder / "chromium"), *options, "about:blank"],
            pass_fds=[there_read, back_write], env=dict(os.environ, HOME=str(run.folder)))
        os.close(there_read)
        os.close(back_write)

    def call(self, method, session=None, **parameters):
        """The result of a command; events that come meanwhile are put by."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.there, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.next()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]["message"]))
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, event):
        while not any(message.get("method") == event for message in self.events):
            self.events.append(self.next())

    def next(self):
        while b"\0" not in self.received:
            if not select.select([self.back], [], [], self.run.left())[0]:
                raise TimeoutError
            more = os.read(self.back, 65536)
            if not more:
                raise RuntimeError("Chromium ended")
            self.received += more
        text, _, self.received = self.received.partition(b"\0")
        return json.loads(text)


def play(run):
    """Plays in a page of the server under test, as a user would who has it open."""
    parts = urllib.parse.urlsplit(run.url)
    try:
        pipe = Pipe(run)
        target = pipe.call("Target.createTarget", url="about:blank")["targetId"]
        session = pipe.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        pipe.call("Page.enable", session)
        pipe.call("Page.navigate", session, url="%s://%s/" % (parts.scheme, parts.netloc))
        pipe.wait_for("Page.loadEventFired")
        pipe.call("Log.enable", session)
        pipe.events.clear()
        patience = max(1.0, min(30.0, run.left() - 5))
        script = SCRIPT % {"url": json.dumps(run.url), "seeks": json.dumps(run.seeks), "patience": patience}
        result = pipe.call("Runtime.evaluate", session, expression=script, awaitPromise=True, returnByValue=True)
    except RuntimeError as error:
        return run.note_problems([str(error)])
    if "value" not in result["result"]:
        return run.note_problems([json.dumps(result)])
    seen = result["result"]["value"]
    run.report.update(ended=seen["ended"], position=seen["position"], seeks=seen["seeks"])
    entries = [event["params"]["entry"] for event in pipe.events if event.get("method") == "Log.entryAdded"]
    run.note_problems([seen["error"] or ""] + [entry["text"] for entry in entries
                                               if entry["level"] in ("warning", "error") and "favicon" not in entry.get("url", "")])
