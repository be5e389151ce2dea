// SPDX-License-Identifier: Apache-2.0
// The timers: one row a name and set, or one a name, set and thread, sorted by any column,
// filtered, one of them selected.
"use strict";

const table = (() => {
    const CHUNK = 200; // rows put on the page at once; 10^5 would take seconds
    const stats = run.stats;
    const wall = run.run.wall_ns || 0;
    // Calls that were open when the run was read count as long as they have run: at least that.
    const timeOf = (stat) => (stat.total_ns || 0) + (stat.open_all_ns || 0);
    const shareOf = (stat) => wall ? timeOf(stat) / wall : 0;
    // Any number of intervals of one thread may be open at once: their sum is no part of the
    // time.
    const overlaps = (stat) =>
        stat.interval && shareOf(stat) > 1.001 * Math.max(1, stat.threads || 1);
    const widest = Math.max(1e-9, ...chunked(stats, (part) =>
        Math.max(...part.map((stat) => overlaps(stat) ? 0 : shareOf(stat)))));
    const gpu = (key) => (stat) => stat.gpu ? stat.gpu[key] : null;
    const field = (key) => (stat) => stat[key] === undefined ? null : stat[key];
    const threadName = (stat) => {
        const thread = run.threads[stat.thread];
        return thread ? (thread.tid + " " + thread.name).trim() : null;
    };

    // The properties of a column: title, explanation, its value of a row, how it is shown. A column
    // without any value is left out. Those between are generated from gen/columns.ini.
    const COLUMNS = [
        {key: "name", title: "Timer", kind: "name", hint: "Name of the scope"},
        {key: "thread", title: "Thread", kind: "text", of: threadName,
         hint: "Its number and its name"},
        {key: "share", title: "Share", kind: "share", of: shareOf,
         hint: "Of the wall time; the dark part is its own, without nested scopes"},
        ...@COLUMNS@,
        {key: "set", title: "Set", kind: "text", hint: "Set of timers it belongs to"},
    ];
    // In sight in a window of 1280 pixels; the others follow in the order above.
    const FIRST = ["name", "thread", "share", "calls", "total_ns", "self_ns", "avg_ns", "p50_ns",
                   "p99_ns", "max_ns", "info"];
    for (const column of COLUMNS) {
        column.of = column.of || (column.gpu ? gpu(column.gpu) : field(column.key));
        if (column.key === "total_ns") {
            column.of = timeOf;
        }
    }
    const place = (column) => {
        const at = FIRST.indexOf(column.key);
        return at < 0 ? FIRST.length : at;
    };
    COLUMNS.sort((a, b) => place(a) - place(b)); // stable
    const sets = [...new Set(stats.map((stat) => stat.set))].sort();
    // Rows: what they show, and the timer that they belong to.
    const merged = stats.map((stat, index) => ({stat, index}));
    const perThread = run.per_thread.map((stat) =>
        ({stat, index: selection.find(stat.name, stat.set)}));
    let list = merged;
    let columns = columnsOf(list);

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

    function columnsOf(rows) {
        return COLUMNS.filter((column) => column.key === "set" ? sets.length > 1
            : rows.some(({stat}) => column.of(stat) !== null && column.of(stat) !== ""));
    }

    function sort() {
        const column = columns.find((c) => c.key === state.key) || columns[0];
        const matches = matcher(state.query);
        const chosen = [];
        list.forEach((row, at) => {
            if ((!matches || matches(row.stat.name)) &&
                (state.set === null || row.stat.set === state.set)) {
                chosen.push({row, at, value: column.of(row.stat)});
            }
        });
        const textual = column.kind === "name" || column.kind === "text";
        chosen.sort((a, b) => {
            const none = isNone(a.value) - isNone(b.value);
            const order = textual ? (a.value < b.value ? -1 : a.value > b.value ? 1 : 0)
                : a.value - b.value;
            return none || (state.down ? -order : order) || a.at - b.at;
        });
        state.order = chosen.map((one) => one.row);
    }

    // Why a total is a lower bound; "" if it is none.
    function boundOf(stat) {
        if (stat.untimed) {
            return format.count(stat.untimed) + " calls were not timed";
        }
        if (stat.open_all_ns) {
            return "with " + format.time(stat.open_all_ns) +
                " of calls that had not ended when the run was read";
        }
        return "";
    }

    // Why a percentile is a lower bound; "" if it is none.
    function beyondOf(stat, key) {
        const percentile = /^p(\d+)_ns$/.exec(key);
        if (!percentile || !stat.beyond || stat[key] === stat.max_ns ||
            Math.ceil(stat.samples * percentile[1] / 100) <= stat.samples - stat.beyond) {
            return "";
        }
        return format.count(stat.beyond) + " calls are longer than the buckets tell apart";
    }

    function timeCell(value, bound) {
        const [digits, unit] = format.cell(value);
        const cell = el("td", {className: "number", title: format.exact(value)}, digits,
            el("span", {className: "unit", textContent: unit}));
        if (bound) {
            cell.prepend(el("span", {className: "least", textContent: "\u2265"}));
            cell.title = "At least: " + bound;
        }
        return cell;
    }

    function shareCell(stat, share) {
        const bar = el("span", {className: "share-bar"}, el("span"), el("span"));
        if (overlaps(stat)) {
            return el("td", {className: "share", title: overText(stat)},
                el("span", {className: "share-text", textContent: "\u2013"}));
        }
        bar.children[0].style.width = 100 * share / widest + "%";
        bar.children[1].style.width = 100 * share / widest *
            (timeOf(stat) ? Math.min(1, (stat.self_ns || 0) / timeOf(stat)) : 0) + "%";
        return el("td", {className: "share", title: overText(stat)}, bar,
            el("span", {className: "share-text", textContent: format.percent(share)}),
            el("span", {className: "unit", textContent: "%"}));
    }

    function nameCell(name) {
        const cell = el("th", {scope: "row", className: "name"},
            el("span", {className: "dot c" + colors.index(name)}),
            el("span", {className: "text", textContent: shown(name), title: shown(name)}));
        return cell;
    }

    function cell(column, stat) {
        const value = column.of(stat);
        if (column.kind === "name") {
            return nameCell(value);
        }
        if (value === null || value === "") {
            return el("td", {className: (column.kind === "text" ? "info" : "number") + " none",
                             textContent: "\u2013"});
        }
        switch (column.kind) {
        case "share":
            return shareCell(stat, value);
        case "time":
            return timeCell(value, column.key === "total_ns" ? boundOf(stat)
                : beyondOf(stat, column.key));
        case "rate": {
            const [digits, unit] = format.scaled(value, column.unit);
            return el("td", {className: "number"}, digits,
                el("span", {className: "unit wide", textContent: unit}));
        }
        case "count":
            return el("td", {className: "number", textContent: format.count(value)});
        case "percent":
            return el("td", {className: "number"}, format.percent(value / 1e6),
                el("span", {className: "unit", textContent: "%"}));
        case "ratio":
            return el("td", {className: "number", textContent: (value / 1e6).toFixed(2)});
        default:
            return el("td", {className: "info", textContent: shown(value), title: shown(value)});
        }
    }

    function rowOf({stat, index}) {
        const row = el("tr", {tabIndex: -1}, ...columns.map((c) => cell(c, stat)));
        row.dataset.index = index;
        return row;
    }

    // Why a row has more time than the run, or "".
    function overText(stat) {
        if (shareOf(stat) <= 1.001) {
            return "";
        }
        if (overlaps(stat)) {
            return "Its intervals overlap: their sum is no share of the wall time";
        }
        return stat.threads > 1
            ? "It ran on " + format.count(stat.threads) + " threads, whose times are added" : "";
    }

    function note() {
        const over = stats.filter((stat) => overText(stat));
        const reasons = [];
        if (over.some((stat) => !overlaps(stat))) {
            const threads = run.run.threads || 0;
            reasons.push("Shares can exceed 100 % of the wall time: times of threads are added (" +
                format.count(threads) +
                " threads have up to " + format.time(threads * wall) + " in " +
                format.time(wall) + ").");
        }
        if (over.some(overlaps)) {
            reasons.push("Intervals that overlap have no share: each counts in full.");
        }
        if (run.run.wall_at_least) {
            reasons.push("The end of the run is not known: its shares are at most these.");
        }
        byId("table-note").hidden = !reasons.length;
        byId("table-note").textContent = reasons.join(" ");
    }

    // How many columns are out of sight on the right: the button beside the count says so.
    function tellRight() {
        const box = byId("table-box");
        const edge = box.getBoundingClientRect().left + box.clientWidth;
        const hidden = [...byId("table").tHead.rows[0].cells].filter((cell) =>
            cell.getBoundingClientRect().right > edge + 4).length; // not only its border
        box.classList.toggle("more", hidden > 0);
        byId("table-right").hidden = !hidden;
        byId("table-right").textContent = format.count(hidden) +
            (hidden === 1 ? " more column" : " more columns") + " \u2192";
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
        const what = list === perThread ? "row" : "timer";
        byId("table-count").textContent = (state.order.length === list.length ? ""
            : format.count(state.order.length) + " of ") + format.count(list.length) + " " + what +
            (list.length === 1 ? "" : "s");
        byId("table-more").hidden = more <= 0;
        byId("table-more").textContent =
            "Show " + format.count(Math.min(more, CHUNK * 5)) + " more";
        mark();
        tellRight();
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

    function showPerThread() {
        list = list === merged ? perThread : merged;
        columns = columnsOf(list);
        if (!columns.some((column) => column.key === state.key)) {
            state.key = "total_ns";
            state.down = true;
        }
        byId("per-thread").setAttribute("aria-pressed", list === perThread);
        headings();
        update();
    }

    function listen() {
        byId("per-thread").addEventListener("click", showPerThread);
        byId("table-right").addEventListener("click", () => {
            byId("table-box").scrollLeft += byId("table-box").clientWidth * 0.7;
        });
        byId("table-box").addEventListener("scroll", oncePerFrame(tellRight), {passive: true});
        new ResizeObserver(tellRight).observe(byId("table-box"));
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
            const at = state.order.findIndex((row) => row.index === index);
            if (at >= state.limit) {
                state.limit = at + 1;
                fill();
            }
            mark();
        });
    }

    // Scrolls to the row of a timer, if it is not filtered out.
    function reveal(index) {
        const row = [...body.rows].find((one) => Number(one.dataset.index) === index);
        if (row) {
            row.scrollIntoView({block: "center"});
        }
    }

    function start() {
        byId("set-field").hidden = sets.length < 2;
        byId("per-thread").hidden = !perThread.length;
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
        note();
        update();
    }

    return {start, reveal};
})();
