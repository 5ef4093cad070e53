// The forms that change an asset: its names, how long it is kept, the header fields for its origin, and its export.

import {api, words as sentence} from "./api.js";
import {button, el, say} from "./dom.js";
import {plural, size} from "./words.js";

let count = 0;

/** The forms. `changed()` is called after a change; `pictured()` after one of the picture; `closed()` when they are closed. */
export function manager(asset, called, {changed, pictured, closed}) {
    return el("div", {class: "manager", role: "group", "aria-label": `Manage ${called}`},
        names(asset, changed), picture(asset, pictured), keeping(asset, changed), !asset.isImported && fields(asset, changed), exporting(asset),
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
    return form("Names", "Save names", async ({name, title, note}) => {
        const change = {};
        if (name.value.trim() !== asset.name) change.name = name.value.trim();
        if (title.value.trim() !== (asset.title || "")) change.title = title.value.trim();
        if (note.value.trim() !== (asset.note || "")) change.note = note.value.trim();
        if (Object.keys(change).length === 0) return "Nothing has changed.";
        asset = await api.edit(asset.id, change);
        changed(asset);
        return `Saved: players find it at /${asset.name}.m3u8.`;
    },
    field("title", "Title", line(asset.title || "", {maxlength: 500})),
    field("name", "Name", line(asset.name, {required: true, spellcheck: "false"}), "In commands, and in the URL for players."),
    field("note", "Description", line(asset.note || "", {maxlength: 2000})));
}

/** Largest picture in bytes, as the API's. */
const LARGEST = 4 << 20;

function picture(asset, pictured) {
    const [set, remove] = ["Set picture", "Remove picture"];
    const took = changed => {
        const [setting, removing] = element.querySelectorAll("button");
        removing.hidden = !changed.artwork;
        // Both are enabled again a moment later.
        if (removing.hidden) setTimeout(() => setting.focus());
        pictured(changed);
    };
    const element = form("Picture", [set, remove], async ({picture}, word) => {
        const [file] = picture.files;
        if (word === remove) {
            took(await api.edit(asset.id, {artwork: ""}));
            return "Removed: the first letter of the title is shown instead.";
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

/** The date of a time in the user's time zone, as a date field has it. */
function day(seconds) {
    const date = new Date(seconds * 1000);
    return `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, "0")}-${String(date.getDate()).padStart(2, "0")}`;
}

function keeping(asset, changed) {
    let policy = asset.storage?.policy || {};
    const hours = policy.afterFirstPlay ? String(Math.max(1, Math.round(policy.afterFirstPlay / 3600))) : "";
    const option = (value, word) => el("option", {value, selected: (policy.priority || "default") === value}, word);
    return form("Keeping", "Save policy", async ({expires, after, priority}) => {
        policy = {...policy, priority: priority.value,
            expires: expires.value ? Math.floor(new Date(`${expires.value}T23:59:59`).getTime() / 1000) : undefined,
            afterFirstPlay: after.value ? Math.round(Number(after.value) * 3600) : undefined};
        changed(await api.setPolicy(asset.id, policy));
        return policy.expires || policy.afterFirstPlay ? "Saved: after that time it does not play, and is deleted when space is needed." : "Saved: it does not expire.";
    },
    field("expires", "Plays until", el("input", {type: "date", value: policy.expires ? day(policy.expires) : ""}), "Empty for ever."),
    field("after", "Hours after the first play", el("input", {type: "number", min: 1, max: 87600, value: hours}), "Empty for ever."),
    field("priority", "If the disk is full", el("select", {}, option("default", "delete it in turn"), option("important", "delete others first"))));
}

function fields(asset, changed) {
    return form("Header fields for its origin", "Replace header fields", async ({headers}) => {
        const lines = headers.value.split("\n").map(text => text.trim()).filter(Boolean);
        const all = lines.map(text => [text.slice(0, text.indexOf(":")).trim(), text.slice(text.indexOf(":") + 1).trim(), text.includes(":")]);
        const wrong = all.findIndex(([name, , isField]) => !isField || name === "");
        if (wrong >= 0) return `Line ${wrong + 1} is not in the form “Name: value”. Nothing was changed.`;
        changed(await api.edit(asset.id, {headers: all.map(([name, value]) => ({name, value}))}));
        headers.value = "";
        return all.length ? `Saved: ${plural(all.length, "header field")}, in place of the former ones.` : "Saved: it has no header fields any more.";
    },
    field("headers", "One on each line", el("textarea", {rows: 3, spellcheck: "false", placeholder: "Referer: https://example.com/"}),
        "They replace all that it has. Present ones are not shown, because they may be secrets."));
}

function exporting(asset) {
    const option = (value, word) => el("option", {value}, word);
    return form("Export", "Export", async ({path, format}) => {
        const done = await api.export(asset.id, {path: path.value.trim(), ...(format.value && {format: format.value})});
        const left = done.shortfalls?.length ? ` Not all of it: ${done.shortfalls.map(({message}) => message).join("; ")}.` : "";
        return `Written to ${done.path}: ${size(done.bytes)}.${left}`;
    },
    field("path", "Path", line("", {required: true, spellcheck: "false", placeholder: `/home/me/${asset.name}.mp4`}),
        "An absolute path on the machine of the daemon, where nothing exists yet."),
    field("format", "Format", el("select", {}, option("", "by the ending of the path"), option("folder", "folder of plain HLS"), option("tar", "tar"),
        option("mp4", "MP4"), option("mkv", "Matroska"), option("ts", "MPEG-TS"))));
}
