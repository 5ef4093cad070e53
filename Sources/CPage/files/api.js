// A client of the API. This code adds the key to each request; the browser never sends it by itself.

import {capitalized} from "./words.js";

/** The path of a phone of the network, with its token; empty on the machine of the daemon. */
export const mount = location.pathname.match(/^\/t\/[\w-]+/)?.[0] ?? "";
/** True on a phone, which may look, play, and start, pause and cancel downloads. */
export const isPhone = mount !== "";
const linkPath = location.pathname.match(/^\/in\/([\w-]+)/);
const key = linkPath ? linkPath[1] : "";
if (key) {
    localStorage.setItem("weir-key", key);
    history.replaceState(null, "", "/");
}

export class Problem extends Error {
    constructor(status, problem) {
        super(problem.detail || `the daemon answers with status ${status}`);
        [this.status, this.code, this.next] = [status, problem.code, problem.next];
    }
    /** True if the key, or a phone's link, is no longer valid. */
    get hasEnded() { return this.status === 401 || (isPhone && this.status === 404 && this.code === undefined); }
}

/** An error as a sentence, with the next step. */
export function words(error) {
    if (!(error instanceof Problem)) return "Weir does not answer.";
    const {message, next} = error;
    // A sentence that begins with a URL keeps its first letter.
    const sentence = /^\w+:\/\//.test(message) ? message : capitalized(message);
    return next ? `${sentence}. Try: ${next}` : `${sentence}.`;
}

async function request(method, path, body, signal) {
    const headers = isPhone ? {} : {Authorization: `Bearer ${key}`};
    const isFile = body instanceof Blob;
    if (body !== undefined) headers["Content-Type"] = isFile ? body.type || "application/octet-stream" : "application/json";
    const answer = await fetch(`${mount}/api/v1${path}`, {
        method, headers, signal, cache: "no-store", credentials: "omit", redirect: "error",
        body: body === undefined || isFile ? body : JSON.stringify(body),
    });
    if (answer.ok) return answer;
    throw new Problem(answer.status, await answer.json().catch(() => ({})));
}

async function call(method, path, body, signal) {
    return (await request(method, path, body, signal)).json();
}

const image = async path => URL.createObjectURL(await (await request("GET", path)).blob());

/** Counts where neither the order nor the configuration names a language, as in the command line. */
const taste = {preferences: {locale: navigator.language}};

const code = encodeURIComponent;
const named = name => `/assets/${code(name)}`;

