// Two charts, drawn as SVG. The text beside them has the same figures.

import {el, svg} from "./dom.js";
import {bitRate, size} from "./words.js";

const SOURCES = [["store", "from the store"], ["joined", "from a transfer in progress"], ["origin", "from the origin"]];

/** Bars of throughput, one for each event of the access log that fetched anything, oldest first. */
export function throughput(events) {
    const rates = events.filter(event => event.observed?.seconds > 0).slice(-60)
        .map(event => ({rate: event.observed.bits / event.observed.seconds, indicated: event.indicated || 0}));
    if (rates.length === 0) return undefined;
    const top = Math.max(...rates.map(({rate, indicated}) => Math.max(rate, indicated)));
    const [width, height] = [600, 120];
    const step = width / Math.max(rates.length, 6);
    const y = value => height - height * value / top;
    const bars = rates.flatMap(({rate, indicated}, index) => [
        svg("rect", {class: "rate", x: index * step + 2, width: Math.max(1, step - 4), y: y(rate), height: height - y(rate)}),
        indicated ? svg("rect", {class: "indicated", x: index * step, width: step, y: Math.max(0, y(indicated) - 1), height: 2}) : undefined,
    ]);
    const values = rates.map(({rate}) => rate);
    const words = `From ${bitRate(Math.min(...values))} to ${bitRate(Math.max(...values))} in ${values.length === 1 ? "one period" : `${values.length} periods`}.`;
    return figure("Throughput from the origin", words,
        svg("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none", role: "img", "aria-label": words}, ...bars),
        legend([["rate", "measured"], ["indicated", "needed by the variant"]]));
}

/** Bars of the sources of bytes, one for each of the latest sessions. */
export function sources(sessions) {
    const known = sessions.filter(session => total(session) > 0).slice(-8);
    if (known.length === 0) return undefined;
    const rows = known.map(session => {
        const all = total(session);
        let x = 0;
        const parts = SOURCES.map(([source]) => {
            const width = 100 * (session.bytes[source] || 0) / all;
            const rectangle = svg("rect", {class: source, x, width, height: 10});
            x += width;
            return rectangle;
        });
        const words = SOURCES.filter(([source]) => session.bytes[source] > 0)
            .map(([source, name]) => `${size(session.bytes[source])} ${name}`).join(", ");
        return el("li", {}, el("span", {class: "session-name"}, sessionName(session)),
            svg("svg", {class: "share", viewBox: "0 0 100 10", preserveAspectRatio: "none", role: "img", "aria-label": words}, ...parts),
            el("span", {class: "session-words"}, words));
    });
    return figure("Sources of the bytes", "", el("ul", {class: "sessions"}, ...rows), legend(SOURCES));
}

/** The player and its start time. */
export function sessionName(session) {
    const began = new Date(session.began * 1000).toLocaleTimeString(undefined, {hour: "2-digit", minute: "2-digit"});
    return `${began} ${(session.client || "a player").split("/")[0].slice(0, 24)}`;
}

const total = session => Object.values(session.bytes).reduce((sum, bytes) => sum + bytes, 0);

function figure(title, words, ...content) {
    return el("figure", {}, el("figcaption", {}, el("strong", {}, title), words ? ` ${words}` : ""), ...content);
}

function legend(entries) {
    return el("ul", {class: "legend"}, ...entries.map(([name, words]) =>
        el("li", {}, svg("svg", {viewBox: "0 0 10 10", "aria-hidden": "true"}, svg("rect", {class: name, width: 10, height: 10})), words)));
}
