// All assets: known as a whole, shown as far as somebody scrolls.

import {api} from "./api.js";
import {el, setText} from "./dom.js";
import {Row} from "./row.js";
import {badge, plural} from "./words.js";

/** So many rows are added at a time. */
const STEP = 60;
/** The milliseconds between two changes of what is shown: four a second. */
const PAUSE = 250;

const active = new Set(["queued", "running", "waiting", "paused"]);

export class List {
    /** - `counted(bytes)`: told how much is stored, when that has changed. */
    constructor(counted) {
        this.counted = counted;
        [this.assets, this.downloads, this.heads, this.rows] = [new Map(), new Map(), new Map(), new Map()];
        [this.order, this.shown, this.dirty] = [[], 0, new Set()];
        this.place = document.getElementById("assets");
        this.rest = document.getElementById("rest");
        this.count = document.getElementById("count");
        this.find = document.getElementById("find");
        this.show = document.getElementById("show");
        this.more = el("button", {type: "button", onclick: () => this.grow(true)}, "Show more");
        this.find.addEventListener("input", () => this.arrange());
        this.show.addEventListener("change", () => this.arrange());
        this.seen = new IntersectionObserver(entries => {
            for (const entry of entries) if (entry.isIntersecting) this.rowOf(entry.target)?.seen();
        }, {rootMargin: "200px"});
        this.end = new IntersectionObserver(entries => {
            if (entries.some(entry => entry.isIntersecting) && this.shown > 0) this.grow(false);
        }, {rootMargin: "600px"});
        this.end.observe(this.rest);
    }

    rowOf(element) { return this.rows.get(element.dataset.name); }

    // MARK: What is known

    /** Reads all assets anew. */
    async load() {
        const assets = new Map();
        if (this.assets.size === 0) {
            setText(this.count, "Reading the list…");
            this.count.hidden = false;
        }
        await api.assets(page => {
            for (const asset of page) assets.set(asset.name, asset);
            // What one knows of an asset beyond the list is not forgotten for it.
            for (const asset of page) asset.parts = this.assets.get(asset.name)?.parts;
        });
        this.assets = assets;
        document.getElementById("tools").hidden = false;
        this.arrange();
        this.sum();
    }

    /** All downloads, as they stand. */
    snapshot(downloads) {
        this.downloads = new Map(downloads.map(download => [download.asset, download]));
        for (const name of this.rows.keys()) this.touch(name);
    }

    /** One download, as it stands. */
    started(download) {
        const before = this.downloads.get(download.asset);
        this.downloads.set(download.asset, download);
        if (!this.assets.has(download.asset) || before?.state !== download.state) this.refresh(download.asset);
        this.touch(download.asset);
    }

    /** Reads one asset anew; it may be new. */
    async refresh(name) {
        let asset;
        try {
            asset = await api.asset(name);
        } catch (error) {
            if (error.status === 404) this.removed(name);
            return;
        }
        const isNew = !this.assets.has(asset.name);
        this.assets.set(asset.name, asset);
        if (isNew) this.insert(asset.name);
        this.touch(asset.name);
        this.sum();
    }

    removed(name) {
        if (this.rows.get(name)?.isLeaving) return;
        this.assets.delete(name);
        this.downloads.delete(name);
        const row = this.rows.get(name);
        if (row) {
            const hadFocus = row.element.contains(document.activeElement);
            const next = row.element.nextElementSibling || row.element.previousElementSibling;
            this.seen.unobserve(row.element);
            row.element.remove();
            this.rows.delete(name);
            this.shown -= 1;
            if (hadFocus) (next?.querySelector("h3") || this.place).focus();
        }
        this.order = this.order.filter(other => other !== name);
        this.tell();
        this.sum();
    }

    /** Where players are: `playing` has an asset's name and a time for each. */
    playing(playing) {
        const heads = new Map();
        for (const [name, head] of playing) heads.set(name, [...(heads.get(name) || []), head]);
        for (const name of new Set([...heads.keys(), ...this.heads.keys()])) {
            if (String(heads.get(name)) === String(this.heads.get(name))) continue;
            // What flows in while it is played comes without an event.
            this.refresh(name);
            this.touch(name);
        }
        this.heads = heads;
    }

