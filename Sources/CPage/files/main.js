// Assembles the page: the list, its events, the header, the field.

import {api, isPhone, listen, Problem, words} from "./api.js";
import {prepareAdding} from "./add.js";
import {prepareChannels, refreshChannels} from "./channels.js";
import {byId, el, say} from "./dom.js";
import {refreshMode, refreshStorage, showMode} from "./header.js";
import {List} from "./list.js";
import {prepareQueue, refreshQueue} from "./queue.js";

const trouble = byId("trouble");
const list = new List(bytes => { if (!isPhone) refreshStorage(bytes).catch(() => {}); });

/** Milliseconds between two requests for sessions, and before the first one. */
const [LOOK, SOON] = [2000, 250];

function complain(...content) {
    trouble.replaceChildren(...content);
    trouble.hidden = false;
}

let looking;
const changed = data => list.changed(data);
const called = ({title, asset}) => title || asset;

const heard = {
    snapshot(data) {
        list.snapshot(data.downloads);
        refreshQueue();
    },
    state: announce,
    progress: download => list.started(download),
    complete(download) {
        list.started(download);
        refreshQueue();
        list.refresh(download.asset);
        say(`${called(download)} is saved.`);
    },
    error: download => say(`The download of ${called(download)} failed.`),
    renditionComplete: data => list.refresh(data.asset),
    // The reload shows whether the asset is gone.
    removed: changed,
    purged: changed,
    keys: changed,
    move: data => list.refresh(data.asset),
    verification: data => { if (data.state !== "running" || data.isRepairing) list.refresh(data.asset); },
    changed(data) {
        changed(data);
        // Playback may have begun.
        looking ??= setTimeout(look, SOON);
    },
    mode: data => showMode(data.mode),
};

const spoken = {paused: "is paused", cancelled: "is cancelled", waiting: "is waiting"};

function announce(download) {
    list.started(download);
    refreshQueue();
    // The next one of a planned recording may be another.
    if (download.isRecording && !isPhone) refreshChannels().catch(() => {});
    if (spoken[download.state]) say(`The download of ${called(download)} ${spoken[download.state]}.`);
}

listen({
    async opened() {
        trouble.hidden = true;
        try {
            await Promise.all([list.load(), refreshMode(), look(), isPhone || refreshChannels()]);
        } catch (error) {
            complain(error instanceof Problem ? words(error) : "Weir does not answer. Trying again.");
        }
    },
    heard: (name, data) => heard[name]?.(data),
    lost(error) {
        if (error instanceof Problem && error.hasEnded) {
            const [what, command] = isPhone ? ["The access of this phone has ended. On the machine where Weir runs", "weir page --phone NAME"]
                : ["The link of this page has ended. In a terminal", "weir page"];
            complain(`${what}, type `, el("code", {}, command), " and open the link that it prints.");
            // A new link in another tab gives this one access too.
            addEventListener("storage", ({key, newValue}) => { if (key === "weir-key" && newValue) location.reload(); });
        } else if (error instanceof Problem) {
            complain(words(error));
        } else {
            complain("Weir does not answer. Trying again; this page shows the last known state.");
        }
    },
});

/** Loads the sessions, and repeats that while any is active. An event reports the start of a session. */
async function look() {
    clearTimeout(looking);
    looking = undefined;
    if (document.visibilityState !== "visible" || !trouble.hidden) return;
    try {
        const going = (await api.sessions()).filter(session => session.ended === undefined);
        list.playing(going);
        if (going.length > 0) looking ??= setTimeout(look, LOOK);
    } catch {
        // The stream of events reports a missing daemon.
    }
}

document.addEventListener("visibilitychange", look);
prepareAdding();
prepareQueue(list);
// A phone may not plan recordings, or add lists.
if (!isPhone) prepareChannels();
