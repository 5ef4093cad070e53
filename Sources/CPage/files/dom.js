// Creates elements. Outside text becomes text nodes and attribute values, never markup.

/**
 * Creates an element with attributes and children. A string is text, `on…` a listener; `false` and `undefined` add no
 * attribute.
 */
export function el(name, attributes = {}, ...children) {
    return fill(document.createElement(name), attributes, children);
}

/** Creates an SVG element, as `el` does. */
export function svg(name, attributes = {}, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === "function") element.addEventListener(name.slice(2), value);
        else if (value === true) element.setAttribute(name, "");
        else if (value !== false && value !== undefined) element.setAttribute(name, value);
    }
    element.append(...children.filter(child => child !== undefined && child !== false && child !== ""));
    return element;
}

/** Sets a text only if it differs, so that screen readers, selections and the layout are not disturbed. */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

/** Sets an attribute only if it differs. */
export function setAttribute(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

const icons = {
    play: "M7 4.500v15l12-7.500z",
    pause: "M6.500 5h4v14h-4zM13.500 5h4v14h-4z",
    resume: "M12 4v10m0 0 4.500-4.500M12 14 7.500 9.500M5 19h14",
    copy: "M9 9h10v10H9zM5 15V5h10",
    add: "M12 5v14M5 12h14",
    cancel: "M6 6l12 12M18 6 6 18",
    remove: "M5 7h14M10 4h4M7 7l1 13h8l1-13M10.500 11v5M13.500 11v5",
    manage: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
    more: "M6 9l6 6 6-6",
    outside: "M14 5h5v5M19 5l-8 8M10 6H5v13h13v-5",
    posters: "M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z",
    clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 8v4l3 2",
    details: "M5 19V11M12 19V5M19 19v-6",
};

/** An icon beside a word. It has no text of its own. */
export function icon(name) {
    return svg("svg", {class: `icon icon-${name}`, viewBox: "0 0 24 24", "aria-hidden": "true"}, svg("path", {d: icons[name]}));
}

/** A button with an icon and a word, and with a label that names its object if the word does not. */
export function button(picture, word, name, onclick, kind = "") {
    return el("button", {type: "button", class: kind, "aria-label": name, onclick}, icon(picture), el("span", {}, word));
}

const status = document.getElementById("status");

/** Announces a sentence once to screen readers. */
export function say(text) {
    // A repeated sentence has to count as a change.
    status.replaceChildren(el("span", {}, text));
}
