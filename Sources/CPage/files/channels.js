// The user's channel lists, what they have, and recordings at their time.

import {api, entry, words} from "./api.js";
import {alarm, button, byId, Drawer, el, plain, say, select, setText} from "./dom.js";
import {field, form, line} from "./manage.js";
import {play} from "./player.js";
import {capitalized, date, listed, localDay, plural, two} from "./words.js";

/** Number of channels that a search shows, and milliseconds from a letter to the search. */
const [SHOWN, PAUSE] = [20, 250];

const [plans, lists] = [byId("plans"), byId("lists")];
const find = el("input", {type: "search", "aria-label": "Find a channel", placeholder: "Find a channel", autocomplete: "off"});
const [count, found] = [el("p", {class: "count", role: "status"}), el("ul", {class: "rows"})];
const search = el("div", {class: "tools", hidden: true}, find);

export function prepareChannels() {
    const adding = form("Add a channel list", "Add list", async ({url}) => {
        const {name, channels} = await addList({url: url.value.trim()});
        url.value = "";
        return `${name} is added: ${plural(channels, "channel")}.`;
    }, field("url", "URL of an M3U list", el("input", {type: "url", required: true, autocomplete: "off", spellcheck: "false", maxlength: 8000, placeholder: "https://…/channels.m3u"}),
        "It is read again twice a day."));
    plans.append(el("ul", {class: "rows"}));
    lists.append(el("ul", {class: "rows"}), search, count, found, adding);
    let timer;
    find.addEventListener("input", () => {
        clearTimeout(timer);
        timer = setTimeout(look, PAUSE);
    });
    lists.hidden = false;
}

export async function refreshChannels() {
    const [all, planned] = await Promise.all([api.lists(), api.recordings()]);
    show(lists, all, listRow);
    show(plans, planned, planRow);
    setText(lists.querySelector("summary"), all.length ? `Channel lists (${all.length})` : "Channel lists");
    setText(plans.querySelector("summary"), `Planned recordings (${planned.length})`);
    plans.hidden = planned.length === 0;
    if (planned.some(({problem}) => problem)) plans.open = true;
    search.hidden = !all.some(({channels}) => channels > 0);
}

export async function addList(order) {
    const list = await api.addList(order);
    await refreshChannels();
    lists.open = true;
    return list;
}

/** Replaces the rows that have changed. One with an open form stays. */
function show(panel, items, make) {
    const rows = panel.querySelector(".rows");
    const known = new Map([...rows.children].map(row => [row.dataset.name, row]));
    rows.replaceChildren(...items.map(item => {
        const [row, mark] = [known.get(item.name), JSON.stringify(item)];
        if (row && (row.dataset.mark === mark || row.querySelector("form"))) return row;
        const made = make(item);
        Object.assign(made.dataset, {name: item.name, mark});
        return made;
    }));
}

function row(called, facts, problem, ...actions) {
    const drawer = new Drawer();
    return el("li", {class: "row"}, el("h3", {}, el("bdi", {}, called)), el("p", {class: "facts"}, facts),
        problem && el("p", {class: "trouble"}, `${capitalized(problem)}.`),
        el("div", {class: "actions"}, ...actions.map(([picture, word, act]) => {
            const control = button(picture, word, `${word} ${called}`, async () => {
                control.disabled = true;
                await attempt(drawer, control, act);
                control.disabled = false;
            });
            return control;
        })), drawer.element);
}

async function attempt(drawer, control, act) {
    try {
        await act(drawer, control);
    } catch (error) {
        drawer.open(control, el("div", {}, alarm(words(error))));
    }
}

function confirm(drawer, control, question, word, act) {
    const sure = plain(word, () => {
        sure.disabled = true;
        return attempt(drawer, control, act);
    }, {class: "primary"});
    drawer.open(control, el("div", {}, el("p", {}, question), el("div", {class: "actions"}, sure, plain("Keep it", drawer.close))));
}

function listRow(list) {
    const facts = list.isReading ? ["its channels are being read"] : [
        plural(list.channels, "channel"), list.hidden && `${list.hidden.toLocaleString("en")} hidden`,
        list.leftOut && `${list.leftOut.toLocaleString("en")} left out, which are no HLS`,
        list.fetched ? `read ${date(list.fetched)}` : "not read yet"];
    return row(list.name, listed(list.url, ...facts), list.problem && `not read since: ${list.problem}`,
        ["resume", "Read again", () => api.refreshList(list.name)
            .then(({channels}) => say(`${list.name} is read: ${plural(channels, "channel")}.`)).finally(refreshChannels)],
        ["remove", "Remove", (drawer, control) => confirm(drawer, control,
            `Its ${plural(list.channels, "channel")} are listed no more. What is stored of them stays.`, "Remove the list", async () => {
                await api.removeList(list.name);
                say(`${list.name} is removed.`);
                drawer.close();
                await refreshChannels();
            })]);
}

