// The list of all assets. All are known, but only those in view are drawn.

import {api, isPhone} from "./api.js";
import {Blocks} from "./blocks.js";
import {byId, el, icon, setText} from "./dom.js";
import {Row} from "./row.js";
import {bitRate, plural, totals} from "./words.js";

/** Milliseconds between two updates of the list: four per second. */
const PAUSE = 250;
/** Milliseconds in view after which the details of a row are loaded: fast scrolling loads nothing. */
const GLANCE = 150;
/** Number of changed assets above which the whole list is loaded. */
const MANY = 40;

const active = new Set(["queued", "running", "downloading", "recording", "waiting", "paused"]);

const collate = new Intl.Collator(undefined, {numeric: true, sensitivity: "base"}).compare;
const byTitle = (one, other) => collate(one.title || one.name, other.title || other.name) || collate(one.name, other.name);
const ranks = {
    added: asset => -(asset.created || 0),
    played: asset => -(asset.storage?.lastPlayed || 0),
    size: asset => -asset.bytes,
    duration: asset => -(asset.duration || 0),
    expiry: asset => asset.storage?.expiration || Infinity,
};

export class List {
    constructor(counted) {
        this.counted = counted;
        [this.assets, this.downloads, this.heads, this.rows] = [new Map(), new Map(), new Map(), new Map()];
        [this.names, this.asked, this.dirty, this.stale] = [new Map(), new Map(), new Set(), new Set()];
        [this.container, this.count, this.find, this.show, this.sort] = ["assets", "count", "find", "show", "sort"].map(byId);
        const order = localStorage.getItem("weir-sort");
        if (order in ranks) this.sort.value = order;
        this.sort.addEventListener("change", () => localStorage.setItem("weir-sort", this.sort.value));
        for (const [control, event] of [[this.find, "input"], [this.show, "change"], [this.sort, "change"]]) control.addEventListener(event, () => this.arrange());
        this.preparePosters();
        prepareFilters();
        this.seen = new IntersectionObserver(entries => {
            for (const entry of entries) this.rowOf(entry.target)?.come(entry.isIntersecting, GLANCE);
        }, {rootMargin: "200px"});
        this.blocks = new Blocks(this.container, {
            make: name => this.row(name).element,
            drop: name => this.drop(name),
            isBusy: name => this.rows.get(name)?.isBusy ?? false,
            anew: () => this.arrange(true),
        });
    }

    /** A window of this width has posters, unless the user prefers lines. The choice is kept. */
    preparePosters() {
        const [wide, narrow, control] = [matchMedia("(min-width: 62.5rem)"), matchMedia("(max-width: 44rem)"), byId("view")];
        const show = () => {
            const isWanted = localStorage.getItem("weir-view") !== "lines";
            this.hasPosters = wide.matches && isWanted;
            this.hasShortRows = this.hasPosters || narrow.matches;
            this.container.classList.toggle("posters", this.hasPosters);
            control.setAttribute("aria-pressed", String(isWanted));
            if (this.blocks) this.arrange(true);
        };
        control.append(icon("posters"), el("span", {}, "Posters"));
        control.addEventListener("click", () => {
            localStorage.setItem("weir-view", this.hasPosters ? "lines" : "posters");
            show();
        });
        for (const width of [wide, narrow]) width.addEventListener("change", show);
        show();
    }

    rowOf(element) { return this.rows.get(element.dataset.name); }

    async load() {
        const assets = new Map();
        // The first page is shown as soon as it arrives.
        let isShown = this.assets.size > 0;
        if (!isShown) {
            setText(this.count, "Reading the list…");
            this.count.hidden = false;
        }
        [this.isReading, this.meanwhile] = [true, new Set()];
        try {
            await api.assets(page => {
                for (const asset of page) {
                    // Details that a list does not have are kept.
                    asset.parts = this.assets.get(asset.name)?.parts;
                    assets.set(asset.name, asset);
                }
                if (!isShown) this.replace(new Map(assets));
                isShown = true;
            });
        } finally {
            this.isReading = false;
        }
        this.replace(assets);
        byId("tools").hidden = false;
        this.sum();
        // An asset that was loaded by itself meanwhile may be newer than the list.
        for (const name of this.meanwhile) this.refresh(name);
    }

    replace(assets) {
        this.assets = assets;
        this.names = new Map([...assets.values()].map(asset => [asset.id, asset.name]));
        this.arrange();
    }

    snapshot(downloads) {
        this.downloads = new Map(downloads.map(download => [download.asset, download]));
        for (const name of this.rows.keys()) this.touch(name);
    }

    /** Takes a download from an event. An answer may be overtaken by events, which tell of all changes. */
    started(download) {
        this.called(download.id, download.asset);
        const before = this.downloads.get(download.asset);
        this.downloads.set(download.asset, download);
        if (!this.assets.has(download.asset) || before?.state !== download.state) this.refresh(download.asset);
        this.touch(download.asset);
    }

    async refresh(name) {
        if (this.isReading) this.meanwhile.add(name);
        // An answer may be overtaken by that of a later request.
        const asking = api.asset(name);
        this.asked.set(name, asking);
        const isLatest = () => this.asked.get(name) === asking && this.asked.delete(name);
        let asset;
        try {
            asset = await asking;
        } catch (error) {
            if (isLatest() && error.status === 404) this.removed(name);
            return;
        }
        if (!isLatest()) return;
        this.called(asset.id, asset.name);
        const isNew = !this.assets.has(asset.name);
        this.assets.set(asset.name, asset);
        this.names.set(asset.id, asset.name);
        if (isNew) this.insert(asset.name);
        this.touch(asset.name);
        this.sum();
    }

