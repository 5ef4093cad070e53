// Opens the page in a browser that has the key, from the storage of this origin or from a link of `weir page --open`.
const stored = localStorage.getItem("weir-key");
const hash = new URLSearchParams(location.hash.slice(1));
const given = /^[\w-]+$/.test(hash.get("key") ?? "") ? hash.get("key") : undefined;
const isDoor = location.pathname === "/" || location.pathname === "/add";

/** True if a key is valid. A link from anywhere may have led here, and must do no harm. */
async function opens(key) {
    const options = {headers: {Authorization: `Bearer ${key}`}, cache: "no-store", credentials: "omit"};
    try { return (await fetch("/api/v1/mode", options)).ok; } catch { return false; }
}

/** Leaves the URLs of the link to the page, which asks before it does anything with them. A link without the key has one. */
function propose(isOwners) {
    const urls = hash.getAll("url").filter(url => /^https?:\/\/\S+$/i.test(url) && url.length <= 8000);
    if (urls.length > 0) sessionStorage.setItem("weir-links", JSON.stringify(urls.slice(0, isOwners ? 500 : 1)));
}

if (location.hash) history.replaceState(null, "", location.pathname);
if (isDoor && given && await opens(given)) {
    propose(true);
    location.replace(`/in/${given}/`);
} else if (isDoor && stored !== null && /^[\w-]+$/.test(stored)) {
    propose(false);
    location.replace(`/in/${stored}/`);
} else if (!isDoor) {
    localStorage.removeItem("weir-key");
    history.replaceState(null, "", "/");
    document.getElementById("reason").textContent =
        "This link is no longer valid. In a terminal, type";
}
document.getElementById("example").textContent = `mpv ${location.origin}/https://example.com/vod/master.m3u8`;
