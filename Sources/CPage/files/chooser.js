// The choice of tracks to download from a stream.

import {api, words} from "./api.js";
import {alarm, button, el, say} from "./dom.js";
import {listed, quality, size, stateWords, trackLayout, variantFacts} from "./words.js";

let count = 0;

/** `explanation`: what a download without further words would take; `begun`: called when it began; `play`: plays the stream instead. */
export function chooser({tracks, explanation, order, title, closed, begun = closed, play}) {
    const group = `choice-${++count}`;
    const trouble = el("div");
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
        trouble.replaceChildren();
        try {
            // What was not changed is left to the rules by which it was proposed, which tell twins apart.
            const choice = chosen(form, tracks);
            const isProposal = JSON.stringify(choice) === proposed;
            await api.download(isProposal ? order : {...order, ...choice});
            say(`The download of ${title} has begun.`);
            begun();
        } catch (error) {
            trouble.replaceChildren(alarm(words(error)));
        } finally {
            start.disabled = false;
        }
    }
    return form;
}

const storedWords = ({stored}) => stored === "not-stored" ? "" : stateWords(stored);

/** One button for each picture, best first. The sound, in which variants may differ, has boxes of its own. */
function variants(all, group, explanation) {
    const best = explanation && all[explanation.chosen.index];
    const pictures = new Map();
    for (const variant of best ? [best, ...all] : all) if (!pictures.has(variant.id)) pictures.set(variant.id, variant);
    const ordered = [...pictures.values()].sort((a, b) => (b.height || 0) - (a.height || 0) || (b.bandwidth || 0) - (a.bandwidth || 0));
    // Without a proposal of Weir, what is stored is taken, and else the best.
    const proposed = best || ordered.find(variant => variant.isComplete)
        || ordered.find(variant => variant.stored !== "not-stored") || ordered[0];
    return el("fieldset", {}, el("legend", {}, "Video"), ...ordered.map(variant =>
        choice({type: "radio", name: group, value: variant.id, checked: variant === proposed, "data-kind": "variant"}, quality(variant), variantFacts(variant),
            storedWords(variant) || (variant.estimatedBytes ? `about ${size(variant.estimatedBytes)}` : "size not known"))));
}

function choice(input, name, facts, size) {
    return el("label", {class: "choice"}, el("input", input), el("span", {class: "choice-name"}, el("bdi", {}, name)),
        el("span", {class: "choice-facts"}, facts), el("span", {class: "choice-size"}, size));
}

/** One box for each language. Without languages, only a player's default choice is available. */
function media(legend, renditions, isSound, proposed) {
    const isProposed = new Set((proposed || []).map(({language}) => language?.toLowerCase()));
    const languages = new Map();
    for (const rendition of renditions) {
        if (!rendition.language) continue;
        const tag = rendition.language.toLowerCase();
        const known = languages.get(tag) || {names: new Set(), layouts: new Set(), isDefault: false, stored: rendition.stored};
        known.names.add(rendition.name);
        known.layouts.add(trackLayout(rendition));
        known.isDefault ||= rendition.isDefault;
        languages.set(tag, known);
    }
    if (languages.size === 0) return undefined;
    const kind = isSound ? "audio" : "subtitles";
    return el("fieldset", {}, el("legend", {}, legend), ...[...languages].map(([tag, {names, layouts, isDefault, stored}]) =>
        choice({type: "checkbox", value: tag, checked: proposed ? isProposed.has(tag) : isSound && isDefault, "data-kind": kind},
            [...names].join(", "), listed(tag, ...layouts), storedWords({stored}))));
}

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
