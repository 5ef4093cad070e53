// The rows of a long list, in blocks. Only blocks near the window are in the document; placeholders keep the room of
// the others.

import {el} from "./dom.js";

/** The least number of rows in a block. */
const LENGTH = 20;
/** Distances from the window, in window heights, within which rows are created and beyond which they are removed. */
const [NEAR, FAR] = [1, 2.5];
/** Estimated height of a row in pixels before any was measured, and the gap between two rows. */
const [GUESS, GAP] = [220, 10];

/** The number of columns of a grid. */
const columnsOf = container => getComputedStyle(container).gridTemplateColumns.split(" ").length;

export class Blocks {
    /**
     * - `container`: the list's element.
     * - `make(name)`: returns the element of a row; `drop(name)`: called after a row was removed; `isBusy(name)`: true
     *   if a row must stay.
     */
    constructor(container, {make, drop, isBusy}) {
        [this.container, this.make, this.drop, this.isBusy] = [container, make, drop, isBusy];
        [this.all, this.byName, this.width, this.height, this.columns] = [[], new Map(), 0, GUESS, 1];
        const soon = () => { this.turn ??= requestAnimationFrame(() => this.settle()); };
        addEventListener("scroll", soon, {passive: true});
        addEventListener("resize", soon);
        new ResizeObserver(soon).observe(container);
        addEventListener("keydown", event => this.jump(event));
    }

    /** All names in order. */
    get names() { return this.all.flatMap(block => block.names); }

    // MARK: Contents of the list

