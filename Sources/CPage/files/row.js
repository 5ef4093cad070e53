// The row of an asset: its name, its stored part, and its actions.

import {api, entry, isPhone, mpv, words} from "./api.js";
import {Bar} from "./bars.js";
import {recordLater} from "./channels.js";
import {chooser} from "./chooser.js";
import {Details} from "./details.js";
import {alarm, button, Drawer, el, icon, plain, say, setAttribute, setText} from "./dom.js";
import {exporter, manager} from "./manage.js";
import {copy, play} from "./player.js";
import {badge, capitalized, doing, listed, plural, quality, seen, size, sizeOf, stateWords, time} from "./words.js";

/** Milliseconds in which a deletion can be undone. */
const REGRET = 10_000;
let count = 0;

/** The buttons in their order: word, icon, and what it does to a row. */
const actions = {
    play: ["Play", "play", row => row.play()],
    copy: ["Copy mpv command", "copy", row => row.copy()],
    pause: ["Pause", "pause", row => row.change("pause")],
    resume: ["Resume", "resume", row => row.change("resume")],
    record: ["Record", "resume", row => row.record()],
    later: ["Record later", "clock", row => row.open("later", recordLater({source: row.asset.name}, row.called, row.drawer.close))],
    add: ["Add tracks", "add", row => row.choose()],
    cancel: ["Cancel", "cancel", row => row.change("cancel")],
    remove: ["Delete", "remove", row => row.remove()],
    export: ["Export", "export", row => row.open("export", exporter(row.asset, row.called, row.drawer.close))],
    manage: ["Manage", "manage", row => row.manage()],
    details: ["Details", "details", row => row.toggleDetails()],
    more: ["More", "more", row => row.toggleMore()],
};

export class Row {
    constructor(name, list) {
        [this.list, this.buttons, this.bars, this.drawer] = [list, {}, new Map(), new Drawer()];
        const heading = `asset-${++count}`;
        this.title = el("bdi");
        this.badge = el("span", {class: "badge"});
        this.facts = el("p", {class: "facts"});
        this.note = el("bdi");
        this.doing = el("p", {class: "doing"});
        this.chips = el("ul", {class: "chips", "aria-label": "Tracks"});
        this.tracks = el("ul", {class: "tracks", "aria-label": "Stored part of each track"});
        this.face = el("span", {class: "face"});
        this.progress = el("progress", {max: 1});
        this.picture = el("button", {type: "button", class: "picture", tabindex: "-1", "aria-hidden": "true", onclick: () => this.play()},
            this.face, icon("play"), this.progress);
        this.heading = el("h3", {id: heading, tabindex: "-1"}, this.title);
        this.body = el("div", {class: "row-body"},
            this.picture,
            el("div", {class: "row-main"},
                el("div", {class: "row-head"}, this.heading, this.badge),
                this.facts, el("p", {class: "description"}, this.note), this.doing, this.chips, this.tracks,
                el("div", {class: "actions", role: "group", "aria-labelledby": heading}, ...this.make(["play", "more"])), this.drawer.element));
        this.element = el("li", {class: "row", "data-name": name}, this.body);
    }

    make(names) {
        return names.map(name => {
            const [word, picture, act] = actions[name];
            return this.buttons[name] = button(picture, word, "", () => act(this), {play: "primary", more: "more"}[name]);
        });
    }

    play() { play(entry(this.asset.name), this.called, this.asset); }

    get called() { return this.asset.title || this.asset.name; }

    update() {
        const {list, element: {dataset: {name}}} = this;
        const [asset, download] = [list.assets.get(name), list.downloads.get(name)];
        [this.asset, this.download, this.heads] = [asset, download, list.heads.get(name) || []];
        this.parts = new Map([...asset.parts || storedParts(asset), ...download?.parts || []].map(part => [part.id, part]));
        setText(this.title, this.called);
        setText(this.badge, badge(asset));
        setAttribute(this.badge, "class", `badge badge-${asset.state}`);
        setText(this.facts, this.factsText());
        setText(this.note, asset.note || "");
        setText(this.doing, doing(download));
        this.doing.hidden = this.doing.textContent === "";
        setAttribute(this.doing, "class", `doing doing-${download?.state || "none"}`);
        this.updatePicture();
        this.updateProgress();
        this.updateLength();
        this.details?.update(asset);
    }

