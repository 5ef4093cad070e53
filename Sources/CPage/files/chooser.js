// The choice of tracks to download from a stream.

import {api, words} from "./api.js";
import {button, el, say} from "./dom.js";
import {quality, size, stateWords, trackLayout, variantFacts} from "./words.js";

let count = 0;

/**
 * A form for the tracks of a stream.
 *
 * - `tracks`: as in the API; `explanation`: what a download without further words would take, as in the API; `order`: a `source`, which is a URL or a name, with what else the download has;
 *   `started(download)`: called when a download has begun; `closed()`: called when the form is cancelled; `play`: plays the stream
 *   instead, if possible.
 */
export function chooser({tracks, explanation, order, title, started, closed, play}) {
    const group = `choice-${++count}`;
    const trouble = el("p", {class: "trouble", role: "alert", hidden: true});
    const start = el("button", {type: "submit", class: "primary"}, "Download");
    const form = el("form", {class: "chooser", "aria-label": `Tracks of ${title}`, onsubmit: submit},
        variants(tracks.variants, group, explanation), media("Audio", tracks.audio, true, explanation?.selection.audio),
        media("Subtitles", tracks.subtitles, false, explanation?.selection.subtitles), trouble,
        el("div", {class: "actions"}, start, play && button("play", "Play without saving", `Play ${title} without saving`, play),
            button("cancel", "Close", `Close the tracks of ${title}`, closed)));

    const proposed = explanation && JSON.stringify(chosen(form, tracks));

    async function submit(event) {
        event.preventDefault();
        start.disabled = true;
        trouble.hidden = true;
        try {
            // What was not changed is left to the rules by which it was proposed, which tell twins apart.
            const choice = chosen(form, tracks);
            const isProposal = JSON.stringify(choice) === proposed;
            const download = await api.download(isProposal ? order : {...order, ...choice});
            say(`The download of ${title} has begun.`);
            started(download);
        } catch (error) {
            trouble.textContent = words(error);
            trouble.hidden = false;
        } finally {
            start.disabled = false;
        }
    }
    return form;
}

const storedWords = ({stored}) => stored === "not-stored" ? "" : stateWords(stored);

/** One button for each picture, best first. Variants with the same picture differ in their sound, which has boxes of its own. */
function variants(all, group, explanation) {
    const best = explanation && all[explanation.chosen.index];
    const pictures = new Map();
    for (const variant of best ? [best, ...all] : all) if (!pictures.has(variant.id)) pictures.set(variant.id, variant);
    const ordered = [...pictures.values()].sort((a, b) => (b.height || 0) - (a.height || 0) || (b.bandwidth || 0) - (a.bandwidth || 0));
    // Without a proposal of Weir, what is stored is taken, and else the best.
    const proposed = best || ordered.find(variant => variant.isComplete)
        || ordered.find(variant => variant.stored !== "not-stored") || ordered[0];
    return el("fieldset", {}, el("legend", {}, "Video"), ...ordered.map(variant =>
        el("label", {class: "choice"},
            el("input", {type: "radio", name: group, value: variant.id, checked: variant === proposed, "data-kind": "variant"}),
            el("span", {class: "choice-name"}, quality(variant)),
            el("span", {class: "choice-facts"}, variantFacts(variant)),
            el("span", {class: "choice-size"},
                storedWords(variant) || (variant.estimatedBytes ? `about ${size(variant.estimatedBytes)}` : "size not known")))));
}

/** One box for each language. Without languages, only a player's default choice is available. */
function media(legend, renditions, isSound, proposed) {
    const isProposed = new Set((proposed || []).map(({language}) => language?.toLowerCase()));
    const languages = new Map();
    for (const rendition of renditions) {
        if (!rendition.language) continue;
        const tag = rendition.language.toLowerCase();
        const known = languages.get(tag) || {names: [], layouts: [], isDefault: false, stored: rendition.stored};
        if (!known.names.includes(rendition.name)) known.names.push(rendition.name);
        const layout = trackLayout(rendition);
        if (layout && !known.layouts.includes(layout)) known.layouts.push(layout);
        known.isDefault ||= rendition.isDefault;
        languages.set(tag, known);
    }
    if (languages.size === 0) return undefined;
    const kind = isSound ? "audio" : "subtitles";
    return el("fieldset", {}, el("legend", {}, legend), ...[...languages].map(([tag, {names, layouts, isDefault, stored}]) =>
        el("label", {class: "choice"}, el("input", {type: "checkbox", value: tag, checked: proposed ? isProposed.has(tag) : isSound && isDefault, "data-kind": kind}),
            el("span", {class: "choice-name"}, el("bdi", {}, names.join(", "))), el("span", {class: "choice-facts"}, [tag, ...layouts].join(" · ")),
            el("span", {class: "choice-size"}, storedWords({stored})))));
}

/** The choice in the API's form. */
function chosen(form, tracks) {
    const checked = kind => [...form.querySelectorAll(`input[data-kind=${kind}]`)].filter(input => input.checked).map(input => input.value);
    const has = kind => form.querySelector(`input[data-kind=${kind}]`) !== null;
    const order = {
        audio: has("audio") ? checked("audio").join(",") || "none" : "default",
        subtitles: has("subtitles") ? checked("subtitles").join(",") || "none" : "none",
    };
    const variant = tracks.variants.find(variant => variant.id === checked("variant")[0]);
    // A minimum equal to the variant's own bandwidth selects the variant itself.
    if (variant?.bandwidth && tracks.variants.length > 1) order.quality = `${variant.bandwidth / 1000}k`;
    return order;
}
