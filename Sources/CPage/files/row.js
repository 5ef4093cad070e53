// The row of an asset: its name, its stored part, and its actions.

import {api, entry, isPhone, mpv, words} from "./api.js";
import {Bar} from "./bars.js";
import {recordLater} from "./channels.js";
import {chooser} from "./chooser.js";
import {Details} from "./details.js";
import {button, el, icon, say, setAttribute, setText} from "./dom.js";
import {manager} from "./manage.js";
import {copy, play} from "./player.js";
import {badge, doing, plural, quality, seen, size, sizeOf, stateWords, time} from "./words.js";

/** Seconds in which a deletion can be undone. */
const REGRET = 10;
let count = 0;

export class Row {
    /** - `list`: receives changes by `removed(name)`, `changed(name)`, `started(download)`. */
    constructor(asset, list) {
        [this.list, this.bars, this.heads] = [list, new Map(), []];
        const heading = `asset-${++count}`;
        this.title = el("bdi");
        this.badge = el("span", {class: "badge"});
        this.facts = el("p", {class: "facts"});
        this.description = el("bdi");
        this.note = el("p", {class: "description"}, this.description);
        this.doing = el("p", {class: "doing"});
        this.chips = el("ul", {class: "chips", "aria-label": "Tracks"});
        this.tracks = el("ul", {class: "tracks", "aria-label": "Stored part of each track"});
        // For a pointer: the Play button has the name and the focus.
        this.face = el("span", {class: "face"});
        this.progress = el("progress", {max: 1});
        this.picture = el("button", {type: "button", class: "picture", tabindex: "-1", "aria-hidden": "true", onclick: () => this.play()},
            this.face, icon("play"), this.progress);
        this.extra = el("div", {class: "extra"});
        this.buttons = this.makeButtons();
        this.body = el("div", {class: "row-body"},
            this.picture,
            el("div", {class: "row-main"},
                el("div", {class: "row-head"}, el("h3", {id: heading, tabindex: "-1"}, this.title), this.badge),
                this.facts, this.note, this.doing, this.chips, this.tracks,
                el("div", {class: "actions", role: "group", "aria-labelledby": heading}, ...Object.values(this.buttons)),
                this.extra));
        this.heading = this.body.querySelector("h3");
        this.element = el("li", {class: "row", "data-name": asset.name}, this.body);
        this.update(asset, undefined, []);
    }

    makeButtons() {
        return {
            play: button("play", "Play", "", () => this.play(), "primary"),
            copy: button("copy", "Copy mpv command", "", () => this.copy()),
            pause: button("pause", "Pause", "", () => this.change("pause")),
            resume: button("resume", "Resume", "", () => this.change("resume")),
            record: button("resume", "Record", "", () => this.record()),
            later: button("clock", "Record later", "", () => this.recordLater()),
            add: button("add", "Add tracks", "", () => this.choose()),
            cancel: button("cancel", "Cancel", "", () => this.change("cancel")),
            remove: button("remove", "Delete", "", () => this.remove()),
            manage: button("manage", "Manage", "", () => this.manage()),
            details: button("details", "Details", "", () => this.toggleDetails()),
            more: button("more", "More", "", () => this.toggleMore(), "more"),
        };
    }

    play() { play(entry(this.asset.name), this.called, this.asset); }

    /** The title, or else the name. */
    get called() { return this.asset.title || this.asset.name; }

    // MARK: Display

    /** - `download`: the asset's download, if there is one; `heads`: its players, each with its position in seconds and its quality. */
    update(asset, download, heads) {
        [this.asset, this.download, this.heads] = [asset, download, heads];
        setText(this.title, this.called);
        setText(this.badge, badge(asset));
        setAttribute(this.badge, "class", `badge badge-${asset.state}`);
        setText(this.facts, this.factsText());
        setText(this.description, asset.note || "");
        this.note.hidden = !asset.note;
        setText(this.doing, doing(download));
        this.doing.hidden = this.doing.textContent === "";
        setAttribute(this.doing, "class", `doing doing-${download?.state || "none"}`);
        this.updateChips();
        this.updateBars();
        this.updateButtons();
        this.updatePicture();
        this.updateProgress();
        this.updateLength();
        this.details?.update(asset);
    }