    /**
     * On a phone and among posters each row is short, and else a complete one, until the user asks for more. A row with the focus or
     * with an open part stays as it is, and so does one whose download ended on this page.
     */
    updateLength() {
        const isQuiet = this.asset.local === "yes" && this.asset.state === this.asset.stored
            && (this.download?.state ?? "complete") === "complete" && this.heads.length === 0;
        if (!isQuiet) this.wasBusy = true;
        const canBeShort = this.list.hasShortRows || isQuiet && !this.wasBusy;
        const isShort = canBeShort && !this.isOpen && !this.drawer.isOpen;
        this.buttons.more.hidden = !canBeShort;
        this.setShort(this.element.contains(document.activeElement) ? this.isShort : isShort);
    }

    /** A short row has few elements: a long list has many of them. */
    setShort(isShort) {
        const hasChanged = isShort !== this.isShort;
        this.isShort = isShort;
        if (!isShort) {
            if (!this.buttons.copy) this.buttons.more.before(...this.make(Object.keys(actions).slice(1, -1)));
            this.updateChips();
            this.updateBars();
            this.loadParts();
        }
        if (hasChanged) {
            this.element.classList.toggle("row-short", isShort);
            this.buttons.more.setAttribute("aria-expanded", String(!isShort));
            setText(this.buttons.more.querySelector("span"), isShort ? "More" : "Less");
        }
        setAttribute(this.heading, "title", isShort ? this.called : "");
        this.updateButtons();
    }

    toggleMore() {
        this.isOpen = this.isShort;
        if (!this.isOpen) this.closeDetails();
        this.setShort(!this.isOpen);
    }

    factsText() {
        const {asset, download} = this;
        const bytes = Math.max(asset.bytes, (download?.bytes || 0) + (download?.arriving || 0));
        const isUnderWay = download && download.state !== "complete" && download.totalBytes > 0;
        const sizes = isUnderWay ? sizeOf(download.bytes, Math.max(download.totalBytes, download.bytes)) : bytes > 0 ? size(bytes) : stateWords(asset.stored);
        // Of what was chosen, or else is stored, or else exists.
        const {variants} = asset.tracks;
        const [shown = []] = [download?.selection?.variants, variants.filter(isStored), variants].filter(some => some?.length);
        const [best] = shown.toSorted((a, b) => (b.height || 0) - (a.height || 0));
        const {expiration, isExpired} = asset.storage || {};
        return listed(asset.isLive ? "live" : asset.duration && time(asset.duration), seen(asset), best && quality(best), sizes,
            expiration && !isExpired && `until ${new Date(expiration * 1000).toLocaleDateString()}`,
            asset.isRevised ? "the origin's new content is being fetched" : asset.hasChanged && "the origin has other content");
    }

    updateChips() {
        const parts = new Map((this.download?.parts || []).map(part => [part.id, part]));
        const all = tracksOf(this.asset);
        const shown = all.filter(track => parts.has(track.id) || isStored(track))
            .map(({id, kind, name, stored}) => [kind === "subtitles" ? `${name} (subtitles)` : name, parts.get(id)?.isComplete ? "saved" : stored]);
        const others = all.length - shown.length;
        const mark = JSON.stringify([shown, others]);
        if (mark === this.chipMark) return;
        this.chipMark = mark;
        this.chips.replaceChildren(
            ...shown.map(([name, stored]) => el("li", {class: `chip chip-${stored}`}, el("bdi", {}, name), el("span", {class: "unseen"}, `, ${stateWords(stored)}`))),
            others > 0 ? el("li", {class: "chip chip-online"}, `${shown.length ? "+" : ""}${plural(others, "track")} online`) : "");
        this.chips.hidden = all.length === 0;
    }

    updateBars() {
        const names = new Map(tracksOf(this.asset).map(({id, name}) => [id, name]));
        const rank = ({kind}) => kinds.indexOf(kind);
        const ordered = [...this.parts.values()].sort((a, b) => rank(a) - rank(b));
        const bars = new Map(ordered.map(({id}) => [id, this.bars.get(id) ?? new Bar()]));
        if ([...bars.keys()].join() !== [...this.bars.keys()].join()) this.tracks.replaceChildren(...[...bars.values()].map(({element}) => element));
        this.bars = bars;
        for (const [index, part] of ordered.entries()) {
            // The position is shown on the video track, or without video on the first track.
            const name = `${capitalized(part.kind)} ${names.get(part.id) ?? part.id.replace(`${part.kind}-`, "")}`.replace("Video audio", "Audio");
            bars.get(part.id).update(part, name, this.asset.duration, index === 0 || part.kind === "video" ? this.heads : []);
        }
        this.tracks.hidden = bars.size === 0;
    }

