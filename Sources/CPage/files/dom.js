// Elements made by hand: what comes from outside becomes text nodes and attributes that hold text, never markup.

/** An element with attributes and children; a string is text, `on…` a listener, `false` and `undefined` no attribute. */
export function el(name, attributes = {}, ...children) {
    return fill(document.createElement(name), attributes, children);
}

/** The same in SVG. */
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

/** Changes a text only where it differs: a screen reader, a selection and the layout notice nothing else. */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

/** Changes an attribute only where it differs. */
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
    details: "M5 19V11M12 19V5M19 19v-6",
};

/** A picture beside a word, which says nothing by itself. */
export function icon(name) {
    return svg("svg", {class: `icon icon-${name}`, viewBox: "0 0 24 24", "aria-hidden": "true"}, svg("path", {d: icons[name]}));
}

/** A button with a picture, a word, and a name that says what it is about where the word does not. */
export function button(picture, word, name, onclick, kind = "") {
    return el("button", {type: "button", class: kind, "aria-label": name, onclick}, icon(picture), el("span", {}, word));
}

const status = document.getElementById("status");

/** Says something once, to those who hear the page. */
export function say(text) {
    // The same sentence twice is a change as well.
    status.replaceChildren(el("span", {}, text));
}
