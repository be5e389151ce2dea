// SPDX-License-Identifier: Apache-2.0
// The parts of the page that the cases look at.
import assert from "node:assert/strict";

export const frame = (page) => page.evaluate(() => new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(done))));
export const rows = (page) => page.$$eval("#table tbody tr", (all) =>
    all.map((row) => Number(row.dataset.index)));
export const stats = (page) => page.evaluate(() => run.stats);
export const title = (page) => page.textContent("#distribution h3 .text");
export const crumbs = (page) => page.$$eval("#crumbs button", (all) =>
    all.map((one) => one.textContent));
export const range = (page) => page.$eval("#time-range", (span) =>
    [Number(span.dataset.from), Number(span.dataset.to)]);
export const theme = (page) => page.evaluate(() => document.documentElement.dataset.theme);
export const box = (page, name) =>
    page.locator("#flame .box", {hasText: new RegExp("^" + name)}).first();
export const tip = async (page) => await page.isVisible("#tip") ? page.textContent("#tip") : "";

export async function noSideways(page) {
    const [wide, seen] = await page.evaluate(() =>
        [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(wide <= seen, "the page is " + wide + " wide, the window " + seen);
}

// Returns the place on the canvas of a span near the middle. The page is asked, because it knows
// its lanes.
export async function spanAt(page, name) {
    await page.evaluate(() => document.getElementById("lanes").scrollIntoView(
        {block: "center", behavior: "instant"}));
    await frame(page);
    return page.evaluate((wanted) => {
        const edge = document.getElementById("lanes").getBoundingClientRect();
        const {a, b} = timeline.view;
        let best = null;
        for (const lane of lanes.list) {
            for (const [depth, row] of lane.rows.entries()) {
                for (let i = 0; i < row.count; ++i) {
                    const place = ((row.start[i] + row.end[i]) / 2 - a) / (b - a);
                    const away = Math.abs(place - 0.6);
                    if (lanes.name(row.name[i]) === wanted && (!best || away < best.away)) {
                        best = {away, x: edge.left + place * timeline.width,
                                y: edge.top + lane.rowsTop + depth * lanes.ROW + 7,
                                start: row.start[i], end: row.end[i]};
                    }
                }
            }
        }
        return best;
    }, name);
}

// Counts the different colours of a canvas.
export const paint = (page, id) => page.$eval("#" + id, (canvas) => {
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const seen = new Set();
    for (let i = 0; i < pixels.length; i += 4) {
        if (pixels[i + 3]) {
            seen.add(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
        }
    }
    return seen.size;
});
