// The field for a URL, and the choices that it offers.

import {api, entry, isPhone, mount, words} from "./api.js";
import {addList, recordLater} from "./channels.js";
import {chooser} from "./chooser.js";
import {alarm, byId, el, plain, say} from "./dom.js";
import {listenForPastes} from "./paste.js";
import {play} from "./player.js";
import {plural, time} from "./words.js";

const [form, field, offer] = [byId("add-form"), byId("add-url"), byId("offer")];

export function prepareAdding() {
    byId("add").hidden = false;
    form.addEventListener("submit", event => {
        event.preventDefault();
        look({source: field.value.trim()});
    });
    listenForPastes({
        url(source) {
            field.value = source;
            look({source});
        },
        command: paste,
        urls: all => propose(all, "A file or a list was dropped here. Nothing of it has been fetched yet."),
        nothing: () => fail("What was dropped has no http or https URL. Drop a link, its text, or a list of streams."),
    });
    proposeLinks();
}

const fail = sentence => offer.replaceChildren(alarm(sentence));

function show(more, ...content) { offer.replaceChildren(el("div", {class: "offer", ...more}, ...content)); }

const attempt = act => async () => {
    try {
        await act();
    } catch (error) {
        fail(words(error));
    }
};

function close() {
    looks += 1;
    offer.replaceChildren();
    field.focus();
}

function done() {
    offer.replaceChildren();
    form.reset();
}

/** Reads a browser's "Copy as cURL". Its header fields are sent with the requests of this stream only. */
async function paste(text) {
    if (isPhone) return fail("A command may hold secrets, which a phone may not send. Paste it on the machine where Weir runs.");
    await attempt(async () => {
        const order = await api.paste(text);
        field.value = order.source;
        await look(order);
    })();
}

let looks = 0;

/** Shows the tracks of a stream, in place of those of an earlier order. One with `isFromLink` may not lead to a private address. */
async function look(order) {
    // The owner has not named what a phone asks for.
    if (isPhone) order = {...order, isFromLink: true};
    const turn = ++looks;
    offer.replaceChildren(el("p", {class: "note"}, "Reading the playlists…"));
    try {
        const presentation = await api.explain(order);
        if (turn !== looks) return;
        present(presentation, order);
        offer.querySelector("input, button")?.focus();
    } catch (error) {
        if (turn !== looks) return;
        // A page that led here does not choose the lists of the user.
        if (error.code === "channel-list" && !order.isFromLink) proposeList(order);
        else fail(words(error));
    }
}

function proposeList({source: url, headers}) {
    const add = plain("Add its channels", attempt(async () => {
        add.disabled = true;
        const {name, channels} = await addList({url, headers});
        close();
        form.reset();
        say(`${name} is added: ${plural(channels, "channel")}.`);
    }), {class: "primary"});
    show({}, el("h3", {}, "This is a channel list"),
        el("p", {class: "note"}, "Its channels play by their names, and the list is read again twice a day."),
        el("div", {class: "actions"}, add, plain("Close", close)));
    add.focus();
}

function proposeLinks() {
    let urls = [];
    try { urls = JSON.parse(sessionStorage.getItem("weir-links") ?? "[]"); } catch { /* It is none of the door's. */ }
    sessionStorage.removeItem("weir-links");
    if (Array.isArray(urls) && urls.length > 0) propose(urls, "A link or a file led here. Nothing has been fetched yet.");
}

/** Asks about URLs that the user did not write. */
function propose(urls, reason) {
    show({class: "offer proposal", role: "group", "aria-labelledby": "proposal"},
        el("h3", {id: "proposal"}, urls.length > 1 ? "Open one of these streams?" : "Open this stream?"),
        el("p", {class: "note"}, reason),
        el("ul", {class: "proposals"}, ...urls.map(url => el("li", {}, el("bdi", {}, url), " ",
            plain("Show tracks", () => look({source: url, isFromLink: true}), {"aria-label": `Show the tracks of ${url}`})))),
        el("div", {class: "actions"}, plain("Close", close)));
    say(`${urls.length > 1 ? "Choose a stream to open" : "Confirm the stream to open"}. ${reason}`);
}

function present({title: given, name, isLive, duration, tracks, explanation}, order) {
    const {source: url, isFromLink, headers} = order;
    const title = given || name || url.replace(/^https?:\/\//, "").split("?")[0];
    // A player may name any address, and a link may not.
    const watch = isFromLink && !isPhone ? undefined : attempt(() => watchNow(order, title));
    const heading = el("h3", {}, el("bdi", {}, title), duration > 0 && el("span", {class: "facts"}, ` ${time(duration)}`));
    const fields = headers?.length > 0 && el("p", {class: "note"},
        `With ${plural(headers.length, "header field")} of the command: ${headers.map(({name}) => name.toLowerCase()).join(", ")}.`);
    if (isLive) {
        return show({}, heading, fields, el("p", {class: "note"}, "This is a live stream. Play it here, or record it until it ends."),
            el("div", {class: "actions"}, watch && plain("Play", watch, {class: "primary"}), plain("Record", attempt(() => record(order, title))),
                !isPhone && plain("Record later", () => show({}, recordLater(order, title, close))), plain("Close", close)));
    }
    say(`${title} has ${tracks.variants.length} qualities.`);
    show({}, heading, fields, chooser({
        tracks, explanation, order, title, play: watch, closed: close, begun: done,
    }));
}

/** Plays a stream without a download. Header fields belong to the asset, which is therefore opened first. */
async function watchNow(order, title) {
    const isPlain = isPhone || Object.keys(order).length === 1;
    play(isPlain ? `${mount}/${order.source}` : entry((await api.open(order)).name), title);
}

async function record(order, title) {
    await api.download({...order, record: true});
    done();
    say(`The recording of ${title} has begun.`);
}
