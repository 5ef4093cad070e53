// The field for a URL, and the choices that it offers.

import {api, words} from "./api.js";
import {chooser} from "./chooser.js";
import {el, say} from "./dom.js";
import {play} from "./player.js";
import {time} from "./words.js";

const section = document.getElementById("add");
const form = document.getElementById("add-form");
const field = document.getElementById("add-url");
const offer = document.getElementById("offer");

/** Enables the field. Calls `started(download)` when a download has begun. */
export function prepareAdding(started) {
    section.hidden = false;
    const submit = form.querySelector("button");
    form.addEventListener("submit", async event => {
        event.preventDefault();
        submit.disabled = true;
        await look(field.value.trim(), false, started);
        submit.disabled = false;
    });
    propose(started);
}

/** Shows the tracks of a stream. A URL that is from a link may not lead to a private address. */
async function look(url, isFromLink, started) {
    offer.replaceChildren(el("p", {class: "note"}, "Reading the playlists…"));
    try {
        const presentation = await (isFromLink ? api.explain({source: url, isFromLink}) : api.inspect(url));
        offer.replaceChildren(show(presentation, url, isFromLink, started));
        offer.querySelector("input, button")?.focus();
    } catch (error) {
        offer.replaceChildren(el("p", {class: "trouble", role: "alert"}, words(error)));
    }
}

/** Asks about the URLs of the link or the file that led here. */
function propose(started) {
    let urls = [];
    try { urls = JSON.parse(sessionStorage.getItem("weir-links") ?? "[]"); } catch { /* It is none of the door's. */ }
    sessionStorage.removeItem("weir-links");
    if (!Array.isArray(urls) || urls.length === 0) return;
    offer.replaceChildren(el("div", {class: "offer proposal", role: "group", "aria-labelledby": "proposal"},
        el("h3", {id: "proposal"}, urls.length > 1 ? "Open a stream of this file?" : "Open this stream?"),
        el("p", {class: "note"}, "A link or a file led here. Nothing has been fetched yet."),
        el("ul", {class: "proposals"}, ...urls.map(url => el("li", {}, el("bdi", {class: "address"}, url), " ",
            el("button", {type: "button", "aria-label": `Show the tracks of ${url}`, onclick: () => look(url, true, started)}, "Show tracks")))),
        el("div", {class: "actions"}, el("button", {type: "button", onclick: close}, "Close"))));
    say("A link or a file led here, and asks to open a stream.");
}

function close() {
    offer.replaceChildren();
    field.focus();
}

function show(presentation, url, isFromLink, started) {
    const title = presentation.title || presentation.name || url.replace(/^https?:\/\//, "").split("?")[0];
    // A player may name any address, and a link may not.
    const watch = isFromLink ? undefined : () => play(`/${url}`, title);
    if (presentation.isLive) {
        return el("div", {class: "offer"}, el("h3", {}, el("bdi", {}, title)),
            el("p", {class: "note"}, "This is a live stream. Play it here, or record it until it ends with: ",
                el("code", {}, `weir get ${url} --record`)),
            el("div", {class: "actions"}, watch && el("button", {type: "button", class: "primary", onclick: watch}, "Play"),
                el("button", {type: "button", onclick: close}, "Close")));
    }
    say(`${title} has ${presentation.tracks.variants.length} qualities.`);
    return el("div", {class: "offer"},
        el("h3", {}, el("bdi", {}, title), presentation.duration ? el("span", {class: "facts"}, ` ${time(presentation.duration)}`) : ""),
        chooser({
            tracks: presentation.tracks, source: url, title, isFromLink, play: watch, closed: close,
            started(download) {
                offer.replaceChildren();
                form.reset();
                started(download);
            },
        }));
}
