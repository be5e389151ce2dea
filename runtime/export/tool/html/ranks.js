// SPDX-License-Identifier: Apache-2.0
// The ranks of a merged run: who is late in a scope that waits for others, when, and how evenly
// each name is spread.
"use strict";

const ranks = (() => {
    const ROWS = 100; // of the table of names, at once
    const LAST = 10; // ranks in the table of the last ones
    const all = run.ranks;
    const waiting = all ? all.waiting : [];
    const who = (row, key) => (row[key + "_rank"] === undefined ? "pid " + row[key + "_pid"]
        : "rank " + row[key + "_rank"]);
    const placed = (row, key) => who(row, key) + " (" + shown(row[key + "_host"]) + ")";
    // A name with its set, where several sets have it.
    const sets = new Map();
    for (const row of all ? all.names.concat(waiting) : []) {
        sets.set(row.name, (sets.get(row.name) || new Set()).add(row.set));
    }
    const label = (row) => shown((sets.get(row.name) || []).size > 1 ? row.name + " @" + row.set
        : row.name);
    const percent = (ppm) => format.percent(ppm / 1e6) + " %";
    const plural = (count, what) => format.count(count) + " " + what + (count === 1 ? "" : "s");

    function cellOf(value, kind) {
        if (kind === "time") {
            const [digits, unit] = format.parts(value, "auto");
            return el("td", {className: "number", title: format.exact(value)}, digits,
                el("span", {className: "unit", textContent: unit}));
        }
        return el("td", {className: kind === "text" ? "info" : "number",
                         textContent: kind === "text" ? shown(value) : value});
    }

    // columns: [title, kind, value of a row, explanation]; the first is the heading of its row.
    function fill(table, columns, rows) {
        table.replaceChildren(el("thead", {}, el("tr", {}, ...columns.map(([title, kind, , hint]) =>
            el("th", {scope: "col", textContent: title, title: hint || "",
                      className: kind === "text" ? "left" : ""})))),
        el("tbody", {}, ...rows.map((row) => el("tr", {}, ...columns.map(([, kind, of], at) =>
            at ? cellOf(of(row), kind)
                : el("th", {scope: "row", className: "name", textContent: shown(of(row)),
                            title: shown(of(row))}))))));
    }

    // ---- A waiting scope.

    const cause = (one) => (one.rank === undefined ? "pid " + one.pid : "rank " + one.rank) +
        " (" + shown(one.host) + ")";

    function causeText(wait) {
        if (wait.is_cause === undefined) {
            return "No rank waited for another one.";
        }
        if (!wait.is_cause) {
            return "No cause is named: " + wait.no_cause + ".";
        }
        const longer = (wait.longer_in || []).map((more) => label(more) + ", " +
            format.time(more.self_ns) + ", by " + format.time(more.by_ns));
        return wait.causes.map(cause).join(", ") +
            (wait.causes.length === 1 ? " covers " : " cover ") + percent(wait.covered_ppm) +
            " of the cost." + (longer.length ? " Longer than the median rank in " +
            longer.join("; ") + "." : "");
    }

    function figures(wait) {
        const pairs = [["ranks", format.count(wait.ranks)],
                       ["calls per rank", (wait.calls_differ ? "\u2264 " : "") +
                           format.count(wait.calls_per_rank)],
                       ["total wait", format.time(wait.total_ns)],
                       ["cost", format.time(wait.cost_ns)]];
        if (wait.last_host !== undefined) {
            pairs.push(["last", placed(wait, "last")], ["waits", format.time(wait.last_wait_ns)]);
        }
        pairs.push(["1 \u2192 n", format.time(wait.first_gap_ns)],
            ["2 \u2192 n", format.time(wait.second_gap_ns)],
            ["n\u22121 \u2192 n", format.time(wait.last_gap_ns)]);
        byId("wait-figures").replaceChildren(...pairs.map(([label, value]) =>
            el("div", {}, el("dt", {textContent: label}), el("dd", {textContent: value}))));
    }

    function lastTable(wait) {
        const steps = wait.by_steps;
        byId("last-box").hidden = byId("last-note").hidden = !steps;
        if (!steps) {
            return;
        }
        fill(byId("last"), [
            ["Last", "text", (row) => who(row, "last"), "The rank that waited shortest"],
            ["Host", "text", (row) => row.last_host],
            ["Windows", "number", (row) => format.count(row.windows),
             "Windows in which it was the last one"],
            ["%", "number", (row) => format.percent(row.windows / steps.compared)],
            ["Cost", "time", (row) => row.cost_ns, "How much longer the others waited in these"],
            ["Alone", "number", (row) => (steps.ranks > 2 ? format.count(row.alone) : "-"),
             "Windows in which it covers 80 % of the cost or more"],
        ], steps.last.slice(0, LAST));
        const notes = [plural(steps.windows.length, "window") + " of " +
            plural(steps.window_steps, steps.by_calls ? "call" : "step")];
        if (steps.last.length > LAST) {
            notes.push(plural(steps.last.length - LAST, "more rank") + " were last");
        }
        if (steps.not_compared) {
            notes.push(format.count(steps.not_compared) +
                " not compared: the ranks have different numbers of calls in them");
        }
        if (steps.ranks_without) {
            notes.push(plural(steps.ranks_without, "rank") + " without windows");
        }
        byId("last-note").textContent = notes.join("; ") + ".";
    }

    function show(at) {
        const wait = waiting[at];
        byId("wait-cause").textContent = causeText(wait);
        figures(wait);
        lastTable(wait);
        heat.show((run.heat || []).find((map) => map.name === wait.name && map.set === wait.set));
    }

    // ---- All names.

    let limit = ROWS;

    function spread() {
        fill(byId("spread"), [
            ["Name", "text", label],
            ["Ranks", "number", (row) => format.count(row.ranks), "Ranks that recorded it"],
            ["Total", "time", (row) => row.total_ns, "Of all ranks"],
            ["Lost", "time", (row) => row.lost_ns,
             "How much less than the longest rank the others took, in all"],
            ["Imbalance %", "number", (row) => format.percent(row.imbalance_ppm / 1e6),
             "Lost time as a part of what it would be if one rank did everything"],
            ["Longest", "text", (row) => placed(row, "max")],
            ["Max", "time", (row) => row.max_ns],
            ["Shortest", "text", (row) => placed(row, "min")],
            ["Min", "time", (row) => row.min_ns],
            ["Median", "time", (row) => row.median_ns, "The lower one of two"],
            ["Mean", "time", (row) => row.mean_ns],
            ["Std. dev.", "time", (row) => row.stddev_ns, "Of the totals of the ranks"],
        ], all.names.slice(0, limit));
        const more = all.names.length - limit;
        byId("spread-more").hidden = more <= 0;
        byId("spread-more").textContent =
            "Show " + format.count(Math.min(more, 5 * ROWS)) + " more";
    }

    function start() {
        for (const id of ["ranks", "ranks-link"]) {
            byId(id).hidden = !all;
        }
        if (!all) {
            return;
        }
        byId("wait-part").hidden = !waiting.length;
        byId("wait-field").hidden = waiting.length < 2;
        byId("wait").append(...waiting.map((wait, at) =>
            el("option", {value: at, textContent: label(wait)})));
        byId("wait").addEventListener("change", () => show(Number(byId("wait").value)));
        byId("spread-more").addEventListener("click", () => {
            limit += 5 * ROWS;
            spread();
        });
        spread();
        heat.start();
        if (waiting.length) {
            show(0);
        }
    }

    return {start};
})();
