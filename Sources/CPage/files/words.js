// Formats figures as text.

/** A duration: `14:48`, `1:02:03`. */
export function time(seconds) {
    const all = Math.max(0, Math.round(seconds));
    const two = number => String(number).padStart(2, "0");
    const [hours, minutes] = [Math.floor(all / 3600), Math.floor(all / 60) % 60];
    return hours ? `${hours}:${two(minutes)}:${two(all % 60)}` : `${minutes}:${two(all % 60)}`;
}

const units = ["B", "KB", "MB", "GB", "TB"];

/** A number with at least two digits, as in the command line. */
const short = value => value.toFixed(value < 9.95 ? 1 : 0);

function scaled(bytes) {
    let [value, unit] = [bytes, 0];
    while (value >= (unit > 0 ? 1023.5 : 1024) && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
    return [unit > 0 ? short(value) : value.toFixed(0), units[unit]];
}

/** A size in powers of 1024, as in the command line: `151 MB`. */
export const size = bytes => scaled(bytes).join(" ");

/** A stored size and the total: `151 of about 240 MB`. */
export function sizeOf(bytes, total) {
    const [part, partUnit] = scaled(bytes);
    const [whole, unit] = scaled(total);
    return partUnit === unit ? `${part} of about ${whole} ${unit}` : `${part} ${partUnit} of about ${whole} ${unit}`;
}

/** A bandwidth in bits per second: `2.1 Mb/s`. */
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

/** The facts of a variant besides its size: `H.264, 2.1 Mb/s`. */
export function variantFacts(variant) {
    const codecs = [...new Set((variant.codecs || "").split(",").map(codec => codec.trim().split(".")[0]).filter(Boolean))];
    return [
        codecs.join(" + "),
        variant.frameRate ? `${Math.round(variant.frameRate)} fps` : "",
        variant.videoRange && variant.videoRange !== "SDR" ? variant.videoRange : "",
        variant.bandwidth ? bitRate(variant.bandwidth) : "",
    ].filter(Boolean).join(" · ");
}

/** The codec and the channels of a sound: `ac-3 5.1`; empty if the playlist does not give them. */
export function trackLayout({codec, channels}) {
    const count = parseInt(channels, 10);
    const words = {1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"};
    return [codec, count > 0 ? words[count] || `${count} channels` : ""].filter(Boolean).join(" ");
}

const capitalized = text => text[0].toUpperCase() + text.slice(1);

/** A word for the state of an asset, as in the API, for people: `partly saved`. */
export const stateWords = state => state.replaceAll("-", " ");

/** The text of an asset's badge. */
export const badge = asset => capitalized(stateWords(asset.state));

const needs = {
    network: "the network", space: "space on the disk", key: "a key", volume: "its disk", hours: "its hours",
    metered: "a network that is not metered", power: "power", idle: "an idle machine",
};

/** The reasons why a download does not go on, in words; empty without one. */
const why = download => download.reasons?.length ? `: ${download.reasons.map(reason => reason.message).filter(Boolean).join(", and ")}` : "";

/** The state of the download as a sentence; empty without one. */
export function doing(download) {
    if (!download) return "";
    const far = download.isRecording ? `${time(loaded(download.loaded))} recorded` : percent(download.fraction);
    switch (download.state) {
    case "queued": return "Queued";
    case "running":
        return [`${download.isRecording ? "Recording" : "Downloading"}, ${far}`,
            download.silence > 0 ? `no data for ${download.silence} s` : download.rate > 0 ? `${size(download.rate)}/s` : "",
            download.eta >= 0 && download.rate > 0 ? `${time(download.eta)} left` : ""].filter(Boolean).join(" · ");
    case "paused": return `Paused at ${far}${why(download)}`;
    case "waiting": return `Waiting for ${needs[download.need] || "something"} at ${far}${why(download)}`;
    case "failed": return `Failed at ${far}${download.error ? `: ${download.error.message}` : ""}`;
    case "cancelled": return `Cancelled at ${far}`;
    default: return "";
    }
}

/** The total seconds of ranges of time. */
export const loaded = ranges => ranges.reduce((sum, [start, end]) => sum + end - start, 0);

/** The stored part of a track: `all of 14:48`, `9:19 of 14:48, 2 holes`. */
export function coverage(part) {
    const wanted = loaded(part.expected);
    if (part.isComplete) return `all of ${time(wanted)}`;
    const holes = Math.max(0, part.loaded.length - 1);
    return `${time(loaded(part.loaded))} of ${time(wanted)}${holes ? `, ${plural(holes, "hole")}` : ""}`;
}

/** A number of assets in words, with their stored size and playing time: `3 saved · 1.2 GB · 4 h 10 min`. */
export function totals(assets) {
    const counts = ["saved", "partly-saved", "cached"].map(word => [word, assets.filter(({stored}) => stored === word).length]);
    const bytes = assets.reduce((sum, asset) => sum + asset.bytes, 0);
    const minutes = Math.round(assets.reduce((sum, asset) => sum + (asset.duration || 0), 0) / 60);
    const length = minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60).toLocaleString("en")} h ${minutes % 60} min`;
    // A size or a time is not broken across lines.
    return [...counts.map(([word, count]) => count > 0 && `${count.toLocaleString("en")} ${stateWords(word)}`),
        ...[size(bytes), minutes > 0 ? length : ""].map(part => part.replaceAll(" ", "\u00a0"))]
        .filter(Boolean).join(" · ");
}

export const date = seconds => new Date(seconds * 1000).toLocaleString(undefined, {dateStyle: "medium", timeStyle: "short"});

/** The part of an asset that was seen: `43 % seen`, or `watched`; empty if it was not begun. */
export function seen({position, duration, isWatched}) {
    if (position && duration) return `${Math.min(99, Math.max(1, Math.floor(100 * position / duration)))} % seen`;
    return isWatched ? "watched" : "";
}
