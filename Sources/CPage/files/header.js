// The switch for the network mode, and the used space of the store.

import {api, isPhone, words} from "./api.js";
import {el, say, svg} from "./dom.js";
import {size} from "./words.js";

const control = document.getElementById("network");
const meter = document.getElementById("storage");
let mode = "auto";

/** Shows the network mode. */
export function showMode(next) {
    mode = next;
    control.setAttribute("aria-checked", String(mode !== "offline"));
    control.title = mode === "offline" ? "Weir uses no network, and plays stored media" : "Missing media is fetched from the origin";
    // A phone may not change the mode.
    control.hidden = isPhone;
}

control.addEventListener("click", async () => {
    const wanted = mode === "offline" ? "auto" : "offline";
    try {
        showMode((await api.setMode(wanted)).mode);
        say(mode === "offline" ? "The network is not used: stored media plays." : "The network is used.");
    } catch (error) {
        say(words(error));
    }
});

/** Loads the network mode. */
export async function refreshMode() { showMode((await api.mode()).mode); }

/** Draws the used space; `bytes` is the size of all assets. */
export async function refreshStorage(bytes) {
    const {disk, problem, playCache} = await api.store();
    const available = problem === undefined ? disk?.availableBytes : undefined;
    const cached = Math.min(playCache.bytes, bytes);
    const all = Math.max(1, bytes + (available ?? 0));
    const part = value => (100 * value / all).toFixed(2);
    meter.replaceChildren(
        svg("svg", {class: "storage-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true"},
            svg("rect", {class: "ground", width: 100, height: 10}),
            svg("rect", {class: "kept", width: Math.max(bytes > cached ? 0.4 : 0, part(bytes - cached)), height: 10}),
            svg("rect", {class: "cached", x: part(bytes - cached), width: part(cached), height: 10})),
        el("p", {}, el("strong", {}, `${size(bytes)} stored`),
            cached > 0 && el("span", {class: "storage-cache"}, `, ${size(cached)} of it play cache`),
            available === undefined ? ", nothing more can be stored" : ` · ${size(available)} available`));
    meter.hidden = false;
}
