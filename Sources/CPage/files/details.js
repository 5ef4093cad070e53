// The details of an asset that its row does not show: playback and origin.

import {api, words} from "./api.js";
import {sessionName, sources, throughput} from "./charts.js";
import {el} from "./dom.js";
import {sessionPicture} from "./picture.js";
import {bitRate, date, percent, plural, size, time} from "./words.js";

/** Number of log events that are shown. */
const EVENTS = 20;

export class Details {
    constructor(asset) {
        this.element = el("div", {class: "details"}, el("p", {class: "note"}, "Reading the logs…"));
        [this.name, this.id] = [asset.name, asset.download];
        this.load();
    }

    /** Updates the asset. Data from the logs stays until the details are opened again. */
    update(asset) {
        this.name = asset.name;
        // Assets from a list have fewer keys.
        if (this.facts && asset.playable) this.show(facts(asset));
    }

    /** Shows the facts of the asset, unless they have not changed. */
    show(now) {
        if (now.textContent === this.facts.textContent) return;
        this.facts.replaceWith(now);
        this.facts = now;
    }

    async load() {
        try {
            const [asset, log, errors, kpis, sessions, timelines, download] = await Promise.all([
                api.asset(this.name), api.log(this.name), api.errors(this.name), api.kpis(this.name), api.sessions(),
                api.timelines(this.name),
                this.id ? api.downloadOf(this.id) : undefined]);
            const own = sessions.filter(session => session.asset === this.name);
            this.facts = facts(asset);
            this.element.replaceChildren(
                this.facts, indicators(kpis, log.events), ...[sessionPicture(timelines), throughput(log.events), sources(own)].filter(Boolean),
                ...[account(download?.summary), pieces(own), events(log.events), failures(errors.events)].filter(Boolean));
        } catch (error) {
            this.element.replaceChildren(el("p", {class: "trouble", role: "alert"}, words(error)));
        }
    }
}

/** Pairs of a term and its value. Pairs without a value are left out. */
function pairs(entries, kind) {
    return el("dl", {class: kind}, ...entries.filter(([, value]) => value !== undefined && value !== "")
        .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function facts(asset) {
    const answers = {yes: "Yes", partial: "In part", no: "No"};
    const {storage} = asset;
    return pairs([
        ["Origin", asset.isImported ? "none: imported" : el("code", {}, asset.url)],
        ["Warning", asset.isInsecure && "the certificates of its servers are not verified: anyone on the way can change what is fetched"],
        ["Plays offline", asset.playable ? `${answers[asset.playable.answer]}: ${asset.playable.reason}` : undefined],
        ["Stored in", asset.volume ? el("code", {}, asset.volume.path) : undefined],
        ["Kept", storage?.policy.priority === "important" ? "before others" : undefined],
        ["Expires", storage?.expiration ? date(storage.expiration) : undefined],
        ["Last played", storage?.lastPlayed ? date(storage.lastPlayed) : undefined],
        ["Purged", storage?.purge ? `${date(storage.purge.date)}, ${size(storage.purge.bytes)}` : undefined],
        ["Play cache", asset.cachedBytes > 0 ? `${size(asset.cachedBytes)}, evicted when space is needed` : undefined],
    ], "pairs");
}

/** The stalls in words. An inferred time is the least: the player, which has not said so, may have waited for more media. */
function stallWords({stalls, stallTime}, isInferred) {
    return stalls ? `${stalls}, ${isInferred ? "at least " : ""}${stallTime.toFixed(1)} s` : "none";
}

const hasInferredStalls = event => event.stalls > 0 && event.inferred.includes("stallTime");

function indicators({total}, events) {
    if (!total.sessions) return el("p", {class: "note"}, "Not played yet.");
    return pairs([
        ["Played", plural(total.sessions, "time")],
        ["Watched", time(total.watched)],
        ["Start", total.startup === undefined ? undefined : `${total.startup.toFixed(1)} s`],
        ["Stalls", stallWords(total, events.some(hasInferredStalls))],
        ["Dropped", total.framesDropped === undefined ? undefined : plural(total.framesDropped, "frame")],
        ["Variant", total.indicated === undefined ? undefined : bitRate(total.indicated)],
        ["Origin", total.observed === undefined ? undefined : bitRate(total.observed)],
        ["From the store", total.storeShare === undefined ? undefined : percent(total.storeShare)],
    ], "figures");
}

/** The account of the latest download. */
function account(summary) {
    if (!summary) return undefined;
    const missing = summary.missing.map(({id, ranges}) =>
        `${id} ${ranges.map(([start, end]) => `${time(start)}–${time(end)}`).join(" ")}`);
    return disclosure("Latest download", pairs([
        ["Ended", date(summary.ended)],
        ["Fetched", `${size(summary.bytes)} in ${time(summary.seconds)}`],
        ["Mean rate", `${size(summary.rate)}/s`],
        ["Requests", `${summary.requests}, ${summary.retries} of them repeated`],
        ["Interruptions", summary.interruptions || undefined],
        ["Origins", summary.origins.map(({host, bytes}) => `${host} (${size(bytes)})`).join(", ")],
        ["Chosen", summary.chosen.join(", ")],
        ["Missing", missing.join(", ")],
    ], "pairs"));
}

/** The source of each piece, session by session. */
function pieces(sessions) {
    const known = sessions.filter(session => session.pieces.length > 0).slice(-4);
    if (known.length === 0) return undefined;
    const names = {store: "from the store", origin: "from the origin", joined: "from a transfer in progress"};
    return disclosure("Source of each piece", el("ul", {}, ...known.map(session =>
        el("li", {}, sessionName(session), el("ul", {}, ...session.pieces.map(run => {
            const numbers = run.first === run.last ? `${run.first}` : `${run.first} to ${run.last}`;
            return el("li", {}, `${run.rendition} ${numbers}: ${names[run.source] || run.source}`,
                run.substitute ? `, from ${run.substitute} instead` : "");
        }))))));
}

function events(all) {
    if (all.length === 0) return undefined;
    const shown = all.slice(-EVENTS).reverse();
    return disclosure(`Access log (${plural(all.length, "event")})`, el("div", {class: "scrolls", tabindex: "0", role: "group", "aria-label": "Access log"},
        el("table", {}, el("thead", {}, el("tr", {}, ...["Began", "Player", "Watched", "Bytes", "Rate", "Stalls"].map(word => el("th", {scope: "col"}, word)))),
            el("tbody", {}, ...shown.map(event => el("tr", {},
                el("td", {}, date(event.began)), el("td", {}, (event.client || "").split(" ")[0].slice(0, 40)), el("td", {}, time(event.watched)),
                el("td", {}, size(event.bytes.store + event.bytes.origin + event.bytes.joined)),
                el("td", {}, event.observed?.seconds > 0 ? bitRate(event.observed.bits / event.observed.seconds) : "store"),
                el("td", {}, stallWords(event, hasInferredStalls(event)))))))));
}

function failures(all) {
    if (all.length === 0) return undefined;
    return disclosure(`Errors (${all.length})`, el("ul", {}, ...all.slice(-EVENTS).reverse().map(event =>
        el("li", {}, `${date(event.time)} · ${event.status || "connection lost"} · ${event.comment}`))));
}

function disclosure(title, content) {
    return el("details", {}, el("summary", {}, title), content);
}
