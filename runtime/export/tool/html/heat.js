// SPDX-License-Identifier: Apache-2.0
// The heat map: how late each rank came, by windows of steps. A pixel that several cells share has
// the latest of them.
"use strict";

const heat = (() => {
    const LEFT = 104, BOTTOM = 22, TALLEST = 18, HIGHEST = 460, TICK = 64;
    const NONE = 4095, MOST = NONE - 1;
    const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const box = byId("heat");
    const canvas = byId("heat-canvas");
    let map = null; // of the data, with `level`: by window and row
    let cursor = null; // {row, window}

    function levelsOf(text) {
        const digit = new Uint8Array(128);
        [...DIGITS].forEach((letter, at) => { digit[letter.charCodeAt(0)] = at; });
        const out = new Uint16Array(text.length / 2);
        for (let i = 0; i < out.length; ++i) {
            out[i] = 64 * digit[text.charCodeAt(2 * i)] + digit[text.charCodeAt(2 * i + 1)];
        }
        return out;
    }

    const levelAt = (row, window) => map.level[window * map.rows.length + row];
    const height = () => Math.min(HIGHEST, TALLEST * map.rows.length);
    const width = () => Math.max(40, box.clientWidth - LEFT);

    // The latest of the cells [row, rowEnd) x [first, end); NONE if nothing is known of any.
    function latest(row, rowEnd, first, end) {
        let most = NONE;
        for (let window = first; window < end; ++window) {
            for (let i = row; i < rowEnd; ++i) {
                const level = levelAt(i, window);
                if (level !== NONE && (most === NONE || level > most)) {
                    most = level;
                }
            }
        }
        return most;
    }

    function drawCells(context, style) {
        const wide = width(), high = height();
        const rows = Math.min(map.rows.length, high);
        const columns = Math.min(map.windows, Math.floor(wide));
        const gap = high / rows > 6 ? 1 : 0;
        const part = (at, of, all) => Math.floor(at * all / of);
        for (let x = 0; x < columns; ++x) {
            const left = Math.round(LEFT + x * wide / columns);
            const right = Math.round(LEFT + (x + 1) * wide / columns);
            for (let y = 0; y < rows; ++y) {
                const level = latest(part(y, rows, map.rows.length),
                    part(y + 1, rows, map.rows.length), part(x, columns, map.windows),
                    part(x + 1, columns, map.windows));
                const top = Math.round(y * high / rows), end = Math.round((y + 1) * high / rows);
                context.globalAlpha = level === NONE ? 1 : level / MOST;
                context.fillStyle = level === NONE ? style.line : style.bad;
                context.fillRect(left, top, right - left, end - top - gap);
            }
        }
        context.globalAlpha = 1;
    }

    // Names of rows as many as fit, and the numbers of steps.
    function drawAxes(context, style) {
        const high = height(), each = high / map.rows.length;
        const skip = Math.ceil(16 / each);
        context.fillStyle = style.muted;
        context.textAlign = "right";
        for (let row = 0; row < map.rows.length; row += skip) {
            context.fillText(shown(map.rows[row][0]).slice(-16), LEFT - 8,
                Math.max(7, (row + 0.5) * each + 0.5), LEFT - 10);
        }
        context.textAlign = "left";
        const ticks = Math.max(1, Math.floor(width() / TICK));
        const step = Math.ceil(map.windows / ticks);
        for (let window = 0; window < map.windows; window += step) {
            context.fillText(format.count(window * map.window_steps),
                LEFT + window * width() / map.windows, high + 13);
        }
    }

    function drawCursor(context, style) {
        const each = height() / map.rows.length, wide = width() / map.windows;
        context.strokeStyle = style.text;
        context.lineWidth = 1.5;
        context.strokeRect(LEFT + cursor.window * wide - 1, cursor.row * each - 1,
            Math.max(4, wide) + 1, Math.max(4, each) + 1);
    }

    const draw = oncePerFrame(() => {
        if (!map || !box.clientWidth) {
            return;
        }
        const context = fitCanvas(canvas, LEFT + width(), height() + BOTTOM);
        const style = colors.get();
        drawCells(context, style);
        drawAxes(context, style);
        if (cursor) {
            drawCursor(context, style);
        }
    });

    // ---- A cell in words.

    function rowText(row) {
        const [label, host] = map.rows[row];
        const more = map.ranks_each > 1
            ? " and the next, " + format.count(map.ranks_each) + " ranks at most" : "";
        return shown(label) + more + ", " + shown(host);
    }

    function stepsText(window) {
        const first = window * map.window_steps;
        const last = Math.min(first + map.window_steps, map.steps) - 1;
        return first === last ? "step " + format.count(first)
            : "steps " + format.count(first) + "\u2013" + format.count(last);
    }

    function lateText(level) {
        if (level === NONE) {
            return "not known: no calls, or the ranks have different numbers of them";
        }
        return level ? "\u2248 " + format.time(level / MOST * map.most_ns) + " after the first rank"
            : "first, or nearly so";
    }

    function tell() {
        byId("heat-at").textContent = cursor ? rowText(cursor.row) + " \u00b7 " +
            stepsText(cursor.window) + " \u00b7 " + lateText(levelAt(cursor.row, cursor.window))
            : "";
    }

    // ---- Pointer and keys.

    function cellAt(event) {
        const edge = canvas.getBoundingClientRect();
        const x = event.clientX - edge.left - LEFT, y = event.clientY - edge.top;
        const window = Math.floor(x / width() * map.windows);
        const row = Math.floor(y / height() * map.rows.length);
        return x >= 0 && y >= 0 && window < map.windows && row < map.rows.length
            ? {row, window} : null;
    }

    function hover(event) {
        const cell = map && cellAt(event);
        if (!cell) {
            tip.hide();
            return;
        }
        tip.show(event.clientX, event.clientY, rowText(cell.row), [
            ["steps", stepsText(cell.window).replace(/^steps? /, "")],
            ["came", lateText(levelAt(cell.row, cell.window))]]);
    }

    function put(cell) {
        cursor = cell;
        tell();
        draw();
    }

    function move(key) {
        const rows = map.rows.length, at = cursor || {row: 0, window: 0};
        const steps = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0],
                       PageUp: [-10, 0], PageDown: [10, 0], Home: [0, -map.windows],
                       End: [0, map.windows]}[key];
        if (!steps) {
            return false;
        }
        const within = (value, end) => Math.max(0, Math.min(end - 1, value));
        put(cursor ? {row: within(at.row + steps[0], rows),
                      window: within(at.window + steps[1], map.windows)} : at);
        return true;
    }

    function start() {
        canvas.addEventListener("pointermove", hover);
        canvas.addEventListener("pointerleave", tip.hide);
        canvas.addEventListener("click", (event) => put(cellAt(event)));
        box.addEventListener("keydown", (event) => {
            if (event.key === "Escape" && cursor) {
                put(null);
            } else if (map && !event.ctrlKey && !event.metaKey && move(event.key)) {
                event.preventDefault();
            }
        });
        theme.onChange(draw);
        new ResizeObserver(draw).observe(box);
    }

    function show(found) {
        map = found ? {...found, level: levelsOf(found.levels)} : null;
        byId("heat-panel").hidden = !map;
        if (map) {
            byId("heat-most").textContent = format.time(map.most_ns);
            put(null);
        }
    }

    return {start, show};
})();