    /** Marks an asset as changed. It is loaded soon, together with other changes until then. */
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

    called(id, name) {
        const former = this.names.get(id);
        if (former === undefined || former === name || !this.assets.has(former)) return;
        this.names.set(id, name);
        // The asset that had this name before has an event of its own.
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
        if (hadFocus) (next?.querySelector("h3") || this.container).focus();
        this.showCount();
        this.sum();
    }

    playing(sessions) {
        const heads = new Map();
        for (const {asset, playhead, quality, bandwidth} of sessions) {
            const head = {at: playhead, quality: quality || (bandwidth ? bitRate(bandwidth) : "")};
            heads.set(asset, [...(heads.get(asset) || []), head]);
        }
        for (const name of new Set([...heads.keys(), ...this.heads.keys()])) {
            if (JSON.stringify(heads.get(name)) === JSON.stringify(this.heads.get(name))) continue;
            // There are no events for pieces that are cached by playback.
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
            this.showTotals();
        }, PAUSE);
    }

    fits(asset) {
        const word = this.find.value.trim().toLocaleLowerCase();
        if (word && !`${asset.title || ""} ${asset.name} ${asset.note || ""}`.toLocaleLowerCase().includes(word)) return false;
        const download = this.downloads.get(asset.name);
        const views = {
            all: true, active: active.has(download?.state ?? asset.state), begun: asset.position > 0 && !asset.isWatched,
            recordings: asset.recordingOf !== undefined || download?.isRecording, channels: asset.isLive, failed: ["failed", "expired"].includes(asset.state),
        };
        return views[this.show.value] ?? asset.stored === this.show.value;
    }

    /** Sorts running downloads first, the rest as chosen. Later changes do not move a row. - `isNew`: true to lay them out anew. */
    arrange(isNew = false) {
        const isActive = asset => active.has(this.downloads.get(asset.name)?.state ?? asset.state);
        const rank = ranks[this.sort.value];
        const fitting = [...this.assets.values()].filter(asset => this.fits(asset))
            .sort((one, other) => (rank ? Math.sign(rank(one) - rank(other)) || 0 : 0) || byTitle(one, other));
        const order = [...fitting.filter(isActive), ...fitting.filter(asset => !isActive(asset))].map(asset => asset.name);
        if (!isNew && order.length > 0 && String(order) === String(this.blocks.names)) {
            for (const name of this.rows.keys()) this.touch(name);
        } else {
            // Rows that stay keep their elements, with the focus and with open details.
            this.kept = new Map(this.rows);
            this.blocks.show(order);
            this.kept = undefined;
        }
        this.showCount();
    }

    drop(name) {
        const row = this.rows.get(name);
        if (!row) return;
        this.seen.unobserve(row.element);
        row.come(false);
        // A row whose deletion can still be undone stays.
        if (!row.isLeaving) this.rows.delete(name);
    }

    row(name) {
        const row = this.rows.get(name) || this.kept?.get(name) || new Row(name, this);
        row.update();
        this.rows.set(name, row);
        this.seen.observe(row.element);
        return row;
    }

    showTotals() {
        const shown = [...this.blocks.byName.keys()].map(name => this.assets.get(name)).filter(Boolean);
        setText(byId("totals"), shown.length > 0 ? `· ${totals(shown)}` : "");
    }

    insert(name) {
        if (this.fits(this.assets.get(name))) this.blocks.insert(name);
        this.showCount();
    }

    showCount() {
        const shown = this.blocks.byName.size;
        const all = plural(this.assets.size, "asset") + (this.isReading ? " so far" : "");
        this.count.hidden = this.assets.size === 0;
        this.showTotals();
        setText(this.count, shown === this.assets.size ? all : `${shown.toLocaleString("en")} of ${all}`);
        const isEmpty = shown === 0 && !this.isReading;
        if (isEmpty && !this.container.querySelector(".empty")) this.container.replaceChildren(this.assets.size ? nothingFits() : nothingYet());
        if (!isEmpty) this.container.querySelector(".empty")?.remove();
    }

    /** Marks an asset for drawing. It is drawn soon, together with other changes until then. */
    touch(name) {
        this.dirty.add(name);
        this.drawing ??= setTimeout(() => {
            this.drawing = undefined;
            for (const name of this.dirty) {
                if (this.assets.has(name)) this.rows.get(name)?.update();
            }
            this.dirty.clear();
        }, PAUSE);
    }
}

function prepareFilters() {
    const [control, tools] = [byId("filters"), byId("tools")];
    control.addEventListener("click", () => {
        const isOpen = tools.classList.toggle("open");
        control.setAttribute("aria-expanded", String(isOpen));
    });
}

function neighbour(element, side) {
    let other = element[side];
    while (other && !other.classList.contains("row")) other = other[side];
    return other;
}

const empty = (title, ...content) => el("li", {class: "empty"}, el("p", {class: "empty-title"}, title), ...content);

const nothingYet = () => empty("Nothing is stored yet",
    el("p", {}, "Enter the URL of a stream above, or play one in a player: Weir stores what is played."),
    !isPhone && el("p", {class: "command"}, el("code", {}, `mpv ${location.origin}/https://example.com/vod/master.m3u8`)));

const nothingFits = () => empty("No matching asset", el("p", {}, "No asset has this title or description, and this state."));