    /**
     * Shows an asset as a poster, or as a line: on a phone each, and in wider windows a complete one, until the user asks for more. A row with the focus or with an open part
     * stays as it is, and so does a line whose download ended on this page.
     */
    updateLength() {
        const isQuiet = this.asset.local === "yes" && this.asset.state === this.asset.stored
            && (this.download?.state ?? "complete") === "complete" && this.heads.length === 0;
        if (!isQuiet) this.wasBusy = true;
        const canBeShort = this.list.hasShortRows || isQuiet && !this.wasBusy;
        const isShort = canBeShort && !this.isOpen && !this.extra.hasChildNodes();
        if (this.element.classList.contains("row-short") !== isShort && !this.element.contains(document.activeElement)) this.setShort(isShort);
        this.buttons.more.hidden = !canBeShort;
    }

    setShort(isShort) {
        this.element.classList.toggle("row-short", isShort);
        this.buttons.more.setAttribute("aria-expanded", String(!isShort));
        setText(this.buttons.more.querySelector("span"), isShort ? "More" : "Less");
        setAttribute(this.buttons.more, "aria-label", `${isShort ? "More" : "Less"} ${this.called}`);
        setAttribute(this.title.parentElement, "title", isShort ? this.called : "");
    }

    toggleMore() {
        this.isOpen = this.element.classList.contains("row-short");
        if (!this.isOpen) this.closeDetails();
        this.setShort(!this.isOpen);
    }

    factsText() {
        const {asset, download} = this;
        const bytes = Math.max(asset.bytes, (download?.bytes || 0) + (download?.arriving || 0));
        const isUnderWay = download && download.state !== "complete" && download.totalBytes > 0;
        const sizes = isUnderWay ? sizeOf(download.bytes, Math.max(download.totalBytes, download.bytes)) : bytes > 0 ? size(bytes) : stateWords(asset.stored);
        const chosen = download?.selection?.variants?.length ? download.selection.variants : undefined;
        const shown = chosen || stored(asset.tracks.variants) || asset.tracks.variants;
        const best = [...shown].sort((a, b) => (b.height || 0) - (a.height || 0))[0];
        const length = asset.isLive ? "live" : asset.duration ? time(asset.duration) : "";
        const end = asset.storage?.expiration && !asset.storage.isExpired
            ? `until ${new Date(asset.storage.expiration * 1000).toLocaleDateString()}` : "";
        const other = asset.isRevised ? "the origin's new content is being fetched"
            : asset.hasChanged ? "the origin has other content" : "";
        return [length, seen(asset), best ? quality(best) : "", sizes, end, other].filter(Boolean).join(" · ");
    }

    updateChips() {
        const {variants, audio, subtitles} = this.asset.tracks;
        const wanted = new Set((this.download?.parts || []).map(part => part.id));
        const done = new Set((this.download?.parts || []).filter(part => part.isComplete).map(part => part.id));
        const items = [...unique(variants).map(track => [quality(track), track]), ...unique(audio).map(track => [track.name, track]),
            ...unique(subtitles).map(track => [`${track.name} (subtitles)`, track])]
            .map(([name, track]) => ({name, stored: done.has(track.id) ? "saved" : track.stored, isWanted: wanted.has(track.id)}));
        const shown = items.filter(({stored, isWanted}) => isWanted || stored !== "not-stored");
        const others = items.length - shown.length;
        const mark = JSON.stringify([shown, others]);
        if (mark === this.chipMark) return;
        this.chipMark = mark;
        this.chips.replaceChildren(
            ...shown.map(({name, stored}) => el("li", {class: `chip chip-${stored}`}, el("bdi", {}, name), el("span", {class: "unseen"}, `, ${stateWords(stored)}`))),
            ...(others ? [el("li", {class: "chip chip-online"}, `${shown.length ? "+" : ""}${plural(others, "track")} online`)] : []));
        this.chips.hidden = items.length === 0;
    }

    updateBars() {
        const parts = new Map((this.asset.parts || storedParts(this.asset)).map(part => [part.id, part]));
        for (const part of this.download?.parts || []) parts.set(part.id, part);
        for (const [id, bar] of this.bars) {
            if (!parts.has(id)) {
                bar.element.remove();
                this.bars.delete(id);
            }
        }
        const rank = ({kind}) => ["video", "audio", "subtitles"].indexOf(kind);
        const ordered = [...parts.values()].sort((a, b) => rank(a) - rank(b));
        for (const [index, part] of ordered.entries()) {
            if (!this.bars.has(part.id)) this.bars.set(part.id, new Bar());
            const bar = this.bars.get(part.id);
            if (this.tracks.children[index] !== bar.element) this.tracks.insertBefore(bar.element, this.tracks.children[index] || null);
            // The position is shown on the video track, or without video on the first track.
            bar.update(part, this.trackName(part), this.asset.duration, index === 0 || part.kind === "video" ? this.heads : []);
        }
        this.tracks.hidden = parts.size === 0;
    }