    sum() {
        clearTimeout(this.summing);
        this.summing = setTimeout(() => {
            let bytes = 0;
            for (const asset of this.assets.values()) bytes += asset.bytes;
            this.counted(bytes);
        }, PAUSE);
    }

    // MARK: What is shown

    fits(asset) {
        const word = this.find.value.trim().toLocaleLowerCase();
        if (word && !`${asset.title || ""} ${asset.name}`.toLocaleLowerCase().includes(word)) return false;
        const download = this.downloads.get(asset.name);
        const [, mark] = badge(asset, download);
        switch (this.show.value) {
        case "all": return true;
        case "active": return active.has(download?.state ?? asset.state);
        case "failed": return mark === "failed" || mark === "expired";
        default: return mark === this.show.value;
        }
    }

    /** What is under way first, the rest by name. A row keeps its place then, whatever becomes of it. */
    arrange() {
        const isActive = asset => active.has(this.downloads.get(asset.name)?.state ?? asset.state);
        const fitting = [...this.assets.values()].filter(asset => this.fits(asset));
        this.order = [...fitting.filter(isActive), ...fitting.filter(asset => !isActive(asset))].map(asset => asset.name);
        const wanted = Math.max(STEP, this.rows.size);
        this.seen.disconnect();
        // A deletion that waits for its end keeps its row.
        const kept = new Map([...this.rows].filter(([name]) => this.assets.has(name)));
        [this.rows, this.shown] = [new Map(), 0];
        this.place.replaceChildren();
        this.grow(false, wanted, kept);
        for (const [name, row] of kept) if (row.isLeaving && !this.rows.has(name)) this.rows.set(name, row);
    }

    /** Shows some more; `isAsked`: by somebody who goes on there. */
    grow(isAsked, step = STEP, kept = new Map()) {
        const names = this.order.slice(this.shown, this.shown + step);
        const rows = names.map(name => this.row(name, kept));
        this.place.append(...rows.map(row => row.element));
        this.shown += names.length;
        if (isAsked) rows[0]?.heading.focus();
        this.tell();
    }

    row(name, kept) {
        const row = kept.get(name) || new Row(this.assets.get(name), this);
        row.update(this.assets.get(name), this.downloads.get(name), this.heads.get(name) || []);
        this.rows.set(name, row);
        this.seen.observe(row.element);
        return row;
    }

    /** What is new comes first, where it is seen. */
    insert(name) {
        if (!this.fits(this.assets.get(name))) return this.tell();
        this.order.unshift(name);
        this.place.prepend(this.row(name, new Map()).element);
        this.shown += 1;
        this.tell();
    }

    tell() {
        const left = this.order.length - this.shown;
        this.rest.replaceChildren(...(left > 0 ? [this.more] : []));
        setText(this.more, `Show more (${left.toLocaleString("en")} left)`);
        this.count.hidden = this.assets.size === 0;
        setText(this.count, this.order.length === this.assets.size ? plural(this.assets.size, "asset")
            : `${this.order.length.toLocaleString("en")} of ${plural(this.assets.size, "asset")}`);
        const isEmpty = this.order.length === 0;
        if (isEmpty && !this.place.querySelector(".empty")) this.place.replaceChildren(this.assets.size ? nothingFits() : nothingYet());
        if (!isEmpty) this.place.querySelector(".empty")?.remove();
    }

    /** Something of an asset has changed: it is drawn soon, with what changes until then. */
    touch(name) {
        this.dirty.add(name);
        this.drawing ??= setTimeout(() => {
            this.drawing = undefined;
            for (const name of this.dirty) {
                const row = this.rows.get(name);
                if (row && this.assets.has(name)) row.update(this.assets.get(name), this.downloads.get(name), this.heads.get(name) || []);
            }
            this.dirty.clear();
        }, PAUSE);
    }
}

function nothingYet() {
    return el("li", {class: "empty"}, el("p", {class: "empty-title"}, "Nothing is stored yet"),
        el("p", {}, "Put the URL of a stream into the field above, or play one in a player: what flows is kept."),
        el("p", {class: "command"}, el("code", {}, `mpv ${location.origin}/https://example.com/vod/master.m3u8`)));
}

function nothingFits() {
    return el("li", {class: "empty"}, el("p", {class: "empty-title"}, "Nothing fits"),
        el("p", {}, "No asset has such a title and state."));
}
