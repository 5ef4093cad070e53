// The rows of a long list, in blocks. Only blocks near the window are in the document; placeholders keep the room of the others.

import {el, setAttribute} from "./dom.js";

const LENGTH = 20;
/** Distances from the window, in window heights, within which rows are created and beyond which they are removed. */
const [NEAR, FAR] = [1, 2.5];
/** Estimated height of a row in pixels before any was measured, and the gap between two rows. */
const [GUESS, GAP] = [220, 10];

const columnsOf = container => getComputedStyle(container).gridTemplateColumns.split(" ").length;

export class Blocks {
    /** - `make(name)`: returns the element of a row; `drop(name)`: called after it was removed; `isBusy(name)`: true if it must stay. */
    constructor(container, {make, drop, isBusy, anew}) {
        Object.assign(this, {container, make, drop, isBusy, anew, all: [], byName: new Map(), width: 0, height: GUESS, columns: 1});
        const soon = () => { this.turn ??= requestAnimationFrame(() => this.settle()); };
        addEventListener("scroll", soon, {passive: true});
        addEventListener("resize", soon);
        new ResizeObserver(soon).observe(container);
        addEventListener("keydown", event => this.jump(event));
    }

    get names() { return this.all.flatMap(block => block.names); }

    show(names) {
        this.columns = columnsOf(this.container);
        // A placeholder takes whole lines of posters.
        const length = Math.ceil(LENGTH / this.columns) * this.columns;
        const focused = document.activeElement;
        for (const block of this.all.filter(({elements}) => elements)) block.names.forEach(this.drop);
        [this.all, this.byName] = [[], new Map()];
        for (let first = 0; first < names.length; first += length) {
            this.all.push(this.block(names.slice(first, first + length)));
        }
        this.container.replaceChildren(...this.all.map(block => block.room));
        this.settle();
        this.estimate();
        this.settle();
        if (focused?.isConnected && focused !== document.activeElement && this.container.contains(focused)) focused.focus({preventScroll: true});
    }

    /** Inserts a name at the front, where users see it. */
    insert(name) {
        let [first] = this.all;
        if (!first || first.names.length >= 2 * LENGTH) {
            first = this.block([]);
            this.all.unshift(first);
            this.container.prepend(first.room);
            this.fill(first);
        }
        first.names.unshift(name);
        this.byName.set(name, first);
        if (first.elements) {
            first.elements.unshift(this.make(name));
            first.room.after(first.elements[0]);
        } else {
            this.leaveRoom(first);
        }
        this.number();
    }

    remove(name) {
        const block = this.byName.get(name);
        if (!block) return;
        this.byName.delete(name);
        const index = block.names.indexOf(name);
        block.names.splice(index, 1);
        if (block.elements) {
            block.elements.splice(index, 1)[0].remove();
            this.drop(name);
        }
        if (block.names.length === 0) {
            block.room.remove();
            this.all = this.all.filter(other => other !== block);
        } else if (!block.elements) {
            this.leaveRoom(block);
        }
        this.number();
    }

    rename(from, to) {
        const block = this.byName.get(from);
        if (!block) return;
        block.names[block.names.indexOf(from)] = to;
        this.byName.delete(from);
        this.byName.set(to, block);
    }

    /** Goes to an end of the page at once: `settle` would break off the motion that the browser makes of it. */
    jump(event) {
        const isTyped = event.target.closest?.("input, select, textarea, video");
        if (isTyped || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
        if (event.key !== "Home" && event.key !== "End") return;
        event.preventDefault();
        scrollTo(0, event.key === "Home" ? 0 : document.documentElement.scrollHeight);
    }

    settle() {
        this.turn = undefined;
        const view = innerHeight;
        const isAtEnd = scrollY > 0 && scrollY + view >= document.documentElement.scrollHeight - 2;
        if (this.width !== innerWidth) this.measureAnew();
        // All is measured before anything moves.
        const measured = this.all.map(block => {
            const [top, bottom] = this.extent(block);
            return {block, height: bottom - top, distance: Math.max(top - view, -bottom, 0)};
        });
        const near = measured.filter(({block, distance}) => !block.elements && distance <= NEAR * view);
        for (const {block, height, distance} of measured) {
            if (block.elements && distance > FAR * view && !block.names.some(this.isBusy)) this.empty(block, height);
        }
        for (const {block} of near) this.fill(block);
        if (near.length === 0) return;
        this.number();
        // The rows here may have another height. Placeholders above the window would move those in it.
        if (Math.abs(this.rowHeight - this.height) > 0.2 * this.height) this.estimate(block => this.extent(block)[0] >= view);
        // A user at the end stays there, where rows are higher than estimated.
        if (isAtEnd) scrollTo(0, document.documentElement.scrollHeight);
    }

    fill(block) {
        block.room.hidden = true;
        block.elements = block.names.map(this.make);
        block.room.after(...block.elements);
    }

    empty(block, height) {
        for (const element of block.elements) element.remove();
        block.elements = undefined;
        block.names.forEach(this.drop);
        [block.room.hidden, block.room.style.height] = [false, `${height}px`];
    }

    /** Sets each row's position for screen readers, because the document has only a part of the list. */
    number() {
        let position = 0;
        for (const {names, elements = []} of this.all) {
            for (const [index, element] of elements.entries()) {
                setAttribute(element, "aria-posinset", String(position + index + 1));
                setAttribute(element, "aria-setsize", String(this.byName.size));
            }
            position += names.length;
        }
    }

    block(names) {
        const block = {names, elements: undefined, room: el("li", {class: "room", "aria-hidden": "true"})};
        for (const name of names) this.byName.set(name, block);
        this.leaveRoom(block);
        return block;
    }

    leaveRoom(block) { block.room.style.height = `${this.lines(block) * (this.height + GAP) - GAP}px`; }

    lines({names}) { return Math.ceil(names.length / this.columns); }

    extent({room, elements = [room]}) { return [elements[0].getBoundingClientRect().top, elements.at(-1).getBoundingClientRect().bottom]; }

    get rowHeight() {
        let [lines, height] = [0, 0];
        for (const block of this.all.filter(({elements}) => elements?.length)) {
            const [top, bottom] = this.extent(block);
            lines += this.lines(block);
            height += bottom - top + GAP;
        }
        return height > 0 ? height / lines - GAP : undefined;
    }

    /** Rows have other heights in a window of another width. */
    measureAnew() {
        const isFirst = this.width === 0;
        this.width = innerWidth;
        if (isFirst) return;
        if (columnsOf(this.container) !== this.columns) return this.anew();
        this.estimate();
    }

    /** Gives placeholders the mean height of rows: with a wrong one, fast scrolling shows an empty window. */
    estimate(isMeant = () => true) {
        this.height = this.rowHeight ?? this.height;
        for (const block of this.all) if (!block.elements && isMeant(block)) this.leaveRoom(block);
    }
}