    trackName({id, kind}) {
        const {variants, audio, subtitles} = this.asset.tracks;
        const variant = variants.find(variant => variant.id === id);
        if (variant) return `Video ${quality(variant)}`.replace("Video audio", "Audio");
        const rendition = [...audio, ...subtitles].find(rendition => rendition.id === id);
        return `${kind[0].toUpperCase()}${kind.slice(1)} ${rendition?.name || id.replace(`${kind}-`, "")}`;
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
            ...(isPhone && {copy: false, later: false, remove: false, manage: false, details: false}),
        };
        setText(this.buttons.add.querySelector("span"), this.asset.download === undefined ? "Download" : "Add tracks");
        for (const [name, control] of Object.entries(this.buttons)) {
            const isShown = shown[name] !== false;
            // The focus moves from a hidden button to another one, instead of to the top of the page.
            if (!isShown && document.activeElement === control) this.focusBehind(name);
            control.hidden = !isShown;
            setAttribute(control, "aria-label", `${control.textContent} ${this.called}`);
        }
    }

    focusBehind(name) {
        const other = {pause: "resume", resume: "pause", cancel: "resume"}[name];
        const next = other && this.buttons[other];
        if (next) next.hidden = false;
        (next || (isPhone ? this.heading : this.buttons.details)).focus();
    }

    updatePicture() {
        if (this.asset.artwork === this.shownArtwork && this.face.hasChildNodes()) return;
        this.shownArtwork = this.asset.artwork;
        const letters = [...this.called.trim()].slice(0, 1).join("").toUpperCase();
        this.face.replaceChildren(el("span", {class: "letter"}, letters || "?"));
        if (this.isKnown) this.loadArtwork();
        this.picture.dataset.tone = String([...this.asset.id].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)) % 997, 7) % 6);
    }

    /** Shows on the picture how much was seen, or how much of a download is there. */
    updateProgress() {
        const {position, duration} = this.asset;
        const isLoading = ["queued", "running", "waiting", "paused"].includes(this.download?.state);
        const share = isLoading ? this.download.fraction : position && duration ? position / duration : 0;
        this.progress.hidden = !share;
        this.progress.value = Math.min(1, share || 0);
        this.progress.classList.toggle("loading", isLoading);
    }

    /** True if a user is working in the row, so that it must stay. */
    get isBusy() { return this.isLeaving || this.extra.hasChildNodes() || this.element.contains(document.activeElement); }

    /**
     * Called when the row enters or leaves the view. After `glance` milliseconds in view, its costly details are
     * loaded.
     */
    come(isVisible, glance) {
        clearTimeout(this.coming);
        if (isVisible && !this.isKnown) this.coming = setTimeout(() => this.seen(), glance);
    }

    seen() {
        this.isKnown = true;
        this.loadArtwork();
        if (this.asset.parts) return;
        const known = new Set((this.download?.parts || []).map(part => part.id));
        if (storedParts(this.asset).some(part => part.isGuess && !known.has(part.id))) this.list.refresh(this.asset.name);
    }

    /** Loads the asset's image, or one of its pictures. */
    async loadArtwork() {
        const {artwork, stored, isLive, tracks} = this.asset;
        const hasFilm = stored !== "not-stored" && !isLive && tracks.variants.some(({height}) => height);
        if (!artwork && !hasFilm) return;
        const turn = this.pictures = (this.pictures || 0) + 1;
        try {
            const url = URL.createObjectURL(await api.poster(this.asset.name));
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

    // MARK: Actions

    /** Shows an error at the action that failed. */
    complain(error) {
        this.extra.replaceChildren(el("p", {class: "trouble", role: "alert"}, words(error)));
    }

    async copy() {
        const command = mpv(entry(this.asset.name));
        const control = this.buttons.copy.querySelector("span");
        if (await copy(command)) {
            setText(control, "Copied");
            setTimeout(() => setText(control, "Copy mpv command"), 2000);
        } else {
            this.extra.replaceChildren(el("p", {class: "command"}, el("code", {}, command)));
        }
    }

    async change(what) {
        try {
            const download = await api.change(this.download?.id ?? this.asset.download, what);
            this.list.started(download);
        } catch (error) {
            this.complain(error);
        }
    }

    async choose() {
        const order = {source: this.asset.name};
        const {explanation} = await api.explain(order).catch(() => ({}));
        const form = chooser({
            tracks: this.asset.tracks, explanation, order, title: this.called,
            started: download => {
                this.extra.replaceChildren();
                this.buttons.add.focus();
                this.list.started(download);
            },
            closed: () => {
                this.extra.replaceChildren();
                this.buttons.add.focus();
            },
        });
        this.closeDetails();
        this.extra.replaceChildren(form);
        form.querySelector("input, button").focus();
    }

    async record() {
        try {
            this.list.started(await api.download({source: this.asset.name, record: true}));
            say(`The recording of ${this.called} has begun.`);
        } catch (error) {
            this.complain(error);
        }
    }

    recordLater() {
        const form = recordLater({source: this.asset.name}, this.called, () => {
            this.extra.replaceChildren();
            this.buttons.later.focus();
        });
        this.closeDetails();
        this.extra.replaceChildren(form);
        form.querySelector("input").focus();
    }

    manage() {
        const forms = manager(this.asset, this.called, {
            changed: asset => this.list.changed({id: asset.id, asset: asset.name}),
            pictured: asset => {
                this.shownArtwork = undefined;
                this.face.replaceChildren();
                this.asset = {...this.asset, artwork: asset.artwork};
                this.updatePicture();
            },
            closed: () => {
                this.extra.replaceChildren();
                this.buttons.manage.focus();
            },
        });
        this.closeDetails();
        this.extra.replaceChildren(forms);
        forms.querySelector("input").focus();
    }

    toggleDetails() {
        if (this.details) return this.closeDetails();
        this.details = new Details(this.asset);
        this.buttons.details.setAttribute("aria-expanded", "true");
        this.extra.replaceChildren(this.details.element);
    }

    closeDetails() {
        this.buttons.details.setAttribute("aria-expanded", "false");
        this.details = undefined;
        this.extra.replaceChildren();
    }

    // MARK: Deletion

    /** Waits before deleting, because a deletion cannot be undone. Leaving the page meanwhile cancels it. */
    remove() {
        let left = REGRET;
        const seconds = el("span", {"aria-hidden": "true"}, ` (${left})`);
        const undo = el("button", {type: "button", class: "primary"}, "Undo", seconds);
        const bytes = Math.max(this.asset.bytes, this.download?.bytes || 0);
        const text = ` will be deleted in ten seconds, which frees ${size(bytes)}. If you leave this page before, it is kept.`;
        const notice = el("div", {class: "undo"}, el("p", {}, icon("remove"), el("strong", {}, el("bdi", {}, this.called)), text), undo);
        const timer = setInterval(() => {
            left -= 1;
            setText(seconds, ` (${left})`);
            if (left > 0) return;
            stop();
            this.removeNow(undo);
        }, 1000);
        const stop = () => {
            clearInterval(timer);
            this.isLeaving = false;
        };
        undo.addEventListener("click", () => {
            stop();
            this.element.replaceChildren(this.body);
            this.buttons.remove.focus();
            say(`${this.called} is kept.`);
        });
        this.isLeaving = true;
        this.element.replaceChildren(notice);
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
            this.complain(error);
        }
    }
}

/** The stored part of each track, from a list's data. The holes of incomplete tracks are not known yet. */
function storedParts({tracks, duration = 0}) {
    return Object.entries({video: tracks.variants, audio: tracks.audio, subtitles: tracks.subtitles}).flatMap(([kind, all]) =>
        unique(all).filter(track => track.stored !== "not-stored").map(({id, isComplete: isWhole}) => {
            const [isComplete, all] = [isWhole && duration > 0, duration > 0 ? [[0, duration]] : []];
            return {id, kind, expected: all, loaded: isComplete ? all : [], isComplete, isGuess: !isComplete};
        }));
}

const stored = tracks => {
    const some = tracks.filter(track => track.stored !== "not-stored");
    return some.length ? some : undefined;
};

/** Removes repeated tracks: several lines of a playlist may name one track. */
function unique(tracks) {
    const seen = new Set();
    return tracks.filter(track => track.id !== undefined && !seen.has(track.id) && seen.add(track.id));
}
