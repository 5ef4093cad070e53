// Playback in the page, for browsers that play HLS themselves.

import {isPhone, mpv} from "./api.js";
import {button, el, say} from "./dom.js";

const HLS = "application/vnd.apple.mpegurl";

/** Opens a player for a path of the daemon. Restores the focus when it closes. */
export function play(path, title) {
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
    dialog.addEventListener("close", () => {
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
