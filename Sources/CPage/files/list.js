// All assets: known as a whole, shown where somebody looks.

import {api} from "./api.js";
import {Blocks} from "./blocks.js";
import {el, setText} from "./dom.js";
import {Row} from "./row.js";
import {badge, plural} from "./words.js";

/** The milliseconds between two changes of what is shown: four a second. */
const PAUSE = 250;
/** So long, in milliseconds, a row has to be in view before more is asked of it: who scrolls by wants nothing of it. */
const GLANCE = 150;
/** Of more assets than so many, the list is read as a whole rather than one by one. */
const MANY = 40;

const active = new Set(["queued", "running", "waiting", "paused"]);

export class List {
    /** - `counted(bytes)`: told how much is stored, when that has changed. */
    constructor(counted) {
        this.counted = counted;
        [this.assets, this.downloads, this.heads, this.rows] = [new Map(), new Map(), new Map(), new Map()];
        [this.names, this.dirty, this.stale] = [new Map(), new Set(), new Set()];
        this.place = document.getElementById("assets");
        this.count = document.getElementById("count");
        this.find = document.getElementById("find");
        this.show = document.getElementById("show");
        this.find.addEventListener("input", () => this.arrange());
        this.show.addEventListener("change", () => this.arrange());
        this.seen = new IntersectionObserver(entries => {
            for (const entry of entries) this.rowOf(entry.target)?.come(entry.isIntersecting, GLANCE);
        }, {rootMargin: "200px"});
        this.blocks = new Blocks(this.place, {
            make: name => this.row(name).element,
            drop: name => this.drop(name),
            isBusy: name => this.rows.get(name)?.isBusy ?? false,
        });
    }

    rowOf(element) { return this.rows.get(element.dataset.name); }

    // MARK: What is known

    /** Reads all assets anew. */
    async load() {
        const assets = new Map();
        const isFirst = this.assets.size === 0;
        if (isFirst) {
            setText(this.count, "Reading the list…");
            this.count.hidden = false;
        }
        // One who begins to look has something to look at when the first page is there.
        let isShown = false;
        [this.isReading, this.meanwhile] = [true, new Set()];
        try {
            await api.assets(page => {
                for (const asset of page) {
                    // What one knows of an asset beyond the list is not forgotten for it.
                    asset.parts = this.assets.get(asset.name)?.parts;
                    assets.set(asset.name, asset);
                }
                if (!isFirst || isShown) return;
                isShown = true;
                this.take(new Map(assets));
            });
        } finally {
            this.isReading = false;
        }
        this.take(assets);
        document.getElementById("tools").hidden = false;
        this.sum();
        // What was read by itself meanwhile may be newer than the list.
        for (const name of this.meanwhile) this.refresh(name);
    }

    take(assets) {
        this.assets = assets;
        this.names = new Map([...assets.values()].map(asset => [asset.id, asset.name]));
        this.arrange();
    }

    /** All downloads, as they stand. */
    snapshot(downloads) {
        this.downloads = new Map(downloads.map(download => [download.asset, download]));
        for (const name of this.rows.keys()) this.touch(name);
    }

    /** One download, as it stands. */
    started(download) {
        this.called(download.id, download.asset);
        const before = this.downloads.get(download.asset);
        this.downloads.set(download.asset, download);
        if (!this.assets.has(download.asset) || before?.state !== download.state) this.refresh(download.asset);
        this.touch(download.asset);
    }

    /** Reads one asset anew; it may be new. */
    async refresh(name) {
        let asset;
        if (this.isReading) this.meanwhile.add(name);
        try {
            asset = await api.asset(name);
        } catch (error) {
            if (error.status === 404) this.removed(name);
            return;
        }
        this.called(asset.id, asset.name);
        const isNew = !this.assets.has(asset.name);
        this.assets.set(asset.name, asset);
        this.names.set(asset.id, asset.name);
        if (isNew) this.insert(asset.name);
        this.touch(asset.name);
        this.sum();
    }

    /** Something of an asset is otherwise: it is read anew soon, with what else is until then. */
    changed({id, asset}) {
        this.called(id, asset);
        this.stale.add(asset);
        this.reading ??= setTimeout(() => {
            this.reading = undefined;
            const names = [...this.stale];
            this.stale.clear();
            if (names.length > MANY) return this.load().catch(() => {});
            for (const name of names) this.refresh(name);
        }, PAUSE);
    }

    /** An asset is called so from now on; it may have been called otherwise. */
    called(id, name) {
        const former = this.names.get(id);
        if (former === undefined || former === name || !this.assets.has(former)) return;
        this.names.set(id, name);
        // What had this name is told of by itself.
        if (this.assets.has(name)) return this.removed(former);
        for (const known of [this.assets, this.downloads, this.heads, this.rows]) {
            if (!known.has(former)) continue;
            known.set(name, known.get(former));
            known.delete(former);
        }
        this.assets.set(name, {...this.assets.get(name), name});
        if (this.rows.has(name)) this.rows.get(name).element.dataset.name = name;
        this.blocks.rename(former, name);
        this.touch(name);
    }

    removed(name) {
        const row = this.rows.get(name);
        if (row?.isLeaving) return;
        if (this.assets.has(name)) this.names.delete(this.assets.get(name).id);
        this.assets.delete(name);
        this.downloads.delete(name);
        const hadFocus = row?.element.contains(document.activeElement);
        const next = hadFocus && (neighbour(row.element, "nextElementSibling") || neighbour(row.element, "previousElementSibling"));
        this.blocks.remove(name);
        this.rows.delete(name);
        if (hadFocus) (next?.querySelector("h3") || this.place).focus();
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
        this.summing ??= setTimeout(() => {
            this.summing = undefined;
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
        const order = [...fitting.filter(isActive), ...fitting.filter(asset => !isActive(asset))].map(asset => asset.name);
        if (order.length > 0 && String(order) === String(this.blocks.names)) {
            for (const name of this.rows.keys()) this.touch(name);
        } else {
            // Rows that stay are the same ones: with the focus, and with what is open in them.
            this.kept = new Map(this.rows);
            this.blocks.show(order);
            this.kept = undefined;
        }
        this.tell();
    }

    drop(name) {
        const row = this.rows.get(name);
        if (!row) return;
        this.seen.unobserve(row.element);
        row.come(false);
        // A deletion that waits for its end keeps its row.
        if (!row.isLeaving) this.rows.delete(name);
    }

    row(name) {
        const row = this.rows.get(name) || this.kept?.get(name) || new Row(this.assets.get(name), this);
        row.update(this.assets.get(name), this.downloads.get(name), this.heads.get(name) || []);
        this.rows.set(name, row);
        this.seen.observe(row.element);
        return row;
    }

    /** What is new comes first, where it is seen. */
    insert(name) {
        if (this.fits(this.assets.get(name))) this.blocks.insert(name);
        this.tell();
    }

    tell() {
        const shown = this.blocks.byName.size;
        const all = plural(this.assets.size, "asset") + (this.isReading ? " so far" : "");
        this.count.hidden = this.assets.size === 0;
        setText(this.count, shown === this.assets.size ? all : `${shown.toLocaleString("en")} of ${all}`);
        // What stands there where no script runs.
        document.getElementById("rest").replaceChildren();
        const isEmpty = shown === 0 && !this.isReading;
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

/** The next row on one side, past rooms. */
function neighbour(element, side) {
    let other = element[side];
    while (other && !other.classList.contains("row")) other = other[side];
    return other;
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