export const api = {
    /** Calls `each` with every page of the list as it arrives. */
    async assets(each) {
        for (let after = ""; after !== undefined;) {
            const {assets, next} = await call("GET", `/assets?limit=500${after}`);
            each(assets);
            after = next && `&after=${code(next)}`;
        }
    },
    asset: name => call("GET", named(name)),
    edit: (name, change) => call("PATCH", named(name), change),
    setPosition: (name, position) => call("PUT", `${named(name)}/position`, {position}),
    play: name => call("POST", `${named(name)}/play`),
    setPolicy: (name, policy) => call("PUT", `${named(name)}/policy`, policy),
    export: (name, order) => call("POST", `${named(name)}/export`, order),
    remove: name => call("DELETE", named(name)),
    poster: name => image(`${named(name)}/poster`),
    setArtwork: (name, file) => call("PUT", `${named(name)}/artwork`, file),
    store: () => call("GET", "/store"),
    mode: () => call("GET", "/mode"),
    setMode: mode => call("PUT", "/mode", {mode}),
    limit: async () => (await call("GET", "/limit")).bytesPerSecond,
    setLimit: bytesPerSecond => call("PUT", "/limit", {bytesPerSecond}),
    /** The presentation with what a download would take; without that, if the configured choice fits nothing. */
    async explain(order) {
        try {
            return await call("POST", "/selection", {...taste, ...order});
        } catch (error) {
            const isPlain = Object.keys(order).length === 1 && order.source.includes(":");
            if (error.code !== "no-match" || !isPlain) throw error;
            return call("GET", `/presentation?url=${code(order.source)}`);
        }
    },
    open: order => call("POST", "/presentation", order),
    paste: text => call("POST", "/paste", {text}),
    download: order => call("POST", "/downloads", {...taste, ...order}),
    downloads: async () => (await call("GET", "/downloads")).downloads,
    downloadOf: id => call("GET", `/downloads/${code(id)}`),
    change: (id, change) => call("POST", `/downloads/${code(id)}/${change}`),
    lists: async () => (await call("GET", "/lists")).lists,
    addList: order => call("POST", "/lists", order),
    refreshList: name => call("POST", `/lists/${code(name)}/refresh`),
    removeList: name => call("DELETE", `/lists/${code(name)}`),
    channels: (text, limit) => call("GET", `/channels?limit=${limit}&find=${code(text)}`),
    recordings: async () => (await call("GET", "/recordings")).recordings,
    planRecording: order => call("POST", "/recordings", order),
    changeRecording: (name, times) => call("PUT", `/recordings/${code(name)}`, times),
    cancelRecording: name => call("DELETE", `/recordings/${code(name)}`),
    sessions: async () => (await call("GET", "/sessions")).sessions,
    log: name => call("GET", `/log?limit=200&asset=${code(name)}`),
    errors: name => call("GET", `/log/errors?limit=50&asset=${code(name)}`),
    timelines: async name => (await call("GET", `/log/sessions?limit=12&asset=${code(name)}`)).events,
    picture: (session, width) => image(`/sessions/${code(session)}/picture?width=${Math.max(1, Math.min(4096, Math.round(width)))}`),
    kpis: name => call("GET", `/kpis?asset=${code(name)}`),
};

export const entry = name => `${mount}/${code(name)}.m3u8`;
/** That path with the chosen tracks alone: `choice` has `quality` and `audio`, as on the command line. */
export function choosing(path, choice) {
    const pairs = Object.entries(choice).map(([key, value]) => `${key}=${code(value)}`);
    return pairs.length ? `${mount}/select/${pairs.join("&")}${path.slice(mount.length)}` : path;
}
export const subtitleFile = (name, track) => `${mount}/${code(name)}.${code(track)}.vtt`;
/** The terminal command that plays it; on a phone the address, for an app. */
export const mpv = path => isPhone ? location.origin + path : `mpv ${quoted(location.origin + path)}`;

function quoted(word) {
    return /^[\w:/.,@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** In milliseconds. A quiet stream sends a comment every 15 seconds. */
const SILENCE = 40_000;

/** Calls `heard(name, data)` for each event, `opened()` when the stream begins, and `lost(error)` when it breaks; until the key ends. */
export async function listen({opened, heard, lost}) {
    let pause = 500;
    for (;;) {
        try {
            await stream(() => { pause = 500; opened(); }, heard);
            lost(undefined);
        } catch (error) {
            lost(error);
            if (error instanceof Problem && error.hasEnded) return;
        }
        await new Promise(resolve => setTimeout(resolve, pause));
        pause = Math.min(pause * 2, 8_000);
    }
}

async function stream(opened, heard) {
    const end = new AbortController();
    let timer = setTimeout(() => end.abort(), SILENCE);
    try {
        const answer = await request("GET", "/events", undefined, end.signal);
        opened();
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let text = "";
        for (;;) {
            const {done, value} = await reader.read();
            if (done) return;
            clearTimeout(timer);
            timer = setTimeout(() => end.abort(), SILENCE);
            const messages = (text + value).split("\n\n");
            text = messages.pop();
            for (const message of messages) tell(message, heard);
        }
    } finally {
        clearTimeout(timer);
    }
}

function tell(message, heard) {
    const field = name => message.split("\n").find(line => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = field("data");
    if (data !== undefined) heard(field("event"), JSON.parse(data));
}
