// Assembles the page: the list, its events, the header, the field.

import {api, isPhone, listen, Problem} from "./api.js";
import {prepareAdding} from "./add.js";
import {prepareChannels, refreshChannels} from "./channels.js";
import {el, say} from "./dom.js";
import {refreshMode, refreshStorage, showMode} from "./header.js";
import {List} from "./list.js";

const trouble = document.getElementById("trouble");
const list = new List(bytes => { if (!isPhone) refreshStorage(bytes).catch(() => {}); });

/** Milliseconds between two requests for sessions, and before the first one. */
const [LOOK, SOON] = [2000, 250];

function complain(...content) {
    trouble.replaceChildren(...content);
    trouble.hidden = false;
}

let looking;

const heard = {
    snapshot: data => list.snapshot(data.downloads),
    state: announce,
    progress: download => list.started(download),
    complete(download) {
        list.started(download);
        list.refresh(download.asset);
        say(`${download.title || download.asset} is saved.`);
    },
    error: download => say(`The download of ${download.title || download.asset} failed.`),
    renditionComplete: data => list.refresh(data.asset),
    // The reload shows whether the asset is gone.
    removed: data => list.changed(data),
    purged: data => list.changed(data),
    keys: data => list.changed(data),
    move: data => list.refresh(data.asset),
    verification: data => { if (data.state !== "running" || data.isRepairing) list.refresh(data.asset); },
    changed(data) {
        list.changed(data);
        // Playback may have begun.
        looking ??= setTimeout(look, SOON);
    },
    mode: data => showMode(data.mode),
};

const spoken = {paused: "is paused", cancelled: "is cancelled", waiting: "is waiting"};

function announce(download) {
    list.started(download);
    // The next one of a planned recording may be another.
    if (download.isRecording && !isPhone) refreshChannels().catch(() => {});
    if (spoken[download.state]) say(`The download of ${download.title || download.asset} ${spoken[download.state]}.`);
}

listen({
    async opened() {
        trouble.hidden = true;
        try {
            await Promise.all([list.load(), refreshMode(), look(), isPhone || refreshChannels()]);
        } catch (error) {
            complain(error instanceof Problem ? error.words : "Weir does not answer. Trying again.");
        }
    },
    heard: (name, data) => heard[name]?.(data),
    lost(error) {
        if (error instanceof Problem && error.hasEnded && isPhone) {
            complain("The access of this phone has ended. On the machine where Weir runs, type ", el("code", {}, "weir page --phone NAME"),
                " and open the link that it prints.");
        } else if (error instanceof Problem && error.hasEnded) {
            complain("The link of this page has ended. In a terminal, type ", el("code", {}, "weir page"),
                " and open the link that it prints.");
            // A new link in another tab gives this one access too.
            addEventListener("storage", ({key, newValue}) => { if (key === "weir-key" && newValue) location.reload(); });
        } else if (error instanceof Problem) {
            complain(error.words);
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
prepareAdding(download => list.started(download));
// A phone may not plan recordings, or add lists.
if (!isPhone) prepareChannels(download => list.started(download));
