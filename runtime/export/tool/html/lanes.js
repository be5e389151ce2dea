// SPDX-License-Identifier: Apache-2.0
// The trace as the timeline wants it: lanes under one another, each a row a depth with its spans in
// typed arrays, so that 10^5 of them are found by bisection and drawn in a frame.
"use strict";

const lanes = (() => {
    const HEAD = 22, ROW = 16, MARKS = 14, VALUES = 46, GAP = 8;
    const MOST_DEPTH = 255;
    const list = [];
    let height = 0;
    let end = run.run.wall_ns || 1;

    function rowsOf(spans) {
        const counts = [];
        const depthOf = (i) => Math.min(MOST_DEPTH, Math.max(0, spans[i + 3] | 0));
        for (let i = 0; i + 3 < spans.length; i += 4) {
            const depth = depthOf(i);
            while (counts.length <= depth) {
                counts.push(0);
            }
            counts[depth] += 1;
        }
        const rows = counts.map((count) => ({count: 0, start: new Float64Array(count),
            end: new Float64Array(count), name: new Uint32Array(count)}));
        for (let i = 0; i + 3 < spans.length; i += 4) {
            const row = rows[depthOf(i)];
            row.start[row.count] = spans[i];
            row.end[row.count] = spans[i] + spans[i + 1];
            row.name[row.count++] = spans[i + 2];
            end = Math.max(end, spans[i] + spans[i + 1]);
        }
        return rows;
    }

    // One series a name. Those of memory are drawn from 0.
    function seriesOf(values, memory) {
        const found = new Map();
        for (let i = 0; i + 2 < values.length; i += 3) {
            const name = values[i + 1];
            if (!found.has(name)) {
                found.set(name, {name, memory, at: [], value: [], low: memory ? 0 : Infinity,
                                 high: -Infinity});
            }
            const series = found.get(name);
            series.at.push(values[i]);
            series.value.push(values[i + 2]);
            series.low = Math.min(series.low, values[i + 2]);
            series.high = Math.max(series.high, values[i + 2]);
            end = Math.max(end, values[i]);
        }
        return [...found.values()];
    }

    function marksOf(marks) {
        const out = {at: [], name: []};
        for (let i = 0; i + 1 < marks.length; i += 2) {
            out.at.push(marks[i]);
            out.name.push(marks[i + 1]);
            end = Math.max(end, marks[i]);
        }
        return out;
    }

    function labelOf(lane, spans) {
        const counted = lane.memory ? (lane.values || []).length / 3 : spans;
        return shown(lane.name) + "  \u00b7  " + format.count(counted) +
            (lane.memory ? " change" : " span") + (counted === 1 ? "" : "s") +
            (lane.overwritten ? ", " + format.count(lane.overwritten) + " older ones overwritten"
                : "");
    }

    function add(lane) {
        const out = {
            stream: Boolean(lane.stream),
            label: labelOf(lane, (lane.spans || []).length >> 2),
            rows: rowsOf(lane.spans || []), marks: marksOf(lane.marks || []),
            series: seriesOf(lane.values || [], Boolean(lane.memory)), top: height,
        };
        out.marksTop = out.top + HEAD;
        out.rowsTop = out.marksTop + (out.marks.at.length ? MARKS : 0);
        out.seriesTop = out.rowsTop + out.rows.length * ROW + (out.series.length ? 3 : 0);
        out.bottom = out.seriesTop + out.series.length * VALUES;
        height = out.bottom + GAP;
        list.push(out);
    }

    // The first index whose value is over x; the arrays are in order.
    function over(array, x, count) {
        let low = 0, high = count;
        while (low < high) {
            const middle = low + high >> 1;
            if (array[middle] > x) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    // The span at a time, or the nearest within the slack of a pixel or two.
    function spanAt(row, time, slack) {
        let best = null, nearest = slack;
        for (let i = Math.max(0, over(row.end, time - slack, row.count) - 1);
            i < row.count && row.start[i] <= time + slack; ++i) {
            const away = Math.max(row.start[i] - time, time - row.end[i], 0);
            if (away < nearest || !best && away <= slack) {
                best = {start: row.start[i], end: row.end[i], name: row.name[i]};
                nearest = away;
            }
        }
        return best;
    }

    function nearestMark(marks, time, slack) {
        const at = over(marks.at, time, marks.at.length);
        const found = [at - 1, at].filter((i) => i >= 0 && i < marks.at.length &&
            Math.abs(marks.at[i] - time) <= slack)
            .sort((a, b) => Math.abs(marks.at[a] - time) - Math.abs(marks.at[b] - time))[0];
        return found === undefined ? null : {at: marks.at[found], name: marks.name[found]};
    }

    // Returns the thing at a height and a time: {kind, lane, name, ...}, or null.
    function hit(y, time, slack) {
        const lane = list.find((one) => y >= one.top && y < one.bottom);
        if (!lane) {
            return null;
        }
        if (y >= lane.seriesTop && lane.series.length) {
            const series = lane.series[Math.floor((y - lane.seriesTop) / VALUES)];
            const at = over(series.at, time, series.at.length) - 1;
            return at < 0 ? null : {kind: "value", lane, name: series.name, series,
                                    at: series.at[at], value: series.value[at]};
        }
        if (y >= lane.rowsTop && y < lane.rowsTop + lane.rows.length * ROW) {
            const depth = Math.floor((y - lane.rowsTop) / ROW);
            const span = spanAt(lane.rows[depth], time, slack);
            return span && {kind: "span", lane, depth, ...span};
        }
        if (y >= lane.marksTop && y < lane.rowsTop) {
            const mark = nearestMark(lane.marks, time, slack * 3);
            return mark && {kind: "mark", lane, ...mark};
        }
        return null;
    }

    // How much of each of `count` parts of the run the outermost spans of all lanes fill: 0 to 1.
    function activity(count) {
        const busy = new Float64Array(count);
        const part = end / count;
        let used = 0;
        for (const lane of list) {
            const row = lane.rows[0];
            used += row ? 1 : 0;
            for (let i = 0; row && i < row.count; ++i) {
                const first = Math.min(count - 1, Math.floor(row.start[i] / part));
                const last = Math.min(count - 1, Math.floor(row.end[i] / part));
                for (let p = first; p <= last; ++p) {
                    busy[p] += Math.min(row.end[i], (p + 1) * part) -
                        Math.max(row.start[i], p * part);
                }
            }
        }
        return busy.map((time) => Math.min(1, time / part / Math.max(1, used)));
    }

    run.lanes.forEach(add);
    return {
        list, hit, over, activity, HEAD, ROW, MARKS, VALUES,
        name: (index) => run.names[index] === undefined ? "?" : run.names[index],
        get height() { return height; },
        get end() { return end; },
    };
})();
