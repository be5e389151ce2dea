// SPDX-License-Identifier: Apache-2.0
// The timers: one row a name and set, sorted by any column, filtered, one of them selected.
"use strict";

const table = (() => {
    const CHUNK = 200; // rows put on the page at once; 10^5 would take seconds
    const stats = run.stats;
    const wall = run.run.wall_ns || 0;
    const shareOf = (stat) => wall ? stat.total_ns / wall : 0;
    const widest = Math.max(1e-9, ...chunked(stats, (part) => Math.max(...part.map(shareOf))));
    const gpu = (key) => (stat) => stat.gpu ? stat.gpu[key] : null;
    const field = (key) => (stat) => stat[key] === undefined ? null : stat[key];

    // What a column is: title, explanation, its value of a row, how it is shown. A column without
    // any value is left out. Those between are generated from gen/columns.ini.
    const COLUMNS = [
        {key: "name", title: "Timer", kind: "name", hint: "Name of the scope"},
        {key: "share", title: "Share", kind: "share", of: shareOf,
         hint: "Of the wall time; the dark part is its own, without nested scopes"},
        ...@COLUMNS@,
        {key: "set", title: "Set", kind: "text", hint: "Set of timers it belongs to"},
    ];
    for (const column of COLUMNS) {
        column.of = column.of || (column.gpu ? gpu(column.gpu) : field(column.key));
    }
    const sets = [...new Set(stats.map((stat) => stat.set))].sort();
    const columns = COLUMNS.filter((column) => column.key === "set" ? sets.length > 1
        : stats.some((stat) => column.of(stat) !== null && column.of(stat) !== ""));

    const state = {key: "total_ns", down: true, query: "", set: null, limit: CHUNK, order: []};
    const body = byId("table").tBodies[0];

    // Math.max(...list) of a long list overflows the stack.
    function chunked(list, of) {
        const out = [];
        for (let i = 0; i < list.length; i += 4096) {
            out.push(of(list.slice(i, i + 4096)));
        }
        return out;
    }

    const isNone = (value) => value === null || value === "";

    function sort() {
        const column = columns.find((c) => c.key === state.key) || columns[0];
        const matches = matcher(state.query);
        const chosen = [];
        stats.forEach((stat, index) => {
            if ((!matches || matches(stat.name)) &&
                (state.set === null || stat.set === state.set)) {
                chosen.push({index, value: column.of(stat)});
            }
        });
        const textual = column.kind === "name" || column.kind === "text";
        chosen.sort((a, b) => {
            const none = isNone(a.value) - isNone(b.value);
            const order = textual ? (a.value < b.value ? -1 : a.value > b.value ? 1 : 0)
                : a.value - b.value;
            return none || (state.down ? -order : order) || a.index - b.index;
        });
        state.order = chosen.map((one) => one.index);
    }

    function timeCell(value) {
        const [digits, unit] = format.cell(value);
        return el("td", {className: "number", title: format.exact(value)}, digits,
            el("span", {className: "unit", textContent: unit}));
    }

    function shareCell(stat, share) {
        const bar = el("span", {className: "share-bar"}, el("span"), el("span"));
        bar.children[0].style.width = 100 * share / widest + "%";
        bar.children[1].style.width = 100 * share / widest *
            (stat.total_ns ? Math.min(1, stat.self_ns / stat.total_ns) : 0) + "%";
        return el("td", {className: "share"}, bar,
            el("span", {className: "share-text", textContent: format.percent(share)}),
            el("span", {className: "unit", textContent: "%"}));
    }

    function nameCell(name) {
        const cell = el("th", {scope: "row", className: "name"},
            el("span", {className: "dot dot" + colors.index(name)}),
            el("span", {className: "text", textContent: shown(name), title: shown(name)}));
        return cell;
    }

    function cell(column, stat) {
        const value = column.of(stat);
        if (column.kind === "name") {
            return nameCell(value);
        }
        if (value === null || value === "") {
            return el("td", {className: "number none", textContent: "\u2013"});
        }
        switch (column.kind) {
        case "share":
            return shareCell(stat, value);
        case "time":
            return timeCell(value);
        case "rate": {
            const [digits, unit] = format.scaled(value, column.unit);
            return el("td", {className: "number"}, digits,
                el("span", {className: "unit wide", textContent: unit}));
        }
        case "count":
            return el("td", {className: "number", textContent: format.count(value)});
        default:
            return el("td", {className: "info", textContent: shown(value), title: shown(value)});
        }
    }

    function rowOf(index) {
        const row = el("tr", {tabIndex: -1}, ...columns.map((c) => cell(c, stats[index])));
        row.dataset.index = index;
        return row;
    }

    // The selected row is the one the Tab key finds; without it the first.
    function mark() {
        let at = null;
        for (const row of body.rows) {
            const selected = Number(row.dataset.index) === selection.index;
            row.setAttribute("aria-selected", selected);
            row.tabIndex = -1;
            at = selected ? row : at;
        }
        at = at || body.rows[0];
        if (at) {
            at.tabIndex = 0;
        }
    }

    function fill() {
        const order = state.order.slice(0, state.limit);
        body.replaceChildren(...order.map(rowOf));
        const more = state.order.length - order.length;
        byId("table-count").textContent = state.order.length === stats.length
            ? format.count(stats.length) + (stats.length === 1 ? " timer" : " timers")
            : format.count(state.order.length) + " of " + format.count(stats.length) + " timers";
        byId("table-more").hidden = more <= 0;
        byId("table-more").textContent =
            "Show " + format.count(Math.min(more, CHUNK * 5)) + " more";
        mark();
    }

    function headings() {
        const row = el("tr");
        for (const column of columns) {
            const button = el("button", {type: "button", title: column.hint},
                el("span", {textContent: column.title}), el("span", {className: "arrow"}));
            const left = column.kind === "name" || column.kind === "text";
            const cell = el("th", {scope: "col", className: left ? "left " + column.kind : ""},
                button);
            cell.dataset.key = column.key;
            button.addEventListener("click", () => sortBy(column));
            row.append(cell);
        }
        byId("table").tHead.replaceChildren(row);
        arrows();
    }

    function arrows() {
        for (const cell of byId("table").tHead.rows[0].cells) {
            const on = cell.dataset.key === state.key;
            cell.setAttribute("aria-sort", !on ? "none" : state.down ? "descending" : "ascending");
        }
    }

    function sortBy(column) {
        const textual = column.kind === "name" || column.kind === "text";
        state.down = state.key === column.key ? !state.down : !textual;
        state.key = column.key;
        update();
        arrows();
    }

    function update() {
        state.limit = CHUNK;
        sort();
        fill();
    }

    function move(row, key) {
        const rows = body.rows;
        const at = row.sectionRowIndex;
        const to = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1}[key];
        if (to === undefined) {
            return false;
        }
        const next = rows[Math.max(0, Math.min(rows.length - 1, to))];
        selection.select(Number(next.dataset.index));
        next.focus();
        return true;
    }

    function listen() {
        body.addEventListener("click", (event) => {
            const row = event.target.closest("tr");
            if (row) {
                selection.select(Number(row.dataset.index));
                row.focus({preventScroll: true});
            }
        });
        body.addEventListener("keydown", (event) => {
            const row = event.target.closest("tr");
            if (row && (event.key === "Enter" || event.key === " ")) {
                selection.select(Number(row.dataset.index));
                event.preventDefault();
            } else if (row && move(row, event.key)) {
                event.preventDefault();
            }
        });
        byId("filter").addEventListener("input", (event) => {
            state.query = event.target.value;
            update();
        });
        byId("set").addEventListener("change", (event) => {
            state.set = event.target.value === "" ? null : sets[Number(event.target.value)];
            update();
        });
        byId("unit").addEventListener("change", (event) => {
            format.setUnit(event.target.value);
            fill();
        });
        byId("table-more").addEventListener("click", () => {
            state.limit += CHUNK * 5;
            fill();
        });
        // Chosen in another view: brought into sight, unless it is filtered out.
        selection.onChange((index) => {
            const place = state.order.indexOf(index);
            if (place >= state.limit) {
                state.limit = place + 1;
                fill();
            }
            mark();
        });
    }

    function start() {
        byId("set-field").hidden = sets.length < 2;
        byId("set").append(el("option", {value: "", textContent: "all"}),
            ...sets.map((set, i) => el("option", {value: i, textContent: shown(set)})));
        if (!stats.length) {
            byId("table-box").replaceChildren(el("p", {className: "empty",
                textContent: "No timer was recorded."}));
            byId("table-more").hidden = true;
            return;
        }
        headings();
        listen();
        update();
    }

    return {start};
})();