    updateButtons() {
        const state = this.download?.state ?? this.asset.state;
        const isExpired = this.asset.storage?.isExpired === true;
        const isActive = ["queued", "running", "downloading", "recording", "waiting"].includes(state);
        const shown = {
            play: !isExpired,
            copy: !isExpired,
            pause: isActive,
            resume: ["paused", "failed", "cancelled"].includes(state),
            record: this.asset.isLive && !isExpired && !isActive && state !== "paused",
            later: this.asset.isLive && !isExpired && !this.asset.recordingOf,
            add: !this.asset.isLive && !this.asset.isImported && !isExpired,
            cancel: isActive || state === "paused",
            export: this.asset.bytes > 0 && !isExpired,
            more: !this.buttons.more.hidden,
            ...(isPhone && {copy: false, later: false, remove: false, export: false, manage: false, details: false}),
        };
        if (this.buttons.add) setText(this.buttons.add.querySelector("span"), this.asset.download === undefined ? "Download" : actions.add[0]);
        for (const [name, control] of Object.entries(this.buttons)) {
            const isHidden = shown[name] === false;
            // The focus moves from a hidden button to another one, instead of to the top of the page.
            if (isHidden && document.activeElement === control) this.focusBehind(name);
            control.hidden = isHidden;
            setAttribute(control, "aria-label", `${control.textContent} ${this.called}`);
        }
    }

    focusBehind(name) {
        const other = {pause: "resume", resume: "pause", cancel: "resume"}[name];
        const next = this.buttons[other];
        if (next) next.hidden = false;
        (next || (!isPhone && this.buttons.details) || this.heading).focus();
    }

