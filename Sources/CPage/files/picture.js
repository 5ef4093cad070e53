// Sessions as pictures. The daemon draws them; `weir log --picture` writes the same ones.

import {api, words} from "./api.js";
import {sessionName} from "./charts.js";
import {el} from "./dom.js";
import {date, plural, time} from "./words.js";

/** Change of the width in pixels from which on a picture is drawn anew. */
const STEP = 48;
let count = 0;

/** A figure with the picture of the latest session, and a choice of the others. Undefined without a session. */
export function sessionPicture(timelines) {
    if (timelines.length === 0) return undefined;
    const all = [...timelines].reverse();
    const id = `session-${++count}`;
    const image = el("img", {class: "session-picture", alt: ""});
    const choice = el("select", {id, onchange: draw}, ...all.map(({guid, ...session}) => el("option", {value: guid}, label(session))));
    const save = el("a", {class: "save", hidden: true}, "Save the picture");
    const trouble = el("p", {class: "trouble", role: "alert", hidden: true});
    let [drawn, turn] = [0, 0];

    async function draw() {
        const [number, session] = [++turn, all.find(({guid}) => guid === choice.value)];
        drawn = figure.clientWidth;
        try {
            const url = URL.createObjectURL(await api.picture(session.guid, drawn));
            if (number !== turn) return URL.revokeObjectURL(url);
            if (image.src) URL.revokeObjectURL(image.src);
            [image.src, image.alt, trouble.hidden] = [url, figures(session), true];
            [save.href, save.download, save.hidden] = [url, `${session.asset}.svg`, false];
        } catch (error) {
            if (number !== turn) return;
            trouble.textContent = words(error);
            trouble.hidden = false;
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
    const sums = {};
    for (const {count, source, substitute} of segments) {
        const kind = substitute === undefined ? source : "substitute";
        sums[kind] = (sums[kind] || 0) + count;
    }
    const all = Object.values(sums).reduce((sum, number) => sum + number, omitted);
    const parts = Object.entries(kinds).filter(([kind]) => sums[kind]).map(([kind, text]) => `${sums[kind]} ${text}`);
    const stood = stalls.reduce((sum, {since, until}) => sum + until - since, 0);
    return `${plural(all, "segment")}: ${parts.join(", ")}. ${stalls.length ? `${plural(stalls.length, "stall")}, ${stood.toFixed(1)} s` : "No stall"}.`;
}
