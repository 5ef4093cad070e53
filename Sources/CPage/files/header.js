// The switch for the network mode, and the used space of the store.

import {api, isPhone, words} from "./api.js";
import {byId, el, say, svg} from "./dom.js";
import {size} from "./words.js";

const control = byId("network");
const meter = byId("storage");
let mode = "auto";

export function showMode(next) {
    mode = next;
    control.setAttribute("aria-checked", String(mode !== "offline"));
    control.title = mode === "offline" ? "Weir uses no network, and plays stored media" : "Missing media is fetched from the origin";
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

export async function refreshMode() { showMode((await api.mode()).mode); }

export async function refreshStorage(bytes) {
    const {disk, problem, playCache} = await api.store();
    const available = problem === undefined ? disk?.availableBytes : undefined;
    const cached = Math.min(playCache.bytes, bytes);
    const all = Math.max(1, bytes + (available ?? 0));
    const part = value => (100 * value / all).toFixed(2);
    const bar = (kind, x, width) => svg("rect", {class: kind, x, width, height: 10});
    meter.replaceChildren(
        svg("svg", {class: "storage-bar", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true"},
            bar("ground", 0, 100), bar("kept", 0, Math.max(bytes > cached ? 0.4 : 0, part(bytes - cached))), bar("cached", part(bytes - cached), part(cached))),
        el("p", {}, el("strong", {}, `${size(bytes)} stored`),
            cached > 0 && el("span", {class: "storage-cache"}, `, ${size(cached)} of it play cache`),
            available === undefined ? ", nothing more can be stored" : ` · ${size(available)} available`));
    meter.hidden = false;
}
