// Playback in the page, for browsers that play HLS themselves.

import {api, isPhone, mpv} from "./api.js";
import {button, el, say} from "./dom.js";
import {time} from "./words.js";

const HLS = "application/vnd.apple.mpegurl";

/** Milliseconds between two notes of where a film is. */
const NOTING = 15_000;

/**
 * Opens a player for a path of the daemon, where the asset was left. Restores the focus when it closes.
 * - `asset`: notes in it where it is left; undefined for a URL.
 */
export function play(path, title, asset) {
    const command = mpv(path);
    const notice = el("div", {class: "notice", hidden: true});
    const complain = sentence => {
        notice.replaceChildren(el("p", {role: "alert"}, `${sentence} A player can:`), el("p", {class: "command"}, el("code", {}, command),
            button("copy", "Copy", isPhone ? "Copy the address" : "Copy the mpv command", () => copy(command))));
        notice.hidden = false;
    };
    const video = el("video", {controls: true, playsinline: true, "aria-label": title});
    const dialog = el("dialog", {class: "player", "aria-label": `Player: ${title}`},
        el("div", {class: "dialog-head"}, el("h2", {}, el("bdi", {}, title)),
            button("cancel", "Close", "Close the player", () => dialog.close())),
        video, notice);
    const leave = asset && !asset.isLive && !isPhone ? goOn(video, asset, notice) : () => {};
    dialog.addEventListener("close", () => {
        leave();
        video.pause();
        video.removeAttribute("src");
        video.load();
        dialog.remove();
    });
    document.body.append(dialog);
    if (video.canPlayType(HLS)) {
        video.addEventListener("error", () => {
            if (video.hasAttribute("src")) complain(`This browser could not play it (${video.error?.message || "no reason given"}).`);
        });
        video.src = path;
        video.play().catch(() => {});
    } else {
        video.hidden = true;
        complain("This browser cannot play HLS; Chromium 142 or later and Safari can.");
    }
    dialog.showModal();
}

/** Begins where the asset was left, with a way to begin anew, and notes where it is. Returns a function that notes it once more. */
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

/** Copies a text to the clipboard. */
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
