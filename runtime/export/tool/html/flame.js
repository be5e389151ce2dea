// SPDX-License-Identifier: Apache-2.0
// The call tree as boxes, outermost on top, as wide as their time. Boxes are elements, so that the
// keyboard, the printer and a screen reader find them; what is too narrow is drawn as one.
"use strict";

const flame = (() => {
    const ROW = 22;         // pixels a level, as in report.css
    const NARROW = 2;       // pixels; narrower neighbours become one
    const WIDER = 1.001;    // a box is more than rounding wider than its time
    const MOST_BOXES = 4000; // beyond it what is narrow becomes wider
    const tree = run.tree;
    const box = byId("flame");
    const manySets = tree.some((node) => node.set && node.set !== tree[0].set);
    const ALL = tree.length; // the root that holds the roots
    const time = new Float64Array(ALL + 1);  // what is shown: that of the row in the table
    const value = new Float64Array(ALL + 1); // as wide as this
    const nested = [];
    let focus = ALL;
    let matches = null;
    let boxes = []; // what is drawn: {node, level, left, width}
    let current = null;

    // A parent stands before its children, so one pass from the back sums them. A scope that is
    // still open has not counted its time yet; one that ends later than its parent was cut off it.
    // Work that was sent to other threads ran beside its sender: together it may take longer.
    function measure() {
        for (let i = 0; i <= ALL; ++i) {
            nested.push([]);
        }
        const inside = new Float64Array(ALL + 1);
        for (let i = ALL - 1; i >= 0; --i) {
            const node = tree[i];
            const parent = node.parent >= 0 && node.parent < i ? node.parent : ALL;
            time[i] = node.total_ns + (node.open_ns || 0);
            value[i] = Math.max(time[i], inside[i]);
            inside[parent] += value[i];
            nested[parent].push(i);
        }
        time[ALL] = value[ALL] = inside[ALL];
        for (const list of nested) {
            list.sort((a, b) => value[b] - value[a]);
        }
    }

    const nameOf = (index) => index === ALL ? "all" : tree[index].name;
    const parentOf = (index) => index === ALL ? -1
        : tree[index].parent >= 0 && tree[index].parent < index ? tree[index].parent : ALL;

    function pathOf(index) {
        const path = [];
        for (let at = index; at >= 0; at = parentOf(at)) {
            path.unshift(at);
        }
        return path;
    }

    // The focus spans the width, its ancestors stand over it.
    function layout(width, narrow) {
        const path = pathOf(focus);
        const out = path.map((node, level) =>
            ({node, level, left: 0, width, above: node !== focus}));
        const todo = [out[out.length - 1]];
        while (todo.length && out.length <= MOST_BOXES) {
            const at = todo.pop();
            const scale = at.width / Math.max(1, value[at.node]);
            let left = at.left, rest = 0, more = 0;
            for (const node of nested[at.node]) {
                const wide = value[node] * scale;
                if (wide < narrow) {
                    rest += wide;
                    more += 1;
                    continue;
                }
                const child = {node, level: at.level + 1, left, width: wide};
                out.push(child);
                todo.push(child);
                left += wide;
            }
            if (rest >= 1) {
                out.push({node: -1, more, level: at.level + 1, left, width: rest,
                          parent: at.node});
            }
        }
        return out;
    }

    function describe(at) {
        if (at.node < 0) {
            return [at.more + " more", [["too narrow here", "zoom in"]]];
        }
        if (at.node === ALL) {
            return ["all threads", [["time", format.time(value[ALL])],
                                    ["wall time", format.time(run.run.wall_ns || 0)],
                                    ["threads", format.count(run.run.threads || 0)]]];
        }
        const node = tree[at.node];
        const parent = parentOf(at.node);
        const share = (of) => time[of] ? format.percent(time[at.node] / time[of]) + " %" : "";
        const isWider = value[at.node] > time[at.node] * WIDER;
        return [node.name, [
            ["total", format.time(node.total_ns)],
            node.open_ns ? ["open for", format.time(node.open_ns)] : null,
            node.folded ? null : ["self", format.time(node.self_ns)],
            ["calls", format.count(node.calls)],
            node.calls && node.total_ns ? ["a call", format.time(node.total_ns / node.calls)]
                : null,
            ["of all", share(ALL)],
            parent !== ALL ? ["of its caller", share(parent)] : null,
            isWider ? ["drawn as", format.time(value[at.node]) +
                ", the sum of what is below it: work that it sent ran beside it"] : null,
            node.set && manySets ? ["set", shown(node.set)] : null,
        ]];
    }

    function element(at, index) {
        const parts = ["box"];
        const label = at.node < 0 ? "" : at.node === ALL ? "all threads" : shown(nameOf(at.node));
        if (at.node < 0) {
            parts.push("rest");
        } else if (at.node === ALL) {
            parts.push("root");
        } else {
            const node = tree[at.node];
            parts.push(node.folded ? "rest" : "c" + colors.index(node.name),
                node.open_ns ? "open" : "", at.above ? "above" : "",
                matches ? (matches(node.name) ? "hit" : "miss") : "");
        }
        const button = el("button", {type: "button", tabIndex: -1,
                                     className: parts.filter(Boolean).join(" ")});
        button.style.left = at.left + "px";
        button.style.top = at.level * ROW + "px";
        button.style.width = Math.max(1, at.width - 1) + "px";
        if (at.node >= 0) {
            button.setAttribute("aria-label",
                label + ", " + format.time(time[at.node]) + ", " +
                format.percent(time[ALL] ? time[at.node] / time[ALL] : 0) + " %");
        } else {
            button.setAttribute("aria-label", at.more + " more");
        }
        if (at.width > 28) {
            button.append(el("span", {className: "text", textContent: label}));
        }
        if (at.width > 170) {
            button.append(el("span", {className: "aside",
                                      textContent: format.time(time[at.node])}));
        }
        button.dataset.box = index;
        at.element = button;
        return button;
    }

    function draw() {
        const width = byId("flame-box").clientWidth;
        let narrow = NARROW;
        boxes = layout(width, narrow);
        while (boxes.length > MOST_BOXES && narrow < width) {
            narrow *= 2;
            boxes = layout(width, narrow);
        }
        const levels = boxes.reduce((most, at) => Math.max(most, at.level), 0) + 1;
        box.style.height = levels * ROW + "px";
        box.replaceChildren(...boxes.map(element));
        current = boxes.find((at) => at.node === focus) || boxes[0];
        current.element.tabIndex = 0;
        markSelected();
        crumbs();
    }

    function markSelected() {
        const stat = selection.stat;
        for (const at of boxes) {
            const node = tree[at.node];
            at.element.classList.toggle("selected", Boolean(stat && node &&
                node.name === stat.name && node.set === stat.set));
        }
    }

    function crumbs() {
        const path = pathOf(focus);
        byId("crumbs").replaceChildren(...path.map((node, i) => {
            const crumb = el("button", {type: "button", className: "quiet",
                textContent: node === ALL ? "all threads" : shown(nameOf(node))});
            if (i === path.length - 1) {
                crumb.setAttribute("aria-current", "true");
            }
            crumb.addEventListener("click", () => zoom(node));
            return crumb;
        }), el("span", {className: "aside", textContent: format.time(time[focus]) + ", " +
            format.percent(time[ALL] ? time[focus] / time[ALL] : 0) + " %"}));
        byId("flame-out").disabled = focus === ALL;
    }

    function zoom(node) {
        const keyboard = box.contains(document.activeElement);
        focus = node;
        tip.hide();
        draw();
        if (keyboard) {
            current.element.focus({preventScroll: true});
        }
    }

    function open(at) {
        if (at.node < 0) {
            zoom(at.parent);
            return;
        }
        if (at.node !== ALL) {
            selection.select(selection.find(nameOf(at.node), tree[at.node].set));
        }
        zoom(at.node);
    }

    // Time under matches, each counted once: what is nested in a match is in it already.
    function search(query) {
        matches = matcher(query);
        let found = 0, sum = 0;
        const under = new Uint8Array(ALL + 1);
        for (let i = 0; matches && i < ALL; ++i) {
            const hit = !tree[i].folded && matches(tree[i].name);
            under[i] = hit || under[parentOf(i)] ? 1 : 0;
            found += hit ? 1 : 0;
            sum += hit && !under[parentOf(i)] ? time[i] : 0;
        }
        byId("flame-found").textContent = !matches ? "" : format.count(found) +
            (found === 1 ? " path, " : " paths, ") + format.time(sum) + ", " +
            format.percent(time[ALL] ? sum / time[ALL] : 0) + " %";
        draw();
    }

    function boxAt(target) {
        const element = target.closest("button");
        return element ? boxes[Number(element.dataset.box)] : undefined;
    }

    function neighbour(key) {
        const level = boxes.filter((one) => one.level === current.level)
            .sort((a, b) => a.left - b.left);
        const middle = current.left + current.width / 2;
        switch (key) {
        case "ArrowUp":
            return boxes.find((one) => one.level === current.level - 1 && one.left <= middle &&
                one.left + one.width >= middle);
        case "ArrowDown":
            return boxes.find((one) => one.level === current.level + 1 &&
                one.left >= current.left - 0.01 && one.left < current.left + current.width);
        case "ArrowLeft":
            return level[level.indexOf(current) - 1];
        case "ArrowRight":
            return level[level.indexOf(current) + 1];
        default:
            return undefined;
        }
    }

    function keys(event) {
        const next = neighbour(event.key);
        if (next) {
            current.element.tabIndex = -1;
            current = next;
            current.element.tabIndex = 0;
            current.element.focus();
        } else if (event.key === "Escape" || event.key === "Backspace") {
            zoom(focus === ALL ? ALL : parentOf(focus));
        } else if (!event.key.startsWith("Arrow")) {
            return;
        }
        event.preventDefault();
    }

    function listen() {
        box.addEventListener("click", (event) => {
            const one = boxAt(event.target);
            if (one) {
                open(one);
            }
        });
        box.addEventListener("pointermove", (event) => {
            const one = boxAt(event.target);
            if (one) {
                tip.show(event.clientX, event.clientY, ...describe(one));
            } else {
                tip.hide();
            }
        });
        box.addEventListener("pointerleave", tip.hide);
        box.addEventListener("focusin", (event) => {
            const one = boxAt(event.target);
            if (one && one.element.matches(":focus-visible")) {
                current.element.tabIndex = -1;
                current = one;
                current.element.tabIndex = 0;
                tip.showAt(one.element, ...describe(one));
            }
        });
        box.addEventListener("focusout", tip.hide);
        box.addEventListener("keydown", keys);
        byId("flame-search").addEventListener("input", (event) => search(event.target.value));
        byId("flame-out").addEventListener("click", () => {
            if (focus !== ALL) {
                zoom(parentOf(focus));
            }
        });
        selection.onChange(markSelected);
        let width = byId("flame-box").clientWidth;
        new ResizeObserver(() => {
            if (byId("flame-box").clientWidth !== width) {
                width = byId("flame-box").clientWidth;
                draw();
            }
        }).observe(byId("flame-box"));
    }

    // Scopes that were open when the run was read, innermost only: the path and its age.
    function openPaths() {
        const out = [];
        tree.forEach((node, i) => {
            if (node.open_ns && !nested[i].some((child) => tree[child].open_ns)) {
                out.push({path: pathOf(i).slice(1).map((at) => shown(nameOf(at))).join(" > "),
                          ns: node.open_ns});
            }
        });
        return out.sort((a, b) => b.ns - a.ns);
    }

    function start() {
        measure();
        if (!tree.length) {
            byId("flame-box").replaceChildren(el("p", {className: "empty",
                textContent: "No calls were recorded."}));
            byId("crumbs").hidden = byId("flame-out").hidden = true;
            byId("flame-search").closest("label").hidden = byId("flame-help").hidden = true;
            return;
        }
        listen();
        draw();
    }

    return {start, openPaths};
})();
