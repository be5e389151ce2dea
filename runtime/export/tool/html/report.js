// SPDX-License-Identifier: Apache-2.0
// The frame around the views: what ran, what is missing, and the start of everything.
"use strict";

(() => {
    const about = run.run;
    const STATES = {
        ended: "ended", live: "still running", killed: "killed or crashed",
    };

    function notice(text, bad) {
        byId("notices").append(el("p", {className: bad ? "notice bad" : "notice",
                                        textContent: shown(text)}));
    }

    function figure(label, value, hint) {
        return el("div", {title: hint || ""}, el("dt", {textContent: label}),
            el("dd", {textContent: value}));
    }

    function fact(label, value) {
        return value === undefined || value === null || value === "" ? []
            : [el("div", {}, el("dt", {textContent: label}),
                el("dd", {textContent: shown(value)}))];
    }

    function lossTotal() {
        return run.losses.reduce((sum, loss) => sum + loss.count, 0);
    }

    function costText() {
        const cost = run.cost || {};
        return cost.ns_per_call === undefined ? "" : format.time(cost.calls * cost.ns_per_call);
    }

    // As the last lines of a table of the tool: the first step of a program has no sample, others
    // without one were not to be recorded.
    function stepsText() {
        const step = run.stats.find((stat) => stat.name === "stint_step" && stat.interval);
        if (!step || !step.samples) {
            return "";
        }
        const steps = about.steps || 0;
        const parts = [(steps > step.samples + 1 ? format.count(step.samples) + " of " : "") +
            format.count(Math.max(steps, step.samples))];
        if (step.total_ns) {
            parts.push(format.rate(step.samples * 1e9 / step.total_ns) + " a second");
        }
        for (const [label, key] of [["avg", "avg_ns"], ["p50", "p50_ns"], ["p99", "p99_ns"],
                                    ["max", "max_ns"]]) {
            if (step[key] !== undefined) {
                parts.push(label + " " + format.time(step[key]));
            }
        }
        return parts.join(", ");
    }

    function header() {
        byId("program").textContent = shown(about.program || "stint report");
        document.title = shown(about.program || "report") + " \u2013 stint";
        byId("state").textContent = STATES[about.state] || "";
        byId("state").classList.add(STATES[about.state] ? about.state : "unknown");
        byId("command").textContent = shown(about.command || "");
        byId("command").hidden = !about.command;
        const calls = (run.cost || {}).calls;
        byId("figures").append(
            figure("wall time",
                (about.wall_at_least ? "\u2265 " : "") + format.time(about.wall_ns || 0),
                format.exact(about.wall_ns || 0)),
            figure("timers", format.count(run.stats.length)),
            figure("calls", calls === undefined ? "\u2013" : format.large(calls),
                calls === undefined ? "" : format.count(calls)),
            figure("threads", format.count(about.threads || 0)),
            figure("lost", lossTotal() ? format.count(lossTotal()) : "none"));
        const started = (about.start || "").replace("T", " ").replace(/(\.\d+)?Z$/, " UTC");
        const cpu = about.cpu && about.cpus ? about.cpus + " \u00d7 " + about.cpu : about.cpu;
        byId("facts").append(...fact("started", started), ...fact("host", about.host),
            ...fact("CPU", cpu), ...fact("GPU", about.gpu), ...fact("clock", about.clock),
            ...fact("compiler", about.compiler), ...fact("process", about.pid || ""),
            ...fact("rank", about.place || ""),
            ...fact("clocks", about.clocks || ""),
            ...fact("steps", stepsText()));
    }

    function notices() {
        if (run.schema !== "stint-html-1") {
            for (const id of ["figures", "timers", "ranks", "calls", "time", "losses"]) {
                byId(id).hidden = true; // nothing is known: not even that there is nothing
            }
            notice("The data of this report cannot be read: the file is cut short or damaged. " +
                "Export it again.", true);
        }
        if (about.warning) {
            notice(about.warning, true);
        }
        for (const open of flame.openPaths().slice(0, 5)) {
            const killed = about.state === "killed";
            notice("open for " + (killed ? "at least " : "") + format.time(open.ns) + ": " +
                open.path, killed);
        }
        if (run.thinned) {
            notice(run.thinned);
        }
    }

    function ledger() {
        const box = byId("ledger");
        if (run.losses.length) {
            const rows = run.losses.map((loss) => el("tr", {},
                el("td", {className: "number", textContent: format.count(loss.count)}),
                el("td", {textContent: shown(loss.text)})));
            box.append(el("table", {className: "losses"}, el("tbody", {}, ...rows)));
        } else {
            box.append(el("p", {textContent: "Nothing was lost, skipped or abandoned."}));
        }
        const overwritten = run.lanes.reduce((sum, lane) => sum + (lane.overwritten || 0), 0);
        if (overwritten) {
            box.append(el("p", {textContent: format.count(overwritten) + " older events of the " +
                "trace were overwritten by newer ones; a larger STINT_TRACE keeps more."}));
        }
        const cost = run.cost || {};
        if (cost.calls !== undefined) {
            box.append(el("p", {textContent: "stint counted " + format.count(cost.calls) +
                " calls" + (costText() ? ", each at about " + format.time(cost.ns_per_call) + ": " +
                    costText() + " in all." : ".")}));
        }
    }

    function themeButton() {
        const button = byId("theme");
        const tell = () => {
            const dark = theme.current() === "dark";
            button.textContent = dark ? "Light" : "Dark";
            button.setAttribute("aria-label", dark ? "Light colours" : "Dark colours");
        };
        button.addEventListener("click", theme.toggle);
        theme.onChange(tell);
        tell();
    }

    // "/" goes to the filter, as in many a list.
    function shortcuts() {
        addEventListener("keydown", (event) => {
            const typing = event.target.closest && event.target.closest("input, select, textarea");
            if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
                byId("filter").focus();
                event.preventDefault();
            }
        });
    }

    function showAddressed() {
        const index = selection.addressed(location.hash);
        if (index >= 0) {
            selection.select(index);
            table.reveal(index);
        }
        return index >= 0;
    }

    header();
    themeButton();
    table.start();
    distribution.start();
    ranks.start();
    flame.start();
    pointer.start();
    notices();
    ledger();
    shortcuts();
    // The exporter puts the largest first; one call has no distribution to look at.
    if (!showAddressed()) {
        selection.select(Math.max(run.stats.length ? 0 : -1,
            run.stats.findIndex((stat) => stat.samples > 1)));
    }
    addEventListener("hashchange", showAddressed);
})();
