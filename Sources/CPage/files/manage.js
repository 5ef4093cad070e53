// The forms that change an asset: its names, its picture, how long it is kept, and the header fields for its origin; and its export.

import {api, words as sentence} from "./api.js";
import {button, el, say, select} from "./dom.js";
import {localDay, plural, size} from "./words.js";

let count = 0;

export function manager(asset, called, {changed, pictured, closed}) {
    return el("div", {class: "manager", role: "group", "aria-label": `Manage ${called}`},
        names(asset, changed), picture(asset, pictured), keeping(asset, changed), !asset.isImported && fields(asset, changed),
        el("div", {class: "actions"}, button("cancel", "Close", `Close the forms of ${called}`, closed)));
}

/** A form with a legend and a button for each word. `send(form, word)` resolves with the sentence that is shown. */
export function form(legend, words, send, ...content) {
    const result = el("p", {class: "note", role: "status"});
    const buttons = [words].flat().map(word => el("button", {type: "submit"}, word));
    const element = el("form", {class: "manage", async onsubmit(event) {
        event.preventDefault();
        for (const submit of buttons) submit.disabled = true;
        try {
            result.className = "note";
            result.textContent = await send(element.elements, (event.submitter || buttons[0]).textContent);
            say(result.textContent);
        } catch (error) {
            result.className = "trouble";
            result.textContent = sentence(error);
        } finally {
            for (const submit of buttons) submit.disabled = false;
        }
    }}, el("fieldset", {}, el("legend", {}, legend), el("div", {class: "fields"}, ...content), el("div", {class: "choices"}, ...buttons), result));
    return element;
}

export function field(name, label, input, hint) {
    const id = `manage-${++count}`;
    input.id = id;
    input.name = name;
    if (hint) input.setAttribute("aria-describedby", `${id}-hint`);
    return el("div", {class: "field"}, el("label", {for: id}, label), input, hint && el("p", {class: "note", id: `${id}-hint`}, hint));
}

export const line = (value, more) => el("input", {type: "text", autocomplete: "off", dir: "auto", value, ...more});

function names(asset, changed) {
    return form("Names", "Save names", async fields => {
        const change = {};
        for (const key of ["name", "title", "note"]) {
            const text = fields[key].value.trim();
            if (text !== (asset[key] || "")) change[key] = text;
        }
        if (Object.keys(change).length === 0) return "Nothing has changed.";
        asset = await api.edit(asset.id, change);
        changed(asset);
        return `Saved: players find it at /${asset.name}.m3u8.`;
    },
    field("title", "Title", line(asset.title || "", {maxlength: 500})),
    field("name", "Name", line(asset.name, {required: true, spellcheck: "false"}), "In commands, and in the URL for players."),
    field("note", "Description", line(asset.note || "", {maxlength: 2000})));
}

const LARGEST = 4 << 20;

function picture(asset, pictured) {
    const took = changed => {
        const [set, remove] = element.querySelectorAll("button");
        remove.hidden = !changed.artwork;
        // Both are enabled again a moment later.
        if (remove.hidden) setTimeout(() => set.focus());
        pictured(changed);
    };
    const element = form("Picture", ["Set picture", "Remove picture"], async ({picture}, word) => {
        const [file] = picture.files;
        if (word === "Remove picture") {
            took(await api.edit(asset.id, {artwork: ""}));
            return "Removed.";
        }
        if (!file) return "Choose a file first. Nothing was changed.";
        if (file.size > LARGEST) return `${file.name} is larger than ${size(LARGEST)}. Nothing was changed.`;
        took(await api.setArtwork(asset.id, file));
        picture.value = "";
        return "Saved: lists show it.";
    },
    field("picture", "File", el("input", {type: "file", accept: "image/jpeg,image/png,image/webp"}), `A JPEG, PNG or WebP image of at most ${size(LARGEST)}.`));
    element.querySelectorAll("button")[1].hidden = !asset.artwork;
    return element;
}

function keeping(asset, changed) {
    let policy = asset.storage?.policy || {};
    const hours = policy.afterFirstPlay ? String(Math.max(1, Math.round(policy.afterFirstPlay / 3600))) : "";
    return form("Keeping", "Save policy", async ({expires, after, priority}) => {
        policy = {...policy, priority: priority.value,
            expires: expires.value ? Math.floor(new Date(`${expires.value}T23:59:59`).getTime() / 1000) : undefined,
            afterFirstPlay: after.value ? Math.round(Number(after.value) * 3600) : undefined};
        changed(await api.setPolicy(asset.id, policy));
        return policy.expires || policy.afterFirstPlay ? "Saved: after that time it does not play, and is deleted when space is needed." : "Saved: it does not expire.";
    },
    field("expires", "Plays until", el("input", {type: "date", value: policy.expires ? localDay(new Date(policy.expires * 1000)) : ""}), "Empty for ever."),
    field("after", "Hours after the first play", el("input", {type: "number", min: 1, max: 87600, value: hours}), "Empty for ever."),
    field("priority", "If the disk is full", select([["default", "delete it in turn"], ["important", "delete others first"]], {}, policy.priority)));
}

function fields(asset, changed) {
    return form("Header fields for its origin", "Replace header fields", async ({headers}) => {
        const lines = headers.value.split("\n").map(text => text.trim()).filter(Boolean);
        const all = lines.map(text => text.match(/^([^:]*[^:\s])\s*:\s*(.*)$/)?.slice(1));
        const wrong = all.indexOf(undefined);
        if (wrong >= 0) return `Line ${wrong + 1} is not in the form “Name: value”. Nothing was changed.`;
        changed(await api.edit(asset.id, {headers: all.map(([name, value]) => ({name, value}))}));
        headers.value = "";
        return all.length ? `Saved: ${plural(all.length, "header field")}, in place of the former ones.` : "Saved: it has no header fields any more.";
    },
    field("headers", "One on each line", el("textarea", {rows: 3, spellcheck: "false", placeholder: "Referer: https://example.com/"}),
        "They replace all that it has. Present ones are not shown, because they may be secrets."));
}

const endings = [[".mkv", "Matroska (.mkv)"], [".mp4", "MP4 (.mp4)"], [".ts", "MPEG-TS, without text (.ts)"], [".mka", "sound alone (.mka)"],
    [".srt", "subtitles alone (.srt)"], ["", "a folder of plain HLS"], [".tar", "that folder in one file (.tar)"]];

/** The folder of the last export is proposed for the next one. */
const FOLDER = "weir-export";

export function exporter(asset, called, closed) {
    const element = form(`Export ${called}`, "Export", async ({folder, name, ending}) => {
        const parent = folder.value.trim().replace(/\/+$/, "");
        const path = `${parent}/${name.value.trim()}${ending.value}`;
        const done = await api.export(asset.id, ending.value ? {path} : {path, format: "folder"});
        localStorage.setItem(FOLDER, parent);
        const left = done.shortfalls?.length ? ` Not all of it: ${done.shortfalls.map(({message}) => message).join("; ")}.` : "";
        return `Written to ${(done.paths || [done.path]).join(", ")}: ${size(done.bytes)}.${left}`;
    },
    field("folder", "Folder", line(localStorage.getItem(FOLDER) || "", {required: true, spellcheck: "false", placeholder: "/home/me/Videos"}),
        "On the machine where Weir runs."),
    field("name", "Name", line(asset.name, {required: true, spellcheck: "false"}), "Nothing that exists is replaced."),
    field("ending", "As", select(endings, {}, ".mkv")));
    return el("div", {class: "planner"}, element, el("div", {class: "actions"}, button("cancel", "Close", `Close the export of ${called}`, closed)));
}
