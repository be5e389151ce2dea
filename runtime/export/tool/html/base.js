// SPDX-License-Identifier: Apache-2.0
// Code that all views share: the data, numbers for people, building the page, the selected row, the
// tip. Names in the data are anybody's: they become text nodes, never markup.
"use strict";

const run = (() => {
    try {
        return JSON.parse(document.getElementById("data").textContent);
    } catch (error) {
        return null; // cut short, most likely; report.js says so
    }
})() || {};
for (const key of ["stats", "threads", "per_thread", "tree", "lanes", "names", "losses"]) {
    run[key] = Array.isArray(run[key]) ? run[key] : [];
}
run.run = run.run || {};

const format = (() => {
    const UNITS = {s: 1e9, ms: 1e6, us: 1e3, ns: 1};
    const SIGNS = {s: "s", ms: "ms", us: "\u00b5s", ns: "ns"};
    let chosen = "auto";

    // Four digits that count, whole numbers from 1000 up.
    function digits(value) {
        const size = Math.abs(value);
        return size >= 999.95 || size === 0 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;
    }

    function count(value) {
        return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",");
    }

    function number(value) {
        const places = digits(value);
        return places ? value.toFixed(places) : count(value);
    }

    function parts(ns, unit) {
        if (unit === "auto") {
            unit = ns >= 999.95e6 ? "s" : ns >= 999.95e3 ? "ms" : ns >= 999.95 ? "us" : "ns";
        }
        const value = ns / UNITS[unit];
        return [unit === "ns" ? count(value) : number(value), SIGNS[unit]];
    }

    function bytes(value) {
        const units = ["B", "KiB", "MiB", "GiB", "TiB"];
        let at = 0;
        for (; Math.abs(value) >= 1024 && at < units.length - 1; ++at) {
            value /= 1024;
        }
        return (at ? number(value) : count(value)) + " " + units[at];
    }

    function scaled(value, unit) {
        const prefixes = ["", "k", "M", "G", "T", "P", "E"];
        let at = 0;
        for (; value >= 999.95 && at < prefixes.length - 1; ++at) {
            value /= 1000;
        }
        return [number(value), prefixes[at] + unit];
    }

    function percent(share) {
        const value = share * 100;
        return value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1)
            : value >= 0.01 || value === 0 ? value.toFixed(2) : "<0.01";
    }

    return {
        count, scaled, percent, parts, bytes,
        time: (ns) => parts(ns, "auto").join(" "),
        cell: (ns) => parts(ns, chosen),
        // Without zeros at its end.
        tick: (ns) => ns === 0 ? "0" : parts(ns, "auto").join(" ").replace(/(\.\d*?)0+(?= )/, "$1")
            .replace(/\.(?= )/, ""),
        // The next 1, 2 or 5 of a decade.
        step: (least) => {
            const decade = Math.pow(10, Math.floor(Math.log10(least)));
            return [1, 2, 5, 10].map((n) => n * decade).find((step) => step >= least) || least;
        },
        rate: (value) => number(value),
        // For a heading: 44,123 as it is, 1234567 as 1.235 M.
        large: (value) => value < 1e6 ? count(value) : scaled(value, "").join(" "),
        exact: (ns) => count(ns) + " ns",
        setUnit: (unit) => { chosen = unit; },
    };
})();

// An element: properties, or attributes where the key holds a "-" or is "role" or "scope".
function el(tag, properties, ...children) {
    const node = document.createElement(tag);
    for (const [key, value] of Object.entries(properties || {})) {
        if (key.includes("-") || key === "role" || key === "scope") {
            node.setAttribute(key, value);
        } else {
            node[key] = value;
        }
    }
    node.append(...children);
    return node;
}

function byId(id) {
    return document.getElementById(id);
}

// A name as it is shown: what would be invisible or turn the line around is escaped, as in exports.
function shown(name) {
    const text = String(name).replace(
        /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
        (c) => encodeURIComponent(c).toLowerCase().replaceAll("%", "\\x"));
    return text === "" ? "(no name)" : text;
}

const colors = (() => {
    const COUNT = 8; // --box0 ... of report.css: more cannot be told apart by colour-blind readers
    const known = new Map();
    let style = null;
    theme.onChange(() => { style = null; });

    // FNV-1a.
    function hashOf(name) {
        let hash = 2166136261;
        for (let i = 0; i < name.length; ++i) {
            hash = Math.imul(hash ^ name.charCodeAt(i), 16777619);
        }
        hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
        return ((hash ^ hash >>> 13) >>> 0) % COUNT;
    }

    // The largest timers have a colour each, that of their hash unless a larger one has it: a name
    // has mostly the same colour in every report. Smaller ones share those.
    function assign() {
        const largest = [...new Set(run.stats.slice(0, 4096).map((stat) => stat.name))]
            .slice(0, COUNT);
        const free = new Set(Array.from({length: COUNT}, (_, i) => i));
        for (const name of largest) {
            if (free.delete(hashOf(name))) {
                known.set(name, hashOf(name));
            }
        }
        const left = [...free];
        for (const name of largest.filter((one) => !known.has(one))) {
            known.set(name, left.shift());
        }
    }

    function index(name) {
        if (!known.has(name)) {
            known.set(name, hashOf(name));
        }
        return known.get(name);
    }

    // Variables of report.css, for canvases; read again when the theme changes.
    function get() {
        if (!style) {
            const computed = getComputedStyle(document.documentElement);
            const read = (name) => computed.getPropertyValue("--" + name).trim();
            style = {boxes: []};
            for (let i = 0; i < COUNT; ++i) {
                style.boxes.push(read("box" + i));
            }
            for (const name of ["text", "muted", "line", "page", "panel", "accent", "on-accent",
                                "wash", "ink", "stripe", "bad"]) {
                style[name] = read(name);
            }
        }
        return style;
    }

    assign();
    return {count: COUNT, index, get};
})();

