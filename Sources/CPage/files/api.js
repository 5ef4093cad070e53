// A client of the API. This code adds the key to each request; the browser never sends it by itself.

/** The path below which a phone of the network reaches Weir, with its token; empty on the machine of the daemon. */
export const mount = location.pathname.match(/^\/t\/[\w-]+/)?.[0] ?? "";
/** True on a phone, which may look, play, and start, pause and cancel downloads. */
export const isPhone = mount !== "";
const linkPath = location.pathname.match(/^\/in\/([\w-]+)/);
const key = linkPath ? linkPath[1] : "";
if (key) {
    localStorage.setItem("weir-key", key);
    history.replaceState(null, "", "/");
}

/** An error of the API: `code` and `status` as in its problem, `next` with the next step. */
export class Problem extends Error {
    constructor(status, problem) {
        super(problem.detail || `the daemon answers with status ${status}`);
        [this.status, this.code, this.next] = [status, problem.code, problem.next];
    }
    /** True if the key, or a phone's link, is no longer valid. */
    get hasEnded() { return this.status === 401 || (isPhone && this.status === 404 && this.code === undefined); }
    /** Both sentences for display. */
    get words() {
        // A sentence that begins with a URL keeps its first letter.
        const sentence = /^\w+:\/\//.test(this.message) ? this.message : this.message[0].toUpperCase() + this.message.slice(1);
        return this.next ? `${sentence}. Try: ${this.next}` : `${sentence}.`;
    }
}

/** The sentence for any error. */
export function words(error) {
    return error instanceof Problem ? error.words : "Weir does not answer.";
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

/** The user's language, which counts where neither the order nor the configuration names one, as in the command line. */
const taste = {preferences: {locale: navigator.language}};

const named = name => `/assets/${encodeURIComponent(name)}`;

export const api = {
    /** Loads all assets page by page. Calls `each` with every page as it arrives. */
    async assets(each) {
        let after = "";
        do {
            const list = await call("GET", `/assets?limit=500${after}`);
            each(list.assets);
            after = list.next === undefined ? "" : `&after=${encodeURIComponent(list.next)}`;
        } while (after);
    },
    asset: name => call("GET", named(name)),
    edit: (name, change) => call("PATCH", named(name), change),
    setPosition: (name, position) => call("PUT", `${named(name)}/position`, {position}),
    play: name => call("POST", `${named(name)}/play`),
    setPolicy: (name, policy) => call("PUT", `${named(name)}/policy`, policy),
    export: (name, order) => call("POST", `${named(name)}/export`, order),
    remove: name => call("DELETE", named(name)),
    async poster(name) { return (await request("GET", `${named(name)}/poster`)).blob(); },
    setArtwork: (name, file) => call("PUT", `${named(name)}/artwork`, file),
    store: () => call("GET", "/store"),
    mode: () => call("GET", "/mode"),
    setMode: mode => call("PUT", "/mode", {mode}),
    /** The presentation with what a download would take; without that, if the configured choice fits nothing. */
    async explain(order) {
        try {
            return await call("POST", "/selection", {...taste, ...order});
        } catch (error) {
            const isPlain = Object.keys(order).length === 1 && order.source.includes(":");
            if (error.code !== "no-match" || !isPlain) throw error;
            return call("GET", `/presentation?url=${encodeURIComponent(order.source)}`);
        }
    },
    open: order => call("POST", "/presentation", order),
    paste: text => call("POST", "/paste", {text}),
    download: order => call("POST", "/downloads", {...taste, ...order}),
    downloadOf: id => call("GET", `/downloads/${encodeURIComponent(id)}`),
    change: (id, change) => call("POST", `/downloads/${encodeURIComponent(id)}/${change}`),
    lists: async () => (await call("GET", "/lists")).lists,
    addList: order => call("POST", "/lists", order),
    refreshList: name => call("POST", `/lists/${encodeURIComponent(name)}/refresh`),
    removeList: name => call("DELETE", `/lists/${encodeURIComponent(name)}`),
    channels: (text, limit) => call("GET", `/channels?limit=${limit}&find=${encodeURIComponent(text)}`),
    recordings: async () => (await call("GET", "/recordings")).recordings,
    planRecording: order => call("POST", "/recordings", order),
    changeRecording: (name, times) => call("PUT", `/recordings/${encodeURIComponent(name)}`, times),
    cancelRecording: name => call("DELETE", `/recordings/${encodeURIComponent(name)}`),
    sessions: async () => (await call("GET", "/sessions")).sessions,
    log: name => call("GET", `/log?limit=200&asset=${encodeURIComponent(name)}`),
    errors: name => call("GET", `/log/errors?limit=50&asset=${encodeURIComponent(name)}`),
    timelines: async name => (await call("GET", `/log/sessions?limit=12&asset=${encodeURIComponent(name)}`)).events,
    async picture(session, width) { return (await request("GET", `/sessions/${encodeURIComponent(session)}/picture?width=${Math.max(1, Math.min(4096, Math.round(width)))}`)).blob(); },
    kpis: name => call("GET", `/kpis?asset=${encodeURIComponent(name)}`),
};

/** The path by which players load an asset. */
export const entry = name => `${mount}/${encodeURIComponent(name)}.m3u8`;
/** The path by which players load the chosen tracks alone of what is at a path: `choice` has `quality` and `audio`, as on the command line. */
export function choosing(path, choice) {
    const pairs = Object.entries(choice).map(([key, value]) => `${key}=${encodeURIComponent(value)}`);
    return pairs.length ? `${mount}/select/${pairs.join("&")}${path.slice(mount.length)}` : path;
}
/** The path of a track of subtitles or chapters as one file. */
export const subtitleFile = (name, track) => `${mount}/${encodeURIComponent(name)}.${encodeURIComponent(track)}.vtt`;
/** The terminal command that plays it; on a phone the address, for an app. */
export const mpv = path => isPhone ? location.origin + path : `mpv ${quoted(location.origin + path)}`;

/** Quotes a word for a shell. */
function quoted(word) {
    return /^[\w:/.,@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** A quiet stream sends a comment every 15 seconds. After this many milliseconds of silence it counts as dead. */
const SILENCE = 40_000;

/**
 * The stream of events, for the lifetime of the page. Calls `heard(name, data)` for each event, `opened()` at each
 * start, and `lost(error)` each time the stream breaks. It ends when the key is no longer valid.
 */
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

/** Parses one message of server-sent events in the daemon's form: one line for each field. */
function tell(message, heard) {
    const field = name => message.split("\n").find(line => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = field("data");
    if (data !== undefined) heard(field("event"), JSON.parse(data));
}
