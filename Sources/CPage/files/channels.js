// The user's channel lists, what they have, and recordings at their time.

import {api, entry, words} from "./api.js";
import {button, el, say, setText} from "./dom.js";
import {field, form, line} from "./manage.js";
import {play} from "./player.js";
import {date, plural} from "./words.js";

/** Number of channels that a search shows, and milliseconds from a letter to the search. */
const [SHOWN, PAUSE] = [20, 250];

const section = document.getElementById("channels");
const plans = {panel: document.getElementById("plans"), rows: el("ul", {class: "rows"})};
const lists = {panel: document.getElementById("lists"), rows: el("ul", {class: "rows"})};
const find = el("input", {type: "search", "aria-label": "Find a channel", placeholder: "Find a channel", autocomplete: "off"});
const [count, found] = [el("p", {class: "count", role: "status"}), el("ul", {class: "rows"})];
const search = el("div", {class: "tools", hidden: true}, find);

/** Fills the section. Calls `started(download)` when a recording has begun. */
export function prepareChannels(started) {
    const adding = form("Add a channel list", "Add list", async ({url}) => {
        const {name, channels} = await addList({url: url.value.trim()});
        url.value = "";
        return `${name} is added: ${plural(channels, "channel")}.`;
    }, field("url", "URL of an M3U list", el("input", {type: "url", required: true, autocomplete: "off", spellcheck: "false", maxlength: 8000, placeholder: "https://…/channels.m3u"}),
        "It is read again twice a day."));
    plans.panel.append(plans.rows);
    lists.panel.append(lists.rows, search, count, found, adding);
    let timer;
    find.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(() => look(started), PAUSE);
    });
    section.hidden = false;
}

/** Loads the lists and the planned recordings. */
export async function refreshChannels() {
    const [all, planned] = await Promise.all([api.lists(), api.recordings()]);
    show(lists, all.map(list => ({key: list.name, value: list})), listRow);
    show(plans, planned.map(plan => ({key: plan.name, value: plan})), planRow);
    setText(lists.panel.querySelector("summary"), all.length ? `Channel lists (${all.length})` : "Channel lists");
    setText(plans.panel.querySelector("summary"), `Planned recordings (${planned.length})`);
    plans.panel.hidden = planned.length === 0;
    if (planned.some(({problem}) => problem)) plans.panel.open = true;
    search.hidden = !all.some(({channels}) => channels > 0);
}

/** Adds a list, and shows it. */
export async function addList(order) {
    const list = await api.addList(order);
    await refreshChannels();
    lists.panel.open = true;
    return list;
}

/** Replaces the rows that have changed. One with an open form stays. */
function show({rows}, items, make) {
    const known = new Map([...rows.children].map(row => [row.dataset.name, row]));
    rows.replaceChildren(...items.map(({key, value}) => {
        const [row, mark] = [known.get(key), JSON.stringify(value)];
        if (row && (row.dataset.mark === mark || row.querySelector("form"))) return row;
        const made = make(value);
        Object.assign(made.dataset, {name: key, mark});
        return made;
    }));
}

/** A row with a name, its facts, a sentence about a problem, and its actions, each of which gets the place for what it opens. */
function row(called, facts, problem, ...actions) {
    const extra = el("div", {class: "extra"});
    return el("li", {class: "row"}, el("h3", {}, el("bdi", {}, called)), el("p", {class: "facts"}, facts),
        problem && el("p", {class: "trouble"}, `${problem[0].toUpperCase()}${problem.slice(1)}.`),
        el("div", {class: "actions"}, ...actions.map(([picture, word, act]) => {
            const control = button(picture, word, `${word} ${called}`, async () => {
                control.disabled = true;
                try {
                    await act(extra, control);
                } catch (error) {
                    extra.replaceChildren(el("p", {class: "trouble", role: "alert"}, words(error)));
                } finally {
                    control.disabled = false;
                }
            });
            return control;
        })), extra);
}

/** Asks before what cannot be undone. */
function confirm(extra, control, question, word, act) {
    const close = () => { extra.replaceChildren(); control.focus(); };
    const sure = el("button", {type: "button", class: "primary", async onclick() {
        sure.disabled = true;
        try {
            await act();
        } catch (error) {
            extra.replaceChildren(el("p", {class: "trouble", role: "alert"}, words(error)));
        }
    }}, word);
    extra.replaceChildren(el("p", {}, question), el("div", {class: "actions"}, sure, el("button", {type: "button", onclick: close}, "Keep it")));
    sure.focus();
}

// MARK: Lists

function listRow(list) {
    const facts = list.isReading ? "its channels are being read" : [
        plural(list.channels, "channel"), list.hidden && `${list.hidden.toLocaleString("en")} hidden`,
        list.leftOut && `${list.leftOut.toLocaleString("en")} left out, which are no HLS`,
        list.fetched ? `read ${date(list.fetched)}` : "not read yet"].filter(Boolean).join(" · ");
    return row(list.name, `${list.url} · ${facts}`, list.problem && `not read since: ${list.problem}`,
        ["resume", "Read again", async () => {
            try {
                const {channels} = await api.refreshList(list.name);
                say(`${list.name} is read: ${plural(channels, "channel")}.`);
            } finally {
                await refreshChannels();
            }
        }],
        ["remove", "Remove", (extra, control) => confirm(extra, control,
            `Its ${plural(list.channels, "channel")} are listed no more. What is stored of them stays.`, "Remove the list", async () => {
                await api.removeList(list.name);
                say(`${list.name} is removed.`);
                extra.replaceChildren();
                await refreshChannels();
            })]);
}