    updatePicture() {
        if (this.asset.artwork === this.shownArtwork && this.face.hasChildNodes()) return;
        this.shownArtwork = this.asset.artwork;
        const letters = [...this.called.trim()].slice(0, 1).join("").toUpperCase();
        this.face.replaceChildren(el("span", {class: "letter"}, letters || "?"));
        const hue = [...this.asset.id].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 997, 7) % 12 * 30;
        this.picture.style.setProperty("--hue", hue);
        if (this.isKnown) this.loadArtwork();
    }

    updateProgress() {
        const {position, duration} = this.asset;
        const isLoading = ["queued", "running", "waiting", "paused"].includes(this.download?.state);
        const share = (isLoading ? this.download.fraction : position / duration) || 0;
        this.progress.hidden = !share;
        this.progress.value = Math.min(1, share);
        this.progress.classList.toggle("loading", isLoading);
    }

    get isBusy() { return this.isLeaving || this.drawer.isOpen || this.element.contains(document.activeElement); }

    /** Called when the row enters or leaves the view. Its costly details are loaded after `glance` milliseconds in view. */
    come(isVisible, glance) {
        clearTimeout(this.coming);
        if (!isVisible || this.isKnown) return;
        this.coming = setTimeout(() => {
            this.isKnown = true;
            this.loadArtwork();
            this.loadParts();
        }, glance);
    }

    loadParts() {
        if (!this.isKnown || this.isShort || this.isAsked || ![...this.parts.values()].some(part => part.isGuess)) return;
        this.isAsked = true;
        this.list.refresh(this.asset.name);
    }

    async loadArtwork() {
        const {artwork, stored, isLive, tracks} = this.asset;
        const hasFilm = stored !== "not-stored" && !isLive && tracks.variants.some(({height}) => height);
        if (!artwork && !hasFilm) return;
        const turn = this.pictures = (this.pictures || 0) + 1;
        try {
            const url = await api.poster(this.asset.name);
            const image = el("img", {src: url, alt: ""});
            image.addEventListener("load", () => {
                // A later one may have come first.
                if (turn === this.pictures) this.face.replaceChildren(image);
                URL.revokeObjectURL(url);
            });
        } catch {
            // The letter stays.
        }
    }

    open(name, content) {
        this.closeDetails();
        this.drawer.open(this.buttons[name], content);
    }

    /** Shows a note below the buttons, where the focus stays. */
    tell(content) { this.drawer.element.replaceChildren(content); }

    async attempt(act) {
        try {
            await act();
        } catch (error) {
            this.tell(alarm(words(error)));
        }
    }

    async copy() {
        const command = mpv(entry(this.asset.name));
        if (!await copy(command)) return this.tell(el("p", {class: "command"}, el("code", {}, command)));
        const control = this.buttons.copy.querySelector("span");
        setText(control, "Copied");
        setTimeout(() => setText(control, actions.copy[0]), 2000);
    }

    change(what) {
        return this.attempt(() => api.change(this.download?.id ?? this.asset.download, what));
    }

    async choose() {
        const order = {source: this.asset.name};
        const {explanation} = await api.explain(order).catch(() => ({}));
        this.open("add", chooser({
            tracks: this.asset.tracks, explanation, order, title: this.called, closed: this.drawer.close,
        }));
    }

    record() {
        return this.attempt(async () => {
            await api.download({source: this.asset.name, record: true});
            say(`The recording of ${this.called} has begun.`);
        });
    }

    manage() {
        this.open("manage", manager(this.asset, this.called, {
            changed: asset => this.list.changed({id: asset.id, asset: asset.name}),
            pictured: asset => {
                this.shownArtwork = undefined;
                this.face.replaceChildren();
                this.asset = {...this.asset, artwork: asset.artwork};
                this.updatePicture();
            },
            closed: this.drawer.close,
        }));
    }

    toggleDetails() {
        if (this.details) return this.closeDetails();
        this.details = new Details(this.asset);
        this.buttons.details.setAttribute("aria-expanded", "true");
        this.tell(this.details.element);
    }

    closeDetails() {
        this.buttons.details?.setAttribute("aria-expanded", "false");
        this.details = undefined;
        this.drawer.element.replaceChildren();
    }

    /** A deletion cannot be undone. Leaving the page before it cancels it. */
    remove() {
        const bytes = Math.max(this.asset.bytes, this.download?.bytes || 0);
        const text = ` will be deleted in ten seconds, which frees ${size(bytes)}. If you leave this page before, it is kept.`;
        const timer = setTimeout(() => {
            this.isLeaving = false;
            this.removeNow(undo);
        }, REGRET);
        const undo = plain("Undo", () => {
            clearTimeout(timer);
            this.isLeaving = false;
            this.element.replaceChildren(this.body);
            this.buttons.remove.focus();
            say(`${this.called} is kept.`);
        }, {class: "primary"});
        this.isLeaving = true;
        this.element.replaceChildren(
            el("div", {class: "undo"}, el("p", {}, icon("remove"), el("strong", {}, el("bdi", {}, this.called)), text), undo));
        undo.focus();
        say(`${this.called}${text} The Undo button has the focus.`);
    }

    async removeNow(undo) {
        undo.disabled = true;
        try {
            const {bytes} = await api.remove(this.asset.name);
            say(`${this.called} is deleted, which freed ${size(bytes)}.`);
            this.list.removed(this.asset.name);
        } catch (error) {
            this.element.replaceChildren(this.body);
            this.tell(alarm(words(error)));
        }
    }
}

/** The stored part of each track, from a list's data. The holes of incomplete tracks are not known yet. */
function storedParts(asset) {
    const all = asset.duration > 0 ? [[0, asset.duration]] : [];
    return tracksOf(asset).filter(isStored).map(({id, kind, isComplete: isWhole}) => {
        const isComplete = isWhole && all.length > 0;
        return {id, kind, expected: all, loaded: isComplete ? all : [], isComplete, isGuess: !isComplete};
    });
}

const kinds = ["video", "audio", "subtitles"];

/** All tracks with their kind and a name. Several lines of a playlist may name one track. */
function tracksOf({tracks: {variants, audio, subtitles}}) {
    const known = new Map();
    for (const [index, some] of [variants, audio, subtitles].entries()) {
        for (const track of some) {
            if (track.id !== undefined && !known.has(track.id)) known.set(track.id, {...track, kind: kinds[index], name: index > 0 ? track.name : quality(track)});
        }
    }
    return [...known.values()];
}

const isStored = track => track.stored !== "not-stored";

