// Creates elements. Outside text becomes text nodes and attribute values, never markup.

export const byId = id => document.getElementById(id);

/** An element. A string is text, `on…` a listener; `false` and `undefined` add nothing. */
export function el(name, attributes = {}, ...children) {
    return fill(document.createElement(name), attributes, children);
}

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

/** A text that does not differ stays, so that screen readers and selections are not disturbed. */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

export function setAttribute(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

const icons = {
    play: "M7 4.5v15l12-7.5z",
    pause: "M6.5 5h4v14h-4zM13.5 5h4v14h-4z",
    resume: "M12 4v10m0 0 4.5-4.5M12 14 7.5 9.5M5 19h14",
    copy: "M9 9h10v10H9zM5 15V5h10",
    add: "M12 5v14M5 12h14",
    cancel: "M6 6l12 12M18 6 6 18",
    remove: "M5 7h14M10 4h4M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
    manage: "M4 20h4L19 9l-4-4L4 16zM13 7l4 4",
    more: "M6 9l6 6 6-6",
    first: "M12 20V9m0 0-5 5m5-5 5 5M5 4h14",
    export: "M12 4v11m0 0-4-4m4 4 4-4M5 20h14",
    outside: "M14 5h5v5M19 5l-8 8M10 6H5v13h13v-5",
    posters: "M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM13 13h7v6h-7z",
    clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16M12 8v4l3 2",
    details: "M5 19V11M12 19V5M19 19v-6",
};

export function icon(name) {
    return svg("svg", {class: `icon icon-${name}`, viewBox: "0 0 24 24", "aria-hidden": "true"}, svg("path", {d: icons[name]}));
}

/** A button with an icon and a word; its label also names its object. */
export function button(picture, word, name, onclick, kind = "") {
    return el("button", {type: "button", class: kind, "aria-label": name, onclick}, icon(picture), el("span", {}, word));
}

export const plain = (word, onclick, more) => el("button", {type: "button", onclick, ...more}, word);

export function select(options, more = {}, chosen = undefined) {
    return el("select", more, ...options.map(([value, words]) => el("option", {value, selected: value === chosen}, words)));
}

export const alarm = (...sentence) => el("p", {class: "trouble", role: "alert"}, ...sentence);

/** The room below an object for what one of its buttons opens. */
export class Drawer {
    element = el("div", {class: "extra"});

    open(control, content) {
        this.element.replaceChildren(content);
        this.control = control;
        content.querySelector("input, select, button")?.focus();
    }

    close = () => {
        this.element.replaceChildren();
        this.control?.focus();
    };

    get isOpen() { return this.element.hasChildNodes(); }
}

const status = byId("status");

export function say(text) {
    // A repeated sentence has to count as a change.
    status.replaceChildren(el("span", {}, text));
}
