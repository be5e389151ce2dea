// SPDX-License-Identifier: Apache-2.0
// How long the calls of the selected row took: its histogram on a logarithmic axis.
"use strict";

const distribution = (() => {
    const PERCENTILES = @PERCENTILES@;  // the keys in gen/columns.ini
    const HEIGHT = 170, TOP = 30, BOTTOM = 24, SIDE = 8;
    const box = byId("distribution");
    let logarithmic = false;
    let onGpu = false;

    function svg(tag, attributes, ...children) {
        const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
        for (const [key, value] of Object.entries(attributes)) {
            node.setAttribute(key, value);
        }
        node.append(...children);
        return node;
    }

    // [low, high, count] triples -> buckets. Bounds are of whole nanoseconds: high is outside.
    function bucketsOf(flat) {
        const out = [];
        let below = 0;
        for (let i = 0; i + 2 < flat.length; i += 3) {
            out.push({low: flat[i], high: Math.max(flat[i + 1], flat[i] + 1), count: flat[i + 2],
                      below});
            below += flat[i + 2];
        }
        return {list: out, total: below};
    }

    // A bar too narrow to see takes in its neighbours.
    function joined(list, x) {
        const out = [];
        for (const bucket of list) {
            const last = out[out.length - 1];
            if (last && x(last.high) - x(last.low) < 3 && bucket.low - last.high <= 1) {
                last.high = bucket.high;
                last.count += bucket.count;
            } else {
                out.push({...bucket});
            }
        }
        return out;
    }

    function axisOf(list, width) {
        let low = Math.log(Math.max(1, list[0].low));
        let high = Math.log(Math.max(2, list[list.length - 1].high));
        const pad = Math.max(0, (0.7 - (high - low)) / 2); // at least a factor of two across
        low -= pad;
        high += pad;
        const scale = (width - 2 * SIDE) / (high - low);
        const x = (ns) => SIDE + (Math.log(Math.max(1, ns)) - low) * scale;
        x.low = Math.exp(low);
        x.high = Math.exp(high);
        return x;
    }

    // 1-2-5 of each decade; over less than a decade even steps.
    function tickValues(low, high) {
        const out = [];
        if (high > 10 * low) {
            let decade = Math.pow(10, Math.floor(Math.log10(low)));
            for (; decade < high; decade *= 10) {
                out.push(decade, 2 * decade, 5 * decade);
            }
            return out;
        }
        const step = format.step((high - low) / 8);
        for (let i = Math.ceil(low / step); i * step < high; ++i) {
            out.push(i * step);
        }
        return out;
    }

    // As many as fit without touching.
    function ticks(x, width) {
        const group = svg("g", {class: "ticks"});
        let last = -100;
        for (const value of tickValues(x.low, x.high)) {
            const at = x(value);
            if (at < 20 || at > width - 20 || at - last < 58) {
                continue;
            }
            last = at;
            group.append(svg("line", {x1: at, x2: at, y1: HEIGHT - BOTTOM, y2: HEIGHT - 19}),
                svg("text", {x: at, y: HEIGHT - 6, "text-anchor": "middle"}, format.tick(value)));
        }
        return group;
    }

    function bars(list, total, x, name) {
        const most = Math.max(...list.map((b) => b.count));
        const tall = (count) => logarithmic ? Math.log1p(count) / Math.log1p(most) : count / most;
        const room = HEIGHT - TOP - BOTTOM;
        const group = svg("g", {class: "bars c" + colors.index(name)});
        for (const bucket of list) {
            const left = x(bucket.low);
            const height = Math.max(1.5, tall(bucket.count) * room);
            const bar = svg("rect", {x: left, y: HEIGHT - BOTTOM - height, height,
                                     width: Math.max(1.5, x(bucket.high) - left - 0.75)});
            const zone = svg("rect", {class: "zone", x: left - 1, y: TOP, height: room,
                                      width: Math.max(3, x(bucket.high) - left + 1)});
            zone.addEventListener("pointermove", (event) => tip.show(event.clientX, event.clientY,
                format.time(bucket.low) + " \u2013 " + format.time(bucket.high), [
                    ["calls", format.count(bucket.count)],
                    ["of all", format.percent(bucket.count / total) + " %"],
                    ["up to here", format.percent((bucket.below + bucket.count) / total) + " %"]]));
            zone.addEventListener("pointerleave", tip.hide);
            group.append(bar, zone);
        }
        return group;
    }

    // Percentiles as lines; a label that would touch the one before it goes without.
    function marks(values, x, width) {
        const group = svg("g", {class: "marks"});
        let last = -100;
        for (const [label, ns] of values) {
            const at = Math.max(SIDE, Math.min(width - SIDE, x(ns)));
            group.append(svg("line", {x1: at, x2: at, y1: TOP - 8, y2: HEIGHT - BOTTOM}));
            if (at - last > 34) {
                const anchor = at < 30 ? "start" : at > width - 30 ? "end" : "middle";
                group.append(svg("text", {x: at, y: TOP - 13, "text-anchor": anchor}, label));
                last = at;
            }
        }
        return group;
    }

    function figures(list) {
        return el("dl", {className: "percentiles"}, ...list.map(([label, ns]) =>
            el("div", {}, el("dt", {textContent: label}),
                el("dd", {textContent: format.time(ns), title: format.exact(ns)}))));
    }

    // The last interval beside the whole run, on a page that `stint export --follow` replaces.
    function interval(stat) {
        if (!run.run.interval_ns) {
            return [];
        }
        const last = stat.last || {calls: 0};
        const text = "the last " + format.time(run.run.interval_ns) + ": " +
            format.count(last.calls) + (last.calls === 1 ? " call" : " calls");
        const list = [["p50", last.p50_ns], ["p90", last.p90_ns], ["p99", last.p99_ns]];
        return [el("p", {className: "hint interval", textContent: text}),
                ...(stat.last ? [figures(list)] : [])];
    }

    function chart(source, buckets, name) {
        const width = Math.max(240, box.clientWidth - 32);
        const x = axisOf(buckets.list, width);
        const points = PERCENTILES.map((p) => [p, source[p + "_ns"]])
            .filter((point) => point[1] !== undefined);
        const label = format.count(buckets.total) + " calls from " + format.time(source.min_ns) +
            " to " + format.time(source.max_ns);
        const picture = svg("svg", {viewBox: "0 0 " + width + " " + HEIGHT, role: "img",
                                    "aria-label": label});
        picture.append(
            svg("line", {class: "base", x1: SIDE, x2: width - SIDE, y1: HEIGHT - BOTTOM,
                         y2: HEIGHT - BOTTOM}),
            ticks(x, width), bars(joined(buckets.list, x), buckets.total, x, name),
            marks(points, x, width));
        return picture;
    }

    function toggles(stat) {
        const scale = el("button", {type: "button", className: "quiet", id: "distribution-log",
                                    textContent: "Log counts", "aria-pressed": logarithmic});
        scale.addEventListener("click", () => {
            logarithmic = !logarithmic;
            draw("distribution-log");
        });
        const link = el("a", {href: selection.address, textContent: "Link",
                              title: "A link that opens this page at this timer"});
        const out = [link, scale];
        if (stat.gpu && stat.gpu.histogram) {
            const side = el("button", {type: "button", className: "quiet", id: "distribution-gpu",
                                       textContent: "GPU time", "aria-pressed": onGpu});
            side.addEventListener("click", () => {
                onGpu = !onGpu;
                draw("distribution-gpu");
            });
            out.unshift(side);
        }
        return out;
    }

    function draw(focus) {
        const stat = selection.stat;
        if (!stat) {
            box.replaceChildren(el("p", {className: "empty", textContent:
                "Select a timer to see how long its calls took."}));
            return;
        }
        const gpu = onGpu && stat.gpu && stat.gpu.histogram;
        const source = gpu ? stat.gpu : stat;
        const buckets = bucketsOf(source.histogram || []);
        const title = el("h3", {}, el("span", {className: "dot c" + colors.index(stat.name)}),
            el("span", {className: "text", textContent: shown(stat.name)}),
            el("span", {className: "aside", textContent: format.count(source.calls) +
                (source.calls === 1 ? " call" : " calls") + (gpu ? " on the GPU" : "")}));
        const values = ["min", ...PERCENTILES, "avg", "max", "first"]
            .filter((key) => source[key + "_ns"] !== undefined)
            .map((key) => [key, source[key + "_ns"]]);
        box.replaceChildren(
            el("div", {className: "panel-head"}, title,
                el("div", {className: "tools"}, ...(buckets.total ? toggles(stat) : []))),
            buckets.total ? chart(source, buckets, stat.name) : el("p", {className: "empty",
                textContent: stat.p50_ns !== undefined ? "Its distribution was left out here."
                    : "No distribution of its calls was kept."}),
            figures(values), ...(gpu ? [] : interval(stat)));
        if (focus && byId(focus)) {
            byId(focus).focus();
        }
    }

    function start() {
        box.hidden = !run.stats.length;
        selection.onChange(() => draw());
        let width = 0;
        new ResizeObserver(() => {
            if (box.clientWidth !== width) {
                width = box.clientWidth;
                draw(document.activeElement && document.activeElement.id);
            }
        }).observe(box);
        draw();
    }

    return {start};
})();