async function look(started) {
    const text = find.value.trim();
    if (text === "") {
        count.replaceChildren();
        return found.replaceChildren();
    }
    try {
        const {channels, count: all} = await api.channels(text, SHOWN);
        if (text !== find.value.trim()) return;
        setText(count, all > SHOWN ? `The first ${SHOWN} of ${plural(all, "channel")}` : plural(all, "channel"));
        found.replaceChildren(...channels.map(channel => channelRow(channel, started)));
    } catch (error) {
        setText(count, words(error));
    }
}

function channelRow({name, title, group, list}, started) {
    const called = title || name;
    return row(called, [name, group, list].filter(Boolean).join(" · "), undefined,
        ["play", "Play", () => play(entry(name), called)],
        ["resume", "Record", async () => {
            started(await api.download({source: name, record: true}));
            say(`The recording of ${called} has begun.`);
        }],
        ["clock", "Record later", (extra, control) => {
            extra.replaceChildren(recordLater({source: name}, called, () => { extra.replaceChildren(); control.focus(); }));
            extra.querySelector("input").focus();
        }]);
}

// MARK: Planned recordings

const names = {mon: "Monday", tue: "Tuesday", wed: "Wednesday", thu: "Thursday", fri: "Friday", sat: "Saturday", sun: "Sunday"};
const week = Object.keys(names);
const sets = [[week, "every day"], [week.slice(0, 5), "Monday to Friday"], ...week.map(day => [[day], `every ${names[day]}`])];

/** The days of a repeated recording in words. */
const daysOf = days => sets.find(([set]) => set.join() === days.join())?.[1] ?? `every ${days.map(day => names[day] ?? day).join(", ")}`;

function planRow(plan) {
    const {times, begin} = plan;
    const minutes = Math.round((times.seconds || 0) / 60);
    const facts = [plan.channel, times.every ? `${daysOf(times.every)} at ${times.at}` : times.at,
        times.seconds ? `for ${plural(minutes, "minute")}` : times.until ? `until ${times.until}` : "to the end of the broadcast",
        begin ? `next ${date(begin)}` : "", times.keep ? `keeps ${times.keep}` : ""].filter(Boolean).join(" · ");
    const called = plan.title || plan.name;
    return row(called, facts, plan.problem,
        ["manage", "Change", (extra, control) => {
            const close = () => { extra.replaceChildren(); control.focus(); };
            extra.replaceChildren(planner(`Times of ${called}`, "Save times", times, close, async next => {
                await api.changeRecording(plan.name, next);
                close();
                await refreshChannels();
                return "Saved.";
            }));
            extra.querySelector("input").focus();
        }],
        ["cancel", "Cancel", (extra, control) => confirm(extra, control,
            "It records nothing more. What it has recorded stays, and a recording in progress goes on.", "Cancel it", async () => {
                await api.cancelRecording(plan.name);
                say(`${called} is cancelled.`);
                extra.replaceChildren();
                await refreshChannels();
            })]);
}

/** A form that plans recordings of a channel, of which `order` has the source. */
export function recordLater(order, called, closed) {
    return planner(`Record ${called} later`, "Plan recording", {seconds: 3600}, closed, async times => {
        const plan = await api.planRecording({download: order, times});
        await refreshChannels();
        plans.panel.open = true;
        return `${plan.name} is planned${plan.begin ? `: it begins ${date(plan.begin)}` : ""}.`;
    });
}

/** The day and the time of a text such as `2026-12-24 20:15`, or the next full hour. */
function beginning(at) {
    if (at) return at.includes(" ") ? at.split(" ") : ["", at];
    const hour = new Date(Date.now() + 3600_000);
    const two = number => String(number).padStart(2, "0");
    return [`${hour.getFullYear()}-${two(hour.getMonth() + 1)}-${two(hour.getDate())}`, `${two(hour.getHours())}:00`];
}

/** A form for times as in the API. `send(times)` resolves with the sentence that is shown. */
function planner(legend, word, times, closed, send) {
    const [day, clock] = beginning(times.at);
    const chosen = (times.every || []).join();
    const choices = [[[], "once"], ...sets];
    if (!choices.some(([set]) => set.join() === chosen)) choices.push([times.every, daysOf(times.every)]);
    const minutes = seconds => seconds ? Math.round(seconds / 60) : "";
    const number = (value, more) => el("input", {type: "number", min: 0, max: 1440, value, ...more});
    const element = form(legend, word, fields => {
        const text = name => fields[name].value.trim();
        const seconds = name => Number(text(name)) * 60 || undefined;
        const every = text("every") ? text("every").split(",") : undefined;
        if (text("minutes") && text("until")) return "Give its length or its end, and not both. Nothing was changed.";
        return send({
            at: every || !text("day") ? text("clock") : `${text("day")} ${text("clock")}`, every, seconds: seconds("minutes"),
            until: text("until") || undefined, early: seconds("early"), late: seconds("late"), keep: text("keep") || undefined,
        });
    },
    field("clock", "Begins at", el("input", {type: "time", required: true, value: clock})),
    field("every", "Repeated", el("select", {}, ...choices.map(([set, name]) => el("option", {value: set.join(), selected: set.join() === chosen}, name)))),
    field("day", "Day", el("input", {type: "date", value: day}), "If it is not repeated."),
    field("minutes", "Minutes", number(minutes(times.seconds), {min: 1}), "Empty: to the end of the broadcast."),
    field("until", "Or until", el("input", {type: "time", value: times.until || ""})),
    field("early", "Begin minutes earlier", number(minutes(times.early))),
    field("late", "End minutes later", number(minutes(times.late))),
    field("keep", "Keep", line(times.keep || "", {placeholder: "all", pattern: "\\d+d?"}), "The latest 5, or those of 30d."));
    return el("div", {class: "planner"}, element, el("div", {class: "actions"}, button("cancel", "Close", `Close: ${legend}`, closed)));
}
