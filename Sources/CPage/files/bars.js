// A bar for each track: the stored media time, the holes, and the positions of players.

import {el, setAttribute, setText, svg} from "./dom.js";
import {coverage, time} from "./words.js";

const WIDTH = 1000;

export class Bar {
    constructor() {
        this.name = el("span", {class: "track-name"});
        this.words = el("span", {class: "track-words"});
        this.stretches = svg("g", {class: "stretches"});
        this.wanted = svg("g", {class: "wanted"});
        this.playheads = svg("g", {class: "playheads"});
        this.picture = svg("svg", {class: "track-bar", viewBox: `0 0 ${WIDTH} 10`, preserveAspectRatio: "none", role: "img"},
            svg("rect", {class: "ground", width: WIDTH, height: 10}), this.wanted, this.stretches, this.playheads);
        this.element = el("li", {class: "track"}, this.name, this.picture, this.words);
    }

    update(part, name, duration, heads) {
        const scale = WIDTH / Math.max(duration || 0, part.expected.at(-1)?.[1] || 0, part.loaded.at(-1)?.[1] || 0, 0.001);
        const stored = part.isGuess ? "partly" : coverage(part);
        setText(this.name, name);
        setText(this.words, heads.length ? `${stored} · playing ${heads.map(({at, quality}) => `${quality ? `${quality} ` : ""}at ${time(at)}`).join(", ")}` : stored);
        setAttribute(this.picture, "aria-label", `${name}: ${stored} stored`);
        this.element.classList.toggle("is-complete", part.isComplete);
        draw(this.wanted, part.expected, scale);
        draw(this.stretches, part.loaded, scale);
        draw(this.playheads, heads.map(({at}) => [at, at + 5 / scale]), scale);
    }
}

function draw(group, ranges, scale) {
    while (group.childElementCount > ranges.length) group.lastChild.remove();
    while (group.childElementCount < ranges.length) group.append(svg("rect", {height: 10}));
    ranges.forEach(([start, end], index) => {
        const rectangle = group.children[index];
        setAttribute(rectangle, "x", (start * scale).toFixed(1));
        setAttribute(rectangle, "width", Math.max(1, (end - start) * scale).toFixed(1));
    });
}
