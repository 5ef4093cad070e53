// The field for a URL, and the choices that it offers.

import {api, entry, isPhone, mount, words} from "./api.js";
import {addList, recordLater} from "./channels.js";
import {chooser} from "./chooser.js";
import {el, say} from "./dom.js";
import {listenForPastes} from "./paste.js";
import {play} from "./player.js";
import {plural, time} from "./words.js";

const section = document.getElementById("add");
const form = document.getElementById("add-form");
const field = document.getElementById("add-url");
const offer = document.getElementById("offer");

/** Enables the field. Calls `started(download)` when a download has begun. */
export function prepareAdding(started) {
    section.hidden = false;
    form.addEventListener("submit", event => {
        event.preventDefault();
        look({source: field.value.trim()}, started);
    });
    listenForPastes({
        url(source) {
            field.value = source;
            look({source}, started);
        },
        command: text => paste(text, started),
        urls: all => propose(all, "A file or a list was dropped here. Nothing of it has been fetched yet.", started),
        nothing: () => fail("What was dropped has no http or https URL. Drop a link, its text, or a list of streams."),
    });
    proposeLinks(started);
}

function fail(sentence) { offer.replaceChildren(el("p", {class: "trouble", role: "alert"}, sentence)); }

/** Reads a browser's "Copy as cURL", whose header fields are sent with the requests of this stream only. */
async function paste(text, started) {
    if (isPhone) return fail("A command may hold secrets, which a phone may not send. Paste it on the machine where Weir runs.");
    try {
        const order = await api.paste(text);
        field.value = order.source;
        await look(order, started);
    } catch (error) {
        fail(words(error));
    }
}

/** The number of the look that was asked for last. */
let looks = 0;

/**
 * Shows the tracks of a stream, in place of those that were asked for before. An order has its `source`, and may have `headers` and a `route`; one with `isFromLink` may not lead
 * to a private address.
 */
async function look(order, started) {
    // The owner has not named what a phone asks for.
    if (isPhone) order = {...order, isFromLink: true};
    const turn = ++looks;
    offer.replaceChildren(el("p", {class: "note"}, "Reading the playlists…"));
    try {
        const presentation = await api.explain(order);
        if (turn !== looks) return;
        offer.replaceChildren(show(presentation, order, started));
        offer.querySelector("input, button")?.focus();
    } catch (error) {
        if (turn !== looks) return;
        // A page that led here does not choose the lists of the user.
        if (error.code === "channel-list" && !order.isFromLink) proposeList(order);
        else fail(words(error));
    }
}

/** Offers to add the channel list at a URL. */
function proposeList({source: url, headers}) {
    const add = el("button", {type: "button", class: "primary", async onclick() {
        add.disabled = true;
        try {
            const {name, channels} = await addList({url, headers});
            close();
            form.reset();
            say(`${name} is added: ${plural(channels, "channel")}.`);
        } catch (error) {
            fail(words(error));
        }
    }}, "Add its channels");
    offer.replaceChildren(el("div", {class: "offer"}, el("h3", {}, "This is a channel list"),
        el("p", {class: "note"}, "Its channels play by their names, and the list is read again twice a day."),
        el("div", {class: "actions"}, add, el("button", {type: "button", onclick: close}, "Close"))));
    add.focus();
}

/** Asks about the URLs of the link or the file that led here. */
function proposeLinks(started) {
    let urls = [];
    try { urls = JSON.parse(sessionStorage.getItem("weir-links") ?? "[]"); } catch { /* It is none of the door's. */ }
    sessionStorage.removeItem("weir-links");
    if (!Array.isArray(urls) || urls.length === 0) return;
    propose(urls, "A link or a file led here. Nothing has been fetched yet.", started);
}

/** Asks about URLs that the user did not write. */
function propose(urls, reason, started) {
    offer.replaceChildren(el("div", {class: "offer proposal", role: "group", "aria-labelledby": "proposal"},
        el("h3", {id: "proposal"}, urls.length > 1 ? "Open one of these streams?" : "Open this stream?"),
        el("p", {class: "note"}, reason),
        el("ul", {class: "proposals"}, ...urls.map(url => el("li", {}, el("bdi", {class: "address"}, url), " ",
            el("button", {type: "button", "aria-label": `Show the tracks of ${url}`, onclick: () => look({source: url, isFromLink: true}, started)}, "Show tracks")))),
        el("div", {class: "actions"}, el("button", {type: "button", onclick: close}, "Close"))));
    say(`${urls.length > 1 ? "Choose a stream to open" : "Confirm the stream to open"}. ${reason}`);
}

function close() {
    looks += 1;
    offer.replaceChildren();
    field.focus();
}

function show(presentation, order, started) {
    const {source: url, isFromLink, headers} = order;
    const title = presentation.title || presentation.name || url.replace(/^https?:\/\//, "").split("?")[0];
    // A player may name any address, and a link may not.
    const watch = isFromLink && !isPhone ? undefined : () => watchNow(order, title);
    const fields = headers?.length > 0 && el("p", {class: "note"},
        `With ${plural(headers.length, "header field")} of the command: ${headers.map(({name}) => name.toLowerCase()).join(", ")}.`);
    if (presentation.isLive) {
        return el("div", {class: "offer"}, el("h3", {}, el("bdi", {}, title)),
            fields, el("p", {class: "note"}, "This is a live stream. Play it here, or record it until it ends."),
            el("div", {class: "actions"}, watch && el("button", {type: "button", class: "primary", onclick: watch}, "Play"),
                el("button", {type: "button", onclick: () => record(order, title, started)}, "Record"),
                !isPhone && el("button", {type: "button", onclick: () => offer.replaceChildren(el("div", {class: "offer"}, recordLater(order, title, close)))}, "Record later"),
                el("button", {type: "button", onclick: close}, "Close")));
    }
    say(`${title} has ${presentation.tracks.variants.length} qualities.`);
    return el("div", {class: "offer"},
        el("h3", {}, el("bdi", {}, title), presentation.duration ? el("span", {class: "facts"}, ` ${time(presentation.duration)}`) : ""), fields,
        chooser({
            tracks: presentation.tracks, explanation: presentation.explanation, order, title, play: watch, closed: close,
            started(download) {
                offer.replaceChildren();
                form.reset();
                started(download);
            },
        }));
}

/** Plays a stream without a download. Header fields belong to the asset, which is therefore opened first. */
async function watchNow(order, title) {
    try {
        const isPlain = isPhone || Object.keys(order).length === 1;
        play(isPlain ? `${mount}/${order.source}` : entry((await api.open(order)).name), title);
    } catch (error) {
        fail(words(error));
    }
}

async function record(order, title, started) {
    try {
        const download = await api.download({...order, record: true});
        offer.replaceChildren();
        form.reset();
        say(`The recording of ${title} has begun.`);
        started(download);
    } catch (error) {
        fail(words(error));
    }
}