// The row of the table that all views mark.
const selection = (() => {
    const rows = new Map();
    const names = new Map();
    const listeners = [];
    let at = -1;
    run.stats.forEach((stat, i) => {
        rows.set(stat.name + "\0" + stat.set, i);
        if (!names.has(stat.name)) {
            names.set(stat.name, i);
        }
    });

    function find(name, set) {
        const exact = set === undefined ? undefined : rows.get(name + "\0" + set);
        const index = exact === undefined ? names.get(name) : exact;
        return index === undefined ? -1 : index;
    }

    function select(index) {
        if (index !== at && index < run.stats.length) {
            at = index;
            for (const listener of listeners) {
                listener(at);
            }
        }
    }

    // "#timer=NAME&set=SET" after the name of the page: it opens with that row.
    function address() {
        const stat = run.stats[at];
        if (!stat) {
            return "#";
        }
        const set = names.get(stat.name) === at ? "" : "&set=" + encodeURIComponent(stat.set);
        return "#timer=" + encodeURIComponent(stat.name) + set;
    }

    // The row of such an address, or -1.
    function addressed(hash) {
        const parts = /^#timer=([^&]*)(?:&set=([^&]*))?$/.exec(hash);
        if (!parts) {
            return -1;
        }
        try {
            const set = parts[2] === undefined ? undefined : decodeURIComponent(parts[2]);
            return find(decodeURIComponent(parts[1]), set);
        } catch (error) {
            return -1; // a "%" that is no escape
        }
    }

    return {
        find, select, addressed,
        get address() { return address(); },
        get index() { return at; },
        get stat() { return at < 0 ? null : run.stats[at]; },
        get name() { return at < 0 ? null : run.stats[at].name; },
        onChange: (listener) => listeners.push(listener),
    };
})();

// One tip for all views: a title and lines of [label, value], at the pointer or at an element that
// has the focus.
const tip = (() => {
    const box = byId("tip");
    let anchor = null;

    function hide() {
        box.hidden = true;
        anchor = null;
    }

    function fill(title, lines) {
        box.replaceChildren(el("strong", {textContent: shown(title)}), el("dl", {},
            ...lines.filter((line) => line).flatMap(([label, value]) =>
                [el("dt", {textContent: label}), el("dd", {textContent: value})])));
        box.hidden = false;
    }

    function place(x, y) {
        const width = box.offsetWidth, height = box.offsetHeight;
        const left = Math.min(x + 14, document.documentElement.clientWidth - width - 8);
        const under = y + 18 + height < innerHeight;
        box.style.left = Math.max(8, left) + "px";
        box.style.top = (under ? y + 18 : Math.max(8, y - height - 12)) + "px";
    }

    function placeAtAnchor() {
        const edge = anchor.getBoundingClientRect();
        place(edge.left, edge.bottom - 12);
    }

    function show(x, y, title, lines) {
        anchor = null;
        fill(title, lines);
        place(x, y);
    }

    function showAt(element, title, lines) {
        anchor = element;
        fill(title, lines);
        placeAtAnchor();
    }

    // The focus may itself scroll what it goes to into sight.
    addEventListener("scroll", () => anchor ? placeAtAnchor() : hide(),
        {passive: true, capture: true});
    return {show, showAt, hide};
})();

// A canvas of that size in CSS pixels, cleared, and sharp on any screen.
function fitCanvas(canvas, wide, high) {
    const ratio = devicePixelRatio || 1;
    const w = Math.round(wide * ratio), h = Math.round(high * ratio);
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
        canvas.style.width = wide + "px";
        canvas.style.height = high + "px";
    }
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, wide, high);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    return context;
}

// Calls back once a frame at most, however often it was asked.
function oncePerFrame(draw) {
    let asked = false;
    return () => {
        if (!asked) {
            asked = true;
            requestAnimationFrame(() => {
                asked = false;
                draw();
            });
        }
    };
}

// Words that must be in a name, in any case; with "-" before them, that must not.
function matcher(query) {
    const words = query.toLowerCase().split(/\s+/).filter((word) => word && word !== "-");
    const wanted = words.filter((word) => word[0] !== "-");
    const refused = words.filter((word) => word[0] === "-").map((word) => word.slice(1));
    if (!words.length) {
        return null;
    }
    return (name) => {
        const text = name.toLowerCase();
        return wanted.every((word) => text.includes(word)) &&
            !refused.some((word) => text.includes(word));
    };
}
