// Drop and paste: the URL of a stream, a list of URLs, or the command of a browser's "Copy as cURL".

const LIMIT = 256 * 1024;

const isCommand = text => /^(\S*\/)?curl(\.exe)?\s/.test(text);
const isURL = text => /^https?:\/\/\S+$/i.test(text);

/** Listens for drops and pastes anywhere on the page. */
export function listenForPastes(heard) {
    document.addEventListener("paste", event => {
        const text = (event.clipboardData?.getData("text/plain") || "").trim();
        const field = event.target.closest?.("input, textarea, select");
        // A field takes a text as it is; but no field can hold the lines of a command.
        if (field && (field.type !== "url" || !isCommand(text))) return;
        if (take(text, heard)) event.preventDefault();
    });
    let depth = 0;
    const mark = change => {
        depth = change === 0 ? 0 : Math.max(0, depth + change);
        document.body.classList.toggle("drops", depth > 0);
    };
    const isForUs = event => !event.target.closest?.("input[type=search], textarea")
        && ["text/uri-list", "text/plain", "Files"].some(type => event.dataTransfer.types.includes(type));
    addEventListener("dragenter", event => { if (isForUs(event)) mark(1); });
    addEventListener("dragleave", event => { if (isForUs(event)) mark(-1); });
    addEventListener("dragover", event => {
        if (!isForUs(event)) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "copy";
    });
    addEventListener("drop", async event => {
        mark(0);
        if (!isForUs(event)) return;
        // Without this, the browser would leave the page for the URL.
        event.preventDefault();
        const [file] = event.dataTransfer.files;
        const all = event.dataTransfer.getData("text/uri-list") || event.dataTransfer.getData("text/plain");
        const text = file ? await file.slice(0, LIMIT).text() : all.trim();
        if (!file && take(text, heard)) return;
        const urls = [...new Set(text.split(/\r?\n/).map(line => line.trim()).filter(isURL))];
        if (urls.length > 0) heard.urls(urls);
        else heard.nothing();
    });
}

function take(text, heard) {
    if (isCommand(text)) heard.command(text);
    else if (isURL(text)) heard.url(text);
    else return false;
    return true;
}