async function look() {
    const text = find.value.trim();
    if (text === "") {
        count.replaceChildren();
        return found.replaceChildren();
    }
    try {
        const {channels, count: all} = await api.channels(text, SHOWN);
        if (text !== find.value.trim()) return;
        setText(count, all > SHOWN ? `The first ${SHOWN} of ${plural(all, "channel")}` : plural(all, "channel"));
        found.replaceChildren(...channels.map(channelRow));
    } catch (error) {
        setText(count, words(error));
    }
}

function channelRow({name, title, group, list}) {
    const called = title || name;
    return row(called, listed(name, group, list), undefined,
        ["play", "Play", () => play(entry(name), called)],
        ["resume", "Record", async () => {
            await api.download({source: name, record: true});
            say(`The recording of ${called} has begun.`);
        }],
        ["clock", "Record later", (drawer, control) => drawer.open(control, recordLater({source: name}, called, drawer.close))]);
}

const names = {mon: "Monday", tue: "Tuesday", wed: "Wednesday", thu: "Thursday", fri: "Friday", sat: "Saturday", sun: "Sunday"};
const week = Object.keys(names);
const sets = [[week, "every day"], [week.slice(0, 5), "Monday to Friday"], ...week.map(day => [[day], `every ${names[day]}`])];

const daysOf = days => sets.find(([set]) => set.join() === days.join())?.[1] ?? `every ${days.map(day => names[day] ?? day).join(", ")}`;

function planRow(plan) {
    const {times, begin} = plan;
    const minutes = Math.round((times.seconds || 0) / 60);
    const facts = listed(plan.channel, times.every ? `${daysOf(times.every)} at ${times.at}` : times.at,
        times.seconds ? `for ${plural(minutes, "minute")}` : times.until ? `until ${times.until}` : "to the end of the broadcast",
        begin && `next ${date(begin)}`, times.keep && `keeps ${times.keep}`);
    const called = plan.title || plan.name;
    return row(called, facts, plan.problem,
        ["manage", "Change", (drawer, control) => drawer.open(control, planner(`Times of ${called}`, "Save times", times, drawer.close, async next => {
            await api.changeRecording(plan.name, next);
            drawer.close();
            await refreshChannels();
            return "Saved.";
        }))],
        ["cancel", "Cancel", (drawer, control) => confirm(drawer, control,
            "It records nothing more. What it has recorded stays, and a recording in progress goes on.", "Cancel it", async () => {
                await api.cancelRecording(plan.name);
                say(`${called} is cancelled.`);
                drawer.close();
                await refreshChannels();
            })]);
}

export function recordLater(order, called, closed) {
    return planner(`Record ${called} later`, "Plan recording", {seconds: 3600}, closed, async times => {
        const plan = await api.planRecording({download: order, times});
        await refreshChannels();
        plans.open = true;
        return `${plan.name} is planned${plan.begin ? `: it begins ${date(plan.begin)}` : ""}.`;
    });
}

/** The day and the time of a text such as `2026-12-24 20:15`, or the next full hour. */
function beginning(at) {
    if (at) return at.includes(" ") ? at.split(" ") : ["", at];
    const hour = new Date(Date.now() + 3600_000);
    return [localDay(hour), `${two(hour.getHours())}:00`];
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
    field("every", "Repeated", select(choices.map(([set, name]) => [set.join(), name]), {}, chosen)),
    field("day", "Day", el("input", {type: "date", value: day}), "If it is not repeated."),
    field("minutes", "Minutes", number(minutes(times.seconds), {min: 1}), "Empty: to the end of the broadcast."),
    field("until", "Or until", el("input", {type: "time", value: times.until || ""})),
    field("early", "Begin minutes earlier", number(minutes(times.early))),
    field("late", "End minutes later", number(minutes(times.late))),
    field("keep", "Keep", line(times.keep || "", {placeholder: "all", pattern: "\\d+d?"}), "The latest 5, or those of 30d."));
    return el("div", {class: "planner"}, element, el("div", {class: "actions"}, button("cancel", "Close", `Close: ${legend}`, closed)));
}
