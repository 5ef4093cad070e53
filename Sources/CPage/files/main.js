// Puts the page together: the list, what happens to it, the header, the field.

import {api, listen, Problem} from "./api.js";
import {prepareAdding} from "./add.js";
import {el, say} from "./dom.js";
import {refreshMode, refreshStorage} from "./header.js";
import {List} from "./list.js";

const trouble = document.getElementById("trouble");
const list = new List(bytes => { refreshStorage(bytes).catch(() => {}); });

/** The milliseconds between two looks at who plays. */
const LOOK = 2000;

function complain(...content) {
    trouble.replaceChildren(...content);
    trouble.hidden = false;
}

const heard = {
    snapshot: data => list.snapshot(data.downloads),
    state: tellOf,
    progress: download => list.started(download),
    complete(download) {
        list.started(download);
        list.refresh(download.asset);
        say(`${download.title || download.asset} is stored.`);
    },
    error: download => say(`The download of ${download.title || download.asset} failed.`),
    renditionComplete: data => list.refresh(data.asset),
    removed: data => list.removed(data.asset),
    purged: data => list.refresh(data.asset),
};

const spoken = {paused: "is paused", cancelled: "is cancelled", waiting: "waits"};

function tellOf(download) {
    list.started(download);
    if (spoken[download.state]) say(`The download of ${download.title || download.asset} ${spoken[download.state]}.`);
}

listen({
    async opened() {
        trouble.hidden = true;
        try {
            await Promise.all([list.load(), refreshMode()]);
        } catch (error) {
            complain(error instanceof Problem ? error.words : "Weir does not answer. It is tried again.");
        }
    },
    heard: (name, data) => heard[name]?.(data),
    lost(error) {
        if (error instanceof Problem && error.status === 401) {
            complain("Weir was started anew, and wants to know you again. In a terminal, type ", el("code", {}, "weir page"),
                " and open the link that it prints.");
        } else if (error instanceof Problem) {
            complain(error.words);
        } else {
            complain("Weir does not answer. It is tried again, and what is shown is what was known last.");
        }
    },
});

async function look() {
    if (document.visibilityState === "visible" && trouble.hidden) {
        try {
            const going = (await api.sessions()).filter(session => session.ended === undefined);
            list.playing(going.map(session => [session.asset, session.playhead]));
        } catch {
            // The stream of events tells when nobody is there.
        }
    }
    setTimeout(look, LOOK);
}

prepareAdding(download => list.started(download));
look();
