// Sessions as pictures. The daemon draws them; `weir log --picture` writes the same ones.

import {api, words} from "./api.js";
import {alarm, el, select} from "./dom.js";
import {date, plural, time} from "./words.js";

const STEP = 48;
let count = 0;

/** A figure with the picture of the latest session, and a choice of the others. Undefined without a session. */
export function sessionPicture(timelines) {
    if (timelines.length === 0) return undefined;
    const all = [...timelines].reverse();
    const id = `session-${++count}`;
    const image = el("img", {class: "session-picture", alt: ""});
    const choice = select(all.map(({guid, ...session}) => [guid, label(session)]), {id, onchange: draw});
    const save = el("a", {class: "save", hidden: true}, "Save the picture");
    const trouble = el("div");
    let [drawn, turn] = [0, 0];

    async function draw() {
        const [number, session] = [++turn, all.find(({guid}) => guid === choice.value)];
        drawn = figure.clientWidth;
        try {
            const url = await api.picture(session.guid, drawn);
            if (number !== turn) return URL.revokeObjectURL(url);
            if (image.src) URL.revokeObjectURL(image.src);
            trouble.replaceChildren();
            [image.src, image.alt] = [url, figures(session)];
            [save.href, save.download, save.hidden] = [url, `${session.asset}.svg`, false];
        } catch (error) {
            if (number !== turn) return;
            trouble.replaceChildren(alarm(words(error)));
        }
    }

    const figure = el("figure", {}, el("figcaption", {}, el("strong", {}, "A session over time")),
        el("div", {class: "session-choice"}, el("label", {for: id}, "Session"), choice, save), trouble, image);
    // Its width is known once it is in the document, and changes with the window.
    new ResizeObserver(() => { if (figure.clientWidth > 0 && Math.abs(figure.clientWidth - drawn) >= STEP) draw(); }).observe(figure);
    return figure;
}

const label = session => `${date(session.began)} · ${sessionName(session).replace(/^\S+( [AP]M)? /, "")} · ${time(session.length)}`;

/** The figures of a session as text, for those who do not see its picture. */
function figures({segments, stalls, omitted}) {
    const kinds = {store: "from the store", origin: "from the origin", joined: "from a fetch in progress", substitute: "of another quality instead"};
    const sum = some => some.reduce((sum, {count}) => sum + count, 0);
    const parts = Object.entries(kinds).map(([kind, text]) => [sum(segments.filter(({source, substitute}) => (substitute === undefined ? source : "substitute") === kind)), text])
        .filter(([count]) => count > 0).map(part => part.join(" "));
    const all = sum(segments) + omitted;
    const stood = stalls.reduce((sum, {since, until}) => sum + until - since, 0);
    return `${plural(all, "segment")}: ${parts.join(", ")}. ${stalls.length ? `${plural(stalls.length, "stall")}, ${stood.toFixed(1)} s` : "No stall"}.`;
}

export function sessionName(session) {
    const began = new Date(session.began * 1000).toLocaleTimeString(undefined, {hour: "2-digit", minute: "2-digit"});
    return `${began} ${(session.client || "a player").split("/")[0].slice(0, 24)}`;
}
