// Opens the page in a browser that has the key, from the storage of this origin or from a link of `weir page --open`.
const stored = localStorage.getItem("weir-key");
const given = location.hash.match(/^#key=([\w-]+)$/)?.[1];

/** True if a key is valid. A link from anywhere may have led here, and must do no harm. */
async function opens(key) {
    const options = {headers: {Authorization: `Bearer ${key}`}, cache: "no-store", credentials: "omit"};
    try { return (await fetch("/api/v1/mode", options)).ok; } catch { return false; }
}

if (location.hash) history.replaceState(null, "", location.pathname);
if (location.pathname === "/" && given && await opens(given)) {
    location.replace(`/in/${given}/`);
} else if (location.pathname === "/" && stored !== null && /^[\w-]+$/.test(stored)) {
    location.replace(`/in/${stored}/`);
} else if (location.pathname !== "/") {
    localStorage.removeItem("weir-key");
    history.replaceState(null, "", "/");
    document.getElementById("reason").textContent =
        "This link is no longer valid, because Weir was restarted. In a terminal, type";
}
document.getElementById("example").textContent = `mpv ${location.origin}/https://example.com/vod/master.m3u8`;
