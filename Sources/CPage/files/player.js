// Playback in the page: by the browser's own HLS, or else by hls.js where that is installed.

import {api, choosing, isPhone, mpv, subtitleFile, words} from "./api.js";
import {button, el, say, select} from "./dom.js";
import {quality, stateWords, time} from "./words.js";

const HLS = "application/vnd.apple.mpegurl";
/** The path of hls.js on the daemon; empty where it is not installed. */
const library = document.querySelector("meta[name=weir-player]")?.content ?? "";

const NOTING = 15_000;
const STEP = 10;

/** Opens a player for a path of the daemon. An asset begins where it was left, and its tracks can be chosen. */
export function play(path, title, asset) {
    const notice = el("div", {class: "notice", hidden: true});
    const complain = sentence => {
        const command = mpv(path);
        const place = isPhone ? "In a player's app:" : "In a terminal:";
        notice.replaceChildren(el("p", {role: "alert"}, sentence), el("p", {class: "command"}, place, el("code", {}, command),
            button("copy", "Copy", isPhone ? "Copy the address" : "Copy the mpv command", () => copy(command))));
        notice.hidden = false;
    };
    const video = el("video", {controls: true, playsinline: true, autofocus: true, "aria-label": title});
    const source = new Source(video, complain);
    const dialog = el("dialog", {class: "player", "aria-label": `Player: ${title}`},
        el("div", {class: "dialog-head"}, el("h2", {}, el("bdi", {}, title)),
            asset && !isPhone && button("outside", "Open in a player", "Open in mpv, or the player of your settings", () => playOutside(asset, dialog, complain)),
            button("cancel", "Close", "Close the player", () => dialog.close())),
        video, asset && choices(video, source, path, asset, notice), notice);
    const leave = asset && !asset.isLive && !isPhone ? goOn(video, asset, notice) : () => {};
    dialog.addEventListener("keydown", event => steer(event, video));
    dialog.addEventListener("close", () => {
        leave();
        source.end();
        dialog.remove();
    });
    document.body.append(dialog);
    source.play(path);
    dialog.showModal();
}

class Source {
    constructor(video, complain) {
        [this.video, this.complain] = [video, complain];
        video.addEventListener("error", () => {
            if (video.hasAttribute("src") && !this.player) complain(`This browser could not play it (${video.error?.message || "no reason given"}).`);
        });
    }

    async play(path, at) {
        const {video} = this;
        this.player?.destroy();
        this.player = undefined;
        if (at) video.addEventListener("loadedmetadata", () => { video.currentTime = at; }, {once: true});
        if (video.canPlayType(HLS)) {
            video.src = path;
        } else if (!await this.playByLibrary(path)) {
            video.hidden = true;
            const way = isPhone ? "" : "; so can any browser with hls.js, whose file the key page-player names";
            return this.complain(`This browser cannot play HLS. Chromium 142 or later and Safari can${way}.`);
        }
        video.play().catch(() => {});
    }

    async playByLibrary(path) {
        const Player = library && await load();
        if (!Player || !Player.isSupported()) return false;
        // Subtitles are files of their own here, and the page's rules allow no workers.
        const player = new Player({enableWorker: false, renderTextTracksNatively: false});
        player.on(Player.Events.ERROR, (_, {fatal, details}) => { if (fatal) this.complain(`hls.js could not play it (${details}).`); });
        player.loadSource(path);
        player.attachMedia(this.video);
        this.player = player;
        return true;
    }

    end() {
        this.video.pause();
        this.player?.destroy();
        this.video.removeAttribute("src");
        this.video.load();
    }
}

/** Loads hls.js, which is a module or a script by its file. Undefined if it cannot be loaded. */
async function load() {
    try {
        return (await import(library)).default ?? globalThis.Hls;
    } catch {
        return undefined;
    }
}

async function playOutside(asset, dialog, complain) {
    try {
        await api.play(asset.id);
        say("The player starts.");
        dialog.close();
    } catch (error) {
        complain(words(error));
    }
}