    /** Replaces the names. Keeps the scroll position as far as possible. */
    show(names) {
        this.columns = columnsOf(this.container);
        // A placeholder takes whole lines of posters.
        const length = Math.ceil(LENGTH / this.columns) * this.columns;
        const focused = document.activeElement;
        for (const name of [...this.byName.keys()]) if (this.isIn(name)) this.drop(name);
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

    /** Inserts a name at the front. */
    insert(name) {
        let [first] = this.all;
        if (!first || first.names.length >= 2 * LENGTH) {
            first = this.block([]);
            // An empty block needs no placeholder. It counts as filled; its first row is added below.
            this.hide(first);
            this.all.unshift(first);
            this.container.prepend(first.room);
        }
        first.names.unshift(name);
        this.byName.set(name, first);
        if (first.isFilled) first.room.after(this.make(name));
        else this.leaveRoom(first);
        this.number();
    }

    /** Removes a name from the list. */
    remove(name) {
        const block = this.byName.get(name);
        if (!block) return;
        this.byName.delete(name);
        const index = block.names.indexOf(name);
        if (block.isFilled) {
            this.elements(block)[index].remove();
            this.drop(name);
        }
        block.names.splice(index, 1);
        if (block.names.length === 0) {
            block.room.remove();
            this.all = this.all.filter(other => other !== block);
        } else if (!block.isFilled) {
            this.leaveRoom(block);
        }
        this.number();
    }

    /** Renames a row without moving it. */
    rename(from, to) {
        const block = this.byName.get(from);
        if (!block) return;
        block.names[block.names.indexOf(from)] = to;
        this.byName.delete(from);
        this.byName.set(to, block);
    }

    /** True if a row is in the document. */
    isIn(name) { return this.byName.get(name)?.isFilled ?? false; }

    /**
     * Goes to an end of the page at once. The browser's own way is a motion, which `settle` would break off when it keeps
     * a user at the end of a page that still grows.
     */
    jump(event) {
        const isTyped = event.target.closest?.("input, select, textarea, video");
        if (isTyped || event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
        if (event.key !== "Home" && event.key !== "End") return;
        event.preventDefault();
        scrollTo(0, event.key === "Home" ? 0 : document.documentElement.scrollHeight);
    }

    // MARK: Rows near the window

    /** Creates the rows near the window, and removes those far from it. */
    settle() {
        this.turn = undefined;
        const view = innerHeight;
        const isAtEnd = scrollY > 0 && scrollY + view >= document.documentElement.scrollHeight - 2;
        if (this.width !== innerWidth) this.measureAnew();
        const distances = this.all.map(block => {
            const [top, bottom] = this.extent(block);
            return Math.max(top - view, -bottom, 0);
        });
        const far = this.all.filter((block, index) => block.isFilled && distances[index] > FAR * view && !block.names.some(name => this.isBusy(name)));
        const near = this.all.filter((block, index) => !block.isFilled && distances[index] <= NEAR * view);
        // Heights are measured before anything moves.
        const heights = far.map(block => this.extent(block)).map(([top, bottom]) => bottom - top);
        far.forEach((block, index) => this.empty(block, heights[index]));
        for (const block of near) this.fill(block);
        if (near.length === 0) return;
        this.number();
        // The rows here may be higher or lower than those at the beginning. Placeholders above the window would move the rows in it.
        if (Math.abs(this.rowHeight - this.height) > 0.2 * this.height) this.estimate(block => this.extent(block)[0] >= view);
        // Rows higher than estimated push the end of the page down. A user at the end stays at the end.
        if (isAtEnd) scrollTo(0, document.documentElement.scrollHeight);
    }

    fill(block) {
        this.hide(block);
        block.room.after(...block.names.map(name => this.make(name)));
    }

    hide(block) {
        [block.isFilled, block.room.hidden] = [true, true];
    }

    empty(block, height) {
        for (const element of this.elements(block)) element.remove();
        block.isFilled = false;
        for (const name of block.names) this.drop(name);
        [block.room.hidden, block.room.style.height] = [false, `${height}px`];
    }

    /** Sets each row's position for screen readers, because the document has only a part of the list. */
    number() {
        let position = 0;
        for (const block of this.all) {
            if (block.isFilled) {
                for (const [index, element] of this.elements(block).entries()) {
                    element.setAttribute("aria-posinset", position + index + 1);
                    element.setAttribute("aria-setsize", this.byName.size);
                }
            }
            position += block.names.length;
        }
    }

    // MARK: Placeholders

    block(names) {
        const block = {names, isFilled: false, room: el("li", {class: "room", "aria-hidden": "true"})};
        for (const name of names) this.byName.set(name, block);
        this.leaveRoom(block);
        return block;
    }

    /** Gives a placeholder the estimated height of its rows. */
    leaveRoom(block) { block.room.style.height = `${this.lines(block) * (this.height + GAP) - GAP}px`; }

    /** The number of lines that a block's rows take. */
    lines(block) { return Math.ceil(block.names.length / this.columns); }

    elements(block) {
        const elements = [];
        let element = block.room;
        for (let count = 0; count < block.names.length; count += 1) elements.push(element = element.nextElementSibling);
        return elements;
    }

    /** Top and bottom of a block, relative to the top of the window. */
    extent(block) {
        if (!block.isFilled) {
            const {top, bottom} = block.room.getBoundingClientRect();
            return [top, bottom];
        }
        const elements = this.elements(block);
        return [elements[0].getBoundingClientRect().top, elements.at(-1).getBoundingClientRect().bottom];
    }

    /** The mean height of the rows in the document; undefined if there are none. */
    get rowHeight() {
        const filled = this.all.filter(block => block.isFilled && block.names.length > 0);
        const count = filled.reduce((sum, block) => sum + this.lines(block), 0);
        const height = filled.map(block => this.extent(block)).reduce((sum, [top, bottom]) => sum + bottom - top + GAP, 0);
        return height > 0 ? height / count - GAP : undefined;
    }

    /** Rows have other heights in a window of another width. */
    measureAnew() {
        const isFirst = this.width === 0;
        this.width = innerWidth;
        if (isFirst) return;
        if (columnsOf(this.container) !== this.columns) return this.show(this.names);
        this.estimate();
    }

    /**
     * Gives placeholders the mean height of the rows in the document. With a wrong one, fast scrolling shows an empty window.
     *
     * - `isMeant(block)`: true for a block whose placeholder may change its height.
     */
    estimate(isMeant = () => true) {
        this.height = this.rowHeight ?? this.height;
        const blocks = this.all.filter(block => !block.isFilled && isMeant(block));
        for (const block of blocks) this.leaveRoom(block);
    }
}
