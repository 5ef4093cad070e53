// The details of an asset that its row does not show: playback and origin.

import {api, words} from "./api.js";
import {alarm, el} from "./dom.js";
import {sessionName, sessionPicture} from "./picture.js";
import {bitRate, date, percent, plural, size, time} from "./words.js";

const EVENTS = 20;

export class Details {
    constructor(asset) {
        this.element = el("div", {class: "details"}, el("p", {class: "note"}, "Reading the logs…"));
        [this.name, this.id] = [asset.name, asset.download];
        this.load();
    }

    /** Assets of a list have fewer facts. */
    update(asset) {
        this.name = asset.name;
        if (!this.facts || !asset.playable) return;
        const now = facts(asset);
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
                ...[this.facts, indicators(kpis, log.events), sessionPicture(timelines), account(download?.summary), sources(own), events(log.events),
                    failures(errors.events)].filter(Boolean));
        } catch (error) {
            this.element.replaceChildren(alarm(words(error)));
        }
    }
}

const given = (value, words) => value === undefined ? undefined : words(value);

function pairs(entries, kind) {
    return el("dl", {class: kind}, ...entries.filter(([, value]) => value)
        .map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function facts(asset) {
    const answers = {yes: "Yes", partial: "In part", no: "No"};
    const {storage} = asset;
    return pairs([
        ["Origin", asset.isImported ? "none: imported" : el("code", {}, asset.url)],
        ["Warning", asset.isInsecure && "the certificates of its servers are not verified: anyone on the way can change what is fetched"],
        ["Plays offline", given(asset.playable, ({answer, reason}) => `${answers[answer]}: ${reason}`)],
        ["Stored in", given(asset.volume, ({path}) => el("code", {}, path))],
        ["Kept", storage?.policy.priority === "important" && "before others"],
        ["Expires", given(storage?.expiration, date)],
        ["Last played", given(storage?.lastPlayed, date)],
        ["Purged", given(storage?.purge, purge => `${date(purge.date)}, ${size(purge.bytes)}`)],
        ["Play cache", asset.cachedBytes > 0 && `${size(asset.cachedBytes)}, evicted when space is needed`],
    ], "pairs");
}

/** An inferred time is the least: the player, which has not said so, may have waited for more media. */
function stallWords({stalls, stallTime}, isInferred) {
    return stalls ? `${stalls}, ${isInferred ? "at least " : ""}${stallTime.toFixed(1)} s` : "none";
}

const hasInferredStalls = event => event.stalls > 0 && event.inferred.includes("stallTime");

function indicators({total}, events) {
    if (!total.sessions) return el("p", {class: "note"}, "Not played yet.");
    return pairs([
        ["Played", plural(total.sessions, "time")],
        ["Watched", time(total.watched)],
        ["Start", given(total.startup, seconds => `${seconds.toFixed(1)} s`)],
        ["Stalls", stallWords(total, events.some(hasInferredStalls))],
        ["Dropped", given(total.framesDropped, count => plural(count, "frame"))],
        ["Variant", given(total.indicated, bitRate)],
        ["Origin", given(total.observed, bitRate)],
        ["From the store", given(total.storeShare, percent)],
    ], "figures");
}

function account(summary) {
    if (!summary) return undefined;
    const missing = summary.missing.map(({id, ranges}) =>
        `${id} ${ranges.map(([start, end]) => `${time(start)}–${time(end)}`).join(" ")}`);
    return disclosure("Latest download", pairs([
        ["Ended", date(summary.ended)],
        ["Fetched", `${size(summary.bytes)} in ${time(summary.seconds)}`],
        ["Mean rate", `${size(summary.rate)}/s`],
        ["Requests", `${summary.requests}, ${summary.retries} of them repeated`],
        ["Interruptions", summary.interruptions],
        ["Origins", summary.origins.map(({host, bytes}) => `${host} (${size(bytes)})`).join(", ")],
        ["Chosen", summary.chosen.join(", ")],
        ["Missing", missing.join(", ")],
    ], "pairs"));
}

function sources(sessions) {
    const known = sessions.filter(({bytes}) => Object.values(bytes).some(count => count > 0)).slice(-8);
    if (known.length === 0) return undefined;
    const names = {store: "from the store", joined: "from a fetch in progress", origin: "from the origin"};
    return disclosure("Sources of the bytes", el("ul", {class: "sources"}, ...known.map(session => {
        const sums = Object.keys(names).filter(source => session.bytes[source] > 0).map(source => `${size(session.bytes[source])} ${names[source]}`);
        return el("li", {}, `${sessionName(session)}: ${sums.join(", ")}`, el("ul", {}, ...session.pieces.map(run =>
            el("li", {}, `${run.rendition} ${run.first === run.last ? run.first : `${run.first} to ${run.last}`}: ${names[run.source] || run.source}`,
                run.substitute && `, from ${run.substitute} instead`))));
    })));
}

function events(all) {
    if (all.length === 0) return undefined;
    const shown = all.slice(-EVENTS).reverse();
    return disclosure(`Access log (${plural(all.length, "event")})`, el("div", {class: "scrolls", tabindex: "0", role: "group", "aria-label": "Access log"},
        el("table", {}, el("thead", {}, el("tr", {}, ...["Began", "Player", "Watched", "Bytes", "Rate", "Stalls"].map(word => el("th", {scope: "col"}, word)))),
            el("tbody", {}, ...shown.map(event => el("tr", {}, ...[
                date(event.began), (event.client || "").split(" ")[0].slice(0, 40), time(event.watched),
                size(event.bytes.store + event.bytes.origin + event.bytes.joined),
                event.observed?.seconds > 0 ? bitRate(event.observed.bits / event.observed.seconds) : "store",
                stallWords(event, hasInferredStalls(event))].map(text => el("td", {}, text))))))));
}

function failures(all) {
    if (all.length === 0) return undefined;
    return disclosure(`Errors (${all.length})`, el("ul", {}, ...all.slice(-EVENTS).reverse().map(event =>
        el("li", {}, `${date(event.time)} · ${event.status || "connection lost"} · ${event.comment}`))));
}

function disclosure(title, content) {
    return el("details", {}, el("summary", {}, title), content);
}
