// Whoever was in already goes in again: the key lies in the storage of this origin.
const stored = localStorage.getItem("weir-key");
if (location.pathname === "/" && stored !== null && /^[\w-]+$/.test(stored)) {
    location.replace(`/in/${stored}/`);
} else if (location.pathname !== "/") {
    localStorage.removeItem("weir-key");
    history.replaceState(null, "", "/");
    document.getElementById("reason").textContent =
        "This link is of no use any more: Weir was started anew since. In a terminal, type";
}
document.getElementById("example").textContent = `mpv ${location.origin}/https://example.com/vod/master.m3u8`;
