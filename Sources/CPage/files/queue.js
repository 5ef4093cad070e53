// The downloads together: their order, their limit, and one button for all of them.

import {api, isPhone, words} from "./api.js";
import {alarm, button, byId, el, say, setText} from "./dom.js";
import {field, form} from "./manage.js";
import {listed, plural, size} from "./words.js";

/** Bytes in the unit of the limit, number of queued downloads that are listed, and milliseconds between two updates. */
const [MB, SHOWN, PAUSE] = [1 << 20, 50, 250];
/** The states in which a download can be stopped, and in which it can go on, as in the command line. */
const states = {pause: ["queued", "running", "waiting"], resume: ["paused", "waiting", "failed"]};

const panel = byId("queue");
const [rows, trouble] = [el("ol", {class: "queue"}), el("div")];
const all = {
    pause: button("pause", "Pause all", "Pause all downloads", () => changeAll("pause", "paused")),
    resume: button("resume", "Resume all", "Resume all downloads", () => changeAll("resume", "resumed")),
};
const number = el("input", {type: "number", min: 0.01, step: "any"});
let [list, limit, coming] = [];

export function prepareQueue(of) {
    list = of;
    panel.append(el("div", {class: "actions"}, ...Object.values(all)), trouble, rows, !isPhone && limitForm());
    panel.hidden = false;
    // The order of the queue and the limit are read when they are looked at.
    panel.addEventListener("toggle", () => { if (panel.open) refreshQueue(); });
}

function limitForm() {
    return form("Limit of all downloads together", ["Set limit", "No limit"], async (_, word) => {
        if (word === "No limit") number.value = "";
        else if (!number.value) return "Give a number first. Nothing was changed.";
        showLimit((await api.setLimit(number.value ? Math.round(number.value * MB) : undefined)).bytesPerSecond);
        return limit ? `Downloads take at most ${size(limit)}/s together; players are not limited.` : "Downloads are not limited.";
    }, field("limit", "MB/s", number, "Until the daemon ends, as with weir limit."));
}

function showLimit(bytes) {
    limit = bytes;
    if (document.activeElement !== number) number.value = bytes ? Number((bytes / MB).toFixed(2)) : "";
    update();
}

const having = names => [...list.downloads.values()].filter(({state}) => names.includes(state));

function update() {
    const counts = ["running", "queued", "waiting", "paused"].map(state => [having([state]).length, state]).filter(([count]) => count > 0);
    const words = counts.map(([count, state]) => `${count.toLocaleString("en")} ${state}`).join(", ");
    setText(panel.querySelector("summary"), listed(`Downloads${words && ` (${words})`}`, limit && `at most ${size(limit)}/s`));
    for (const [what, control] of Object.entries(all)) control.hidden = having(states[what]).length === 0;
}

/** Shows what has changed, soon, together with other changes until then. */
export function refreshQueue() {
    coming ??= setTimeout(async () => {
        coming = undefined;
        update();
        try {
            if (!isPhone) showLimit(await api.limit());
            if (panel.open) showOrder(await api.downloads());
        } catch {
            // The stream of events reports a missing daemon.
        }
    }, PAUSE);
}

function showOrder(downloads) {
    const queued = downloads.filter(({state}) => state === "queued");
    const ordered = ["important", "default"].flatMap(word => queued.filter(({priority}) => priority === word));
    const mark = JSON.stringify(ordered.map(({id, title}) => [id, title]));
    if (mark === rows.dataset.mark) return;
    rows.dataset.mark = mark;
    rows.replaceChildren(...ordered.slice(0, SHOWN).map(({id, title, asset}, index) => el("li", {"data-name": asset}, el("bdi", {}, title || asset),
        index > 0 && button("first", "First", `Start ${title || asset} first`, () => first(id, title || asset)))),
    ordered.length > SHOWN ? el("li", {}, `and ${plural(ordered.length - SHOWN, "other")}`) : "");
}

async function first(id, called) {
    try {
        await api.change(id, "first");
        say(`${called} starts first.`);
        rows.querySelector("li")?.scrollIntoView({block: "nearest"});
        refreshQueue();
    } catch (error) {
        trouble.replaceChildren(alarm(words(error)));
    }
}

async function changeAll(what, word) {
    trouble.replaceChildren();
    all[what].disabled = true;
    let [done, failure] = [0, undefined];
    for (const {id} of having(states[what])) {
        try {
            await api.change(id, what);
            done += 1;
        } catch (error) {
            failure = error;
        }
    }
    all[what].disabled = false;
    if (failure) trouble.replaceChildren(alarm(words(failure)));
    say(`${plural(done, "download")} ${word}.`);
    refreshQueue();
    // The button that was used is hidden now.
    panel.querySelector("summary").focus();
}
