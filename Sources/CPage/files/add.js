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
        const url = field.value.trim();
        submit.disabled = true;
        offer.replaceChildren(el("p", {class: "note"}, "Reading the playlists…"));
        try {
            const presentation = await api.inspect(url);
            offer.replaceChildren(show(presentation, url, started));
            offer.querySelector("input, button")?.focus();
        } catch (error) {
            offer.replaceChildren(el("p", {class: "trouble", role: "alert"}, words(error)));
        } finally {
            submit.disabled = false;
        }
    });
}

function close() {
    offer.replaceChildren();
    field.focus();
}

function show(presentation, url, started) {
    const title = presentation.title || presentation.name || url.replace(/^https?:\/\//, "").split("?")[0];
    const watch = () => play(`/${url}`, title);
    if (presentation.isLive) {
        return el("div", {class: "offer"}, el("h3", {}, el("bdi", {}, title)),
            el("p", {class: "note"}, "This is a live stream. Play it here, or record it until it ends with: ",
                el("code", {}, `weir get ${url} --record`)),
            el("div", {class: "actions"}, el("button", {type: "button", class: "primary", onclick: watch}, "Play"),
                el("button", {type: "button", onclick: close}, "Close")));
    }
    say(`${title} has ${presentation.tracks.variants.length} qualities.`);
    return el("div", {class: "offer"},
        el("h3", {}, el("bdi", {}, title), presentation.duration ? el("span", {class: "facts"}, ` ${time(presentation.duration)}`) : ""),
        chooser({
            tracks: presentation.tracks, source: url, title, play: watch, closed: close,
            started(download) {
                offer.replaceChildren();
                form.reset();
                started(download);
            },
        }));
}
