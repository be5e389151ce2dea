// SPDX-License-Identifier: Apache-2.0
// The time line: a canvas as large as what is in sight, over lanes that may be much taller.
"use strict";

const timeline = (() => {
    const box = byId("lanes");
    const SHORTEST = 50; // nanoseconds across: nothing below is in a trace
    const view = {a: 0, b: lanes.end};
    const widths = new Map();
    let marked = null; // what is being marked: [x0, x1]
    let width = 0;

    const xOf = (time) => (time - view.a) / (view.b - view.a) * width;
    const timeOf = (x) => view.a + x / width * (view.b - view.a);
    const perPixel = () => (view.b - view.a) / width;

    function fitted(context, text, room) {
        let wide = widths.get(text);
        if (wide === undefined) {
            wide = context.measureText(text).width;
            widths.set(text, wide);
        }
        if (wide <= room) {
            return text;
        }
        const some = Math.floor(text.length * room / wide) - 1;
        return some > 1 ? text.slice(0, some) + "\u2026" : "";
    }

    // Spans below a pixel share it: drawn once, as solid as the time they fill of it.
    function drawRow(context, row, top, style) {
        const pixel = perPixel();
        const high = lanes.ROW - 2;
        let column = -1, busy = 0, longest = 0, name = 0;
        const flush = () => {
            if (column >= 0) {
                context.globalAlpha = Math.max(0.3, Math.min(1, busy / pixel));
                context.fillStyle = colorOf(name, style);
                context.fillRect(column, top, 1, high);
                context.globalAlpha = 1;
            }
            column = -1;
            busy = longest = 0;
        };
        for (let i = lanes.over(row.end, view.a, row.count); i < row.count && row.start[i] < view.b;
            ++i) {
            const x = xOf(row.start[i]), wide = xOf(row.end[i]) - x;
            if (wide < 1) {
                if (Math.floor(x) !== column) {
                    flush();
                    column = Math.floor(x);
                }
                busy += row.end[i] - row.start[i];
                if (row.end[i] - row.start[i] >= longest) {
                    longest = row.end[i] - row.start[i];
                    name = row.name[i];
                }
                continue;
            }
            flush();
            drawSpan(context, row.name[i], Math.max(-2, x), Math.min(width + 2, x + wide), top,
                style);
        }
        flush();
    }

    function colorOf(name, style) {
        const text = lanes.name(name);
        return text === selection.name ? style.accent : style.boxes[colors.index(text)];
    }

    function drawSpan(context, name, left, right, top, style) {
        context.fillStyle = colorOf(name, style);
        context.fillRect(left, top, right - left - (right - left > 3 ? 1 : 0), lanes.ROW - 2);
        if (right - left > 26) {
            const text = fitted(context, shown(lanes.name(name)), right - Math.max(0, left) - 8);
            context.fillStyle = lanes.name(name) === selection.name ? style["on-accent"] : style.ink;
            context.fillText(text, Math.max(0, left) + 4, top + lanes.ROW / 2 - 0.5);
        }
    }

    function drawMarks(context, lane, top, style) {
        const marks = lane.marks;
        let last = -9;
        for (let i = Math.max(0, lanes.over(marks.at, view.a, marks.at.length) - 1);
            i < marks.at.length && marks.at[i] <= view.b; ++i) {
            const x = xOf(marks.at[i]), y = top + lanes.MARKS / 2;
            if (x - last < 1) {
                continue;
            }
            last = x;
            context.fillStyle = style.boxes[colors.index(lanes.name(marks.name[i]))];
            context.strokeStyle = style.text;
            context.lineWidth = 1;
            context.beginPath();
            context.moveTo(x, y - 5);
            context.lineTo(x + 4, y);
            context.lineTo(x, y + 5);
            context.lineTo(x - 4, y);
            context.closePath();
            context.fill();
            context.stroke();
        }
    }

    // A number of a series, for the chart or, in full, for the tip.
    function seriesNumber(series, value, full) {
        return series.memory ? format.bytes(value)
            : String(full ? value : Number(value.toPrecision(6)));
    }

    function drawSeries(context, series, top, style) {
        const room = lanes.VALUES - 22, base = top + lanes.VALUES - 5;
        const flat = series.high <= series.low;
        const yOf = (value) => base - (flat ? 0.5 : (value - series.low) /
            (series.high - series.low)) * room;
        let i = Math.max(0, lanes.over(series.at, view.a, series.at.length) - 1);
        let y = yOf(series.value[i]);
        context.strokeStyle = style.muted; // a line this thin shows no colour
        context.lineWidth = 1;
        context.beginPath();
        context.moveTo(Math.max(-2, xOf(series.at[i])), y);
        for (++i; i < series.at.length && series.at[i] <= view.b; ++i) {
            context.lineTo(xOf(series.at[i]), y);
            y = yOf(series.value[i]);
            context.lineTo(xOf(series.at[i]), y);
        }
        context.lineTo(width, y);
        context.stroke();
        const text = shown(lanes.name(series.name)) + "  " + seriesNumber(series, series.low) +
            (flat ? "" : " \u2013 " + seriesNumber(series, series.high));
        context.fillStyle = style.boxes[colors.index(lanes.name(series.name))];
        context.fillRect(4, top + 5, 6, 6);
        context.fillStyle = style.muted;
        context.fillText(fitted(context, text, width - 20), 14, top + 9);
    }

    function drawLane(context, lane, shift, style) {
        const top = lane.top - shift;
        context.fillStyle = style.line;
        context.fillRect(0, top, width, 1);
        context.fillStyle = style.text;
        context.fillText(fitted(context, lane.label, width - 8), 4, top + lanes.HEAD / 2 + 1);
        lane.rows.forEach((row, depth) => {
            const y = lane.rowsTop + depth * lanes.ROW - shift;
            if (y > -lanes.ROW && y < box.clientHeight) {
                drawRow(context, row, y, style);
            }
        });
        if (lane.marks.at.length) {
            drawMarks(context, lane, lane.marksTop - shift, style);
        }
        lane.series.forEach((series, i) =>
            drawSeries(context, series, lane.seriesTop + i * lanes.VALUES - shift, style));
    }

    function drawAxis(style) {
        const context = fitCanvas(byId("axis"), width, 22);
        const step = format.step((view.b - view.a) * 90 / width);
        const first = Math.ceil(view.a / step) * step;
        const fine = first > step * 2000; // far into a run and close up: from the first tick on
        const ticks = [];
        for (let i = 0; first + i * step <= view.b && i < 100; ++i) {
            const x = xOf(first + i * step);
            ticks.push(x);
            context.fillStyle = style.line;
            context.fillRect(x, 14, 1, 8);
            context.fillStyle = style.muted;
            const text = fine && i ? "+" + format.tick(i * step) : format.tick(first + i * step);
            context.fillText(text, Math.min(x + 4, width - 60), 9);
        }
        return ticks;
    }

    function drawOverview(style) {
        const high = 26;
        const context = fitCanvas(byId("overview"), width, high);
        const busy = activityOf(Math.max(1, Math.floor(width)));
        const part = width / busy.length;
        context.fillStyle = style.accent;
        context.globalAlpha = 0.35;
        busy.forEach((share, i) => {
            const tall = share > 0 ? Math.max(1, share * (high - 2)) : 0;
            context.fillRect(i * part, high - tall, part, tall);
        });
        context.globalAlpha = 1;
        const left = view.a / lanes.end * width, right = view.b / lanes.end * width;
        context.fillStyle = style.wash;
        context.fillRect(0, 0, left, high);
        context.fillRect(right, 0, width - right, high);
        if (view.b - view.a < lanes.end) {
            context.strokeStyle = style.accent;
            context.strokeRect(left + 0.5, 0.5, Math.max(2, right - left - 1), high - 1);
        }
    }

    let known = null;
    function activityOf(parts) {
        known = known && known.length === parts ? known : lanes.activity(parts);
        return known;
    }

    function paint() {
        width = Math.max(1, box.clientWidth);
        const high = box.clientHeight, shift = box.scrollTop;
        const style = colors.get();
        const ticks = drawAxis(style);
        drawOverview(style);
        const context = fitCanvas(byId("lanes-canvas"), width, high);
        context.fillStyle = style.stripe;
        ticks.forEach((x) => context.fillRect(x, 0, 1, high));
        for (const lane of lanes.list) {
            if (lane.bottom > shift && lane.top < shift + high) {
                drawLane(context, lane, shift, style);
            }
        }
        if (marked) {
            context.fillStyle = style.accent;
            context.globalAlpha = 0.18;
            context.fillRect(Math.min(...marked), 0, Math.abs(marked[1] - marked[0]), high);
            context.globalAlpha = 1;
        }
        tellRange();
    }

    function tellRange() {
        const [a, b] = marked ? [timeOf(Math.min(...marked)), timeOf(Math.max(...marked))]
            : [view.a, view.b];
        byId("time-range").textContent = marked ? "marked " + format.time(b - a)
            : b - a >= lanes.end ? "whole run, " + format.time(b)
                : format.time(a) + " \u2013 " + format.time(b) + ", " + format.time(b - a);
        byId("time-range").dataset.from = a;
        byId("time-range").dataset.to = b;
        byId("time-out").disabled = byId("time-all").disabled = view.b - view.a >= lanes.end;
    }

    const draw = oncePerFrame(paint);

    function show(a, b) {
        const span = Math.min(lanes.end, Math.max(SHORTEST, b - a));
        const middle = (a + b) / 2;
        view.a = Math.max(0, Math.min(lanes.end - span, middle - span / 2));
        view.b = view.a + span;
        tip.hide();
        draw();
    }

    // By a factor, and what is at x stays there.
    function zoom(factor, x) {
        const time = timeOf(x);
        const span = Math.min(lanes.end, Math.max(SHORTEST, (view.b - view.a) * factor));
        const a = time - x / width * span;
        show(a, a + span);
    }

    function pan(pixels) {
        const by = pixels * perPixel();
        const a = Math.max(0, Math.min(lanes.end - (view.b - view.a), view.a + by));
        show(a, a + (view.b - view.a));
    }

    function describe(found) {
        const name = lanes.name(found.name);
        const stat = run.stats[selection.find(name)];
        const lane = ["on", found.lane.label.split("  ")[0]];
        if (found.kind === "mark") {
            return [name, [["at", format.time(found.at)], lane]];
        }
        if (found.kind === "value") {
            const series = found.series;
            return [name, [["value", seriesNumber(series, found.value, true)],
                           ["since", format.time(found.at)],
                           ["lowest", seriesNumber(series, series.low, true)],
                           ["highest", seriesNumber(series, series.high, true)], lane]];
        }
        const took = found.end - found.start;
        const mean = stat && (found.lane.stream ? stat.gpu && stat.gpu.avg_ns : stat.avg_ns);
        return [name, [["took", format.time(took)], ["at", format.time(found.start)],
                       mean ? ["mean of all", format.time(mean)] : null,
                       mean && took > 1.5 * mean
                           ? ["so it is", (took / mean).toFixed(1) + " \u00d7 the mean"] : null,
                       lane]];
    }

    return {
        view, show, zoom, pan, paint, draw, describe, timeOf, perPixel,
        get width() { return width; },
        mark: (range) => { marked = range; draw(); },
        find: (x, y) => lanes.hit(y + box.scrollTop, timeOf(x), 2 * perPixel()),
    };
})();
