// Formats figures as text.

export const listed = (...parts) => parts.filter(Boolean).join(" · ");

export const two = number => String(number).padStart(2, "0");

/** The date of a `Date` in the user's time zone, as a date field has it. */
export const localDay = date => `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;

export function time(seconds) {
    const all = Math.max(0, Math.round(seconds));
    const [hours, minutes] = [Math.floor(all / 3600), Math.floor(all / 60) % 60];
    return hours ? `${hours}:${two(minutes)}:${two(all % 60)}` : `${minutes}:${two(all % 60)}`;
}

const units = ["B", "KB", "MB", "GB", "TB"];

const short = value => value.toFixed(value < 9.95 ? 1 : 0);

function scaled(bytes) {
    let [value, unit] = [bytes, 0];
    while (value >= (unit > 0 ? 1023.5 : 1024) && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
    return [unit > 0 ? short(value) : value.toFixed(0), units[unit]];
}

export const size = bytes => scaled(bytes).join(" ");

/** `151 of about 240 MB`. */
export function sizeOf(bytes, total) {
    const [part, partUnit] = scaled(bytes);
    const [whole, unit] = scaled(total);
    return partUnit === unit ? `${part} of about ${whole} ${unit}` : `${part} ${partUnit} of about ${whole} ${unit}`;
}

export function bitRate(bits) {
    if (bits < 1000) return `${bits} b/s`;
    return bits < 999_500 ? `${short(bits / 1000)} kb/s` : `${short(bits / 1e6)} Mb/s`;
}

export const percent = fraction => `${Math.floor(fraction * 100 + 1e-6)} %`;

export const plural = (number, one, many = `${one}s`) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;

/** The label of a variant: `720p`, `audio`, or else its id in the store. */
export function quality(variant) {
    if (variant.height) return `${variant.height}p`;
    if (variant.bandwidth && /^(mp4a|ac-3|ec-3|ac-4|alac|fLaC|opus)/i.test(variant.codecs || "")) return "audio";
    return variant.id.replace(/^video-/, "");
}

/** `avc1 · 2.1 Mb/s`. */
export function variantFacts(variant) {
    const codecs = new Set((variant.codecs || "").split(",").map(codec => codec.trim().split(".")[0]).filter(Boolean));
    return listed([...codecs].join(" + "), variant.frameRate && `${Math.round(variant.frameRate)} fps`,
        variant.videoRange !== "SDR" && variant.videoRange, variant.bandwidth && bitRate(variant.bandwidth));
}

/** `ac-3 5.1`; empty if the playlist does not give them. */
export function trackLayout({codec, channels}) {
    const count = parseInt(channels, 10);
    const words = {1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"};
    return [codec, count > 0 ? words[count] || `${count} channels` : ""].filter(Boolean).join(" ");
}

export const capitalized = text => text[0].toUpperCase() + text.slice(1);

export const stateWords = state => state.replaceAll("-", " ");

export const badge = asset => capitalized(stateWords(asset.state));

const needs = {
    network: "the network", space: "space on the disk", key: "a key", volume: "its disk", hours: "its hours",
    metered: "a network that is not metered", power: "power", idle: "an idle machine",
};

const why = download => download.reasons?.length ? `: ${download.reasons.map(reason => reason.message).filter(Boolean).join(", and ")}` : "";

export function doing(download) {
    if (!download) return "";
    const far = download.isRecording ? `${time(loaded(download.loaded))} recorded` : percent(download.fraction);
    switch (download.state) {
    case "queued": return "Queued";
    case "running":
        return listed(`${download.isRecording ? "Recording" : "Downloading"}, ${far}`,
            download.silence > 0 ? `no data for ${download.silence} s` : download.rate > 0 && `${size(download.rate)}/s`,
            download.eta >= 0 && download.rate > 0 && `${time(download.eta)} left`);
    case "paused": return `Paused at ${far}${why(download)}`;
    case "waiting": return `Waiting for ${needs[download.need] || "something"} at ${far}${why(download)}`;
    case "failed": return `Failed at ${far}${download.error ? `: ${download.error.message}` : ""}`;
    case "cancelled": return `Cancelled at ${far}`;
    default: return "";
    }
}

export const loaded = ranges => ranges.reduce((sum, [start, end]) => sum + end - start, 0);

/** `all of 14:48`, `9:19 of 14:48, 2 holes`. */
export function coverage(part) {
    const wanted = loaded(part.expected);
    if (part.isComplete) return `all of ${time(wanted)}`;
    const holes = Math.max(0, part.loaded.length - 1);
    return `${time(loaded(part.loaded))} of ${time(wanted)}${holes ? `, ${plural(holes, "hole")}` : ""}`;
}

/** `3 saved · 1.2 GB · 4 h 10 min`. */
export function totals(assets) {
    const counts = {"saved": 0, "partly-saved": 0, "cached": 0};
    let [bytes, seconds] = [0, 0];
    for (const asset of assets) {
        if (asset.stored in counts) counts[asset.stored] += 1;
        bytes += asset.bytes;
        seconds += asset.duration || 0;
    }
    const minutes = Math.round(seconds / 60);
    const length = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60).toLocaleString("en")} h ${minutes % 60} min`;
    // A size or a time is not broken across lines.
    return listed(...Object.entries(counts).map(([word, count]) => count > 0 && `${count.toLocaleString("en")} ${stateWords(word)}`),
        ...[size(bytes), minutes > 0 ? length : ""].map(part => part.replaceAll(" ", "\u00a0")));
}

export const date = seconds => new Date(seconds * 1000).toLocaleString(undefined, {dateStyle: "medium", timeStyle: "short"});

/** `43 % seen`, or `watched`; empty if it was not begun. */
export function seen({position, duration, isWatched}) {
    if (position && duration) return `${Math.min(99, Math.max(1, Math.floor(100 * position / duration)))} % seen`;
    return isWatched ? "watched" : "";
}