/** The choices of quality, sound, subtitles and chapters; a kind of which there is one only has none. */
function choices(video, source, path, asset, notice) {
    const {variants, audio, subtitles, chapters = []} = asset.tracks;
    const chosen = {};
    const reopen = () => source.play(choosing(path, chosen), video.currentTime);
    const choose = key => event => {
        if (event.target.value) chosen[key] = event.target.value;
        else delete chosen[key];
        reopen();
    };
    const distinct = (tracks, key) => [...new Map(tracks.filter(key).map(track => [key(track), track])).values()];
    const heights = distinct(variants, ({height}) => height).sort((a, b) => b.height - a.height);
    const spoken = distinct(audio, ({language}) => language?.toLowerCase());
    const texts = subtitles.filter(({id}) => id);
    const show = event => showSubtitles(video, asset, texts.find(({id}) => id === event.target.value), notice);
    const row = el("div", {class: "player-choices"},
        heights.length > 1 && choice("Quality", [["", "Automatic"], ...heights.map(track => [quality(track), described(quality(track), track)])], choose("quality")),
        spoken.length > 1 && choice("Sound", [["", "As the stream says"], ...spoken.map(track => [track.language, described(track.name, track)])], choose("audio")),
        texts.length > 0 && choice("Subtitles", [["", "Off"], ...texts.map(track => [track.id, described(track.name, track)])], show));
    if (chapters.length > 0) addChapters(row, video, asset, chapters.at(-1));
    return row;
}

const described = (name, {stored}) => stored === "not-stored" ? name : `${name}, ${stateWords(stored)}`;

function choice(name, options, onchange) {
    return el("label", {}, el("span", {}, name), select(options, {onchange}));
}

function showSubtitles(video, asset, track, notice) {
    for (const other of video.querySelectorAll("track[kind=subtitles]")) other.remove();
    if (!track) return;
    addTrack(video, asset, track, {kind: "subtitles", srclang: track.language, label: track.name, default: true, onerror() {
        notice.replaceChildren(el("p", {role: "alert"}, `The subtitles ${track.name} cannot be had.`));
        notice.hidden = false;
    }}).mode = "showing";
}

function addChapters(row, video, asset, track) {
    const chapters = addTrack(video, asset, track, {kind: "chapters", onload() {
        const cues = [...chapters.cues];
        row.append(choice("Chapter", [["", "Go to a chapter"], ...cues.map(cue => [cue.startTime, `${time(cue.startTime)} ${cue.getCueAsHTML().textContent}`])], ({target}) => {
            if (target.value) video.currentTime = Number(target.value);
            target.value = "";
        }));
    }});
    chapters.mode = "hidden";
}

function addTrack(video, asset, {id}, more) {
    const element = el("track", {src: subtitleFile(asset.name, id), ...more});
    video.append(element);
    return element.track;
}

/** Keys as in other players: k, j, l, the arrows, f, m and c. A field keeps its own. */
function steer(event, video) {
    if (event.altKey || event.ctrlKey || event.metaKey || event.target.closest("select, input")) return;
    const steps = {j: -STEP, l: STEP, ArrowLeft: -STEP, ArrowRight: STEP};
    const [texts] = [...video.textTracks].filter(({kind}) => kind === "subtitles");
    const acts = {
        k: () => video.paused ? video.play().catch(() => {}) : video.pause(),
        f: () => document.fullscreenElement ? document.exitFullscreen() : video.requestFullscreen().catch(() => {}),
        m: () => { video.muted = !video.muted; },
        c: () => { if (texts) texts.mode = texts.mode === "showing" ? "hidden" : "showing"; },
    };
    if (event.key in steps) video.currentTime = Math.max(0, video.currentTime + steps[event.key]);
    else if (event.key in acts) acts[event.key]();
    else return;
    event.preventDefault();
}

/** Begins where the asset was left, and notes where it is. Returns a function that notes it once more. */
function goOn(video, asset, notice) {
    let noted = 0;
    const note = () => {
        noted = Date.now();
        if (video.readyState > 0) api.setPosition(asset.id, video.currentTime).catch(() => {});
    };
    if (asset.position) {
        video.addEventListener("loadedmetadata", () => { video.currentTime = asset.position; }, {once: true});
        notice.replaceChildren(el("p", {}, `Goes on at ${time(asset.position)}.`),
            button("play", "Start over", "Play from the beginning", () => { video.currentTime = 0; notice.hidden = true; }));
        notice.hidden = false;
    }
    video.addEventListener("timeupdate", () => { if (Date.now() - noted > NOTING) note(); });
    video.addEventListener("pause", note);
    return note;
}

export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        say(`Copied: ${text}`);
        return true;
    } catch {
        say(`Copying failed. The text is: ${text}`);
        return false;
    }
}
