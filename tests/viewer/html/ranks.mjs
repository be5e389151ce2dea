// SPDX-License-Identifier: Apache-2.0
// The ranks of a merged run: tables, and the heat map, which is asked for its pixels. The expected
// values are computed from the data in the page.
import assert from "node:assert/strict";
import {frame, theme, tip, noSideways, paint} from "./look.mjs";

const text = (page, id) => page.textContent("#" + id);
const cells = (page, id) => page.$$eval("#" + id + " tbody tr", (rows) =>
    rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

// The red of the middle of a cell less its green and blue, as it is seen on the panel below.
async function tint(page, row, window) {
    return page.evaluate(([row, window]) => {
        const canvas = document.getElementById("heat-canvas");
        const map = run.heat[0], ratio = devicePixelRatio || 1;
        const left = 104, below = 22;
        const wide = canvas.width / ratio - left, high = canvas.height / ratio - below;
        const x = left + (window + 0.5) * wide / map.windows;
        const y = (row + 0.5) * high / map.rows.length;
        const [r, g, b, a] = canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data;
        return (r - (g + b) / 2) * a / 255;
    }, [row, window]);
}

export async function tables(browser) {
    const page = await browser.open("ranks");
    assert.equal(await text(page, "wait-cause"), "rank 5 (node1), pid 7 (node9) cover 93.5 % of the " +
        "cost. Longer than the median rank in solve, 3.000 ms, by 2.000 ms; outside scopes, 7.000 ms, " +
        "by 6.000 ms.");
    assert.match(await text(page, "wait-figures"),
        /total wait9\.000 ms.*cost5\.000 ms.*lastrank 5 \(node1\).*waits70\.00 \u00b5s/);
    assert.deepEqual(await cells(page, "last"),
        [["rank 5", "node1", "18", "94.7", "5.000ms", "15"]]);
    assert.equal(await text(page, "last-note"), "20 windows of 2 steps; 1 not compared: the ranks " +
        "have different numbers of calls in them; 1 rank without windows.");
    const spread = await cells(page, "spread");
    assert.equal(spread.length, 100);
    assert.deepEqual(spread[0], ["matmul", "12", "8.000ms", "6.000ms", "12.3", "rank 11 (node2)",
        "4.000ms", "rank 1 (node0)", "1.000ms", "3.000ms", "2.000ms", "5.000\u00b5s"]);
    assert.deepEqual([spread[1][0], spread[2][0]], ["name 2 @other", "name 2 @default"]);
    await page.click("#spread-more");
    assert.equal((await cells(page, "spread")).length, 130);
    assert.ok(!await page.isVisible("#spread-more"));
    await page.selectOption("#wait", {label: "allreduce"});
    assert.equal(await text(page, "wait-cause"),
        "No cause is named: no rank is last more often than by chance.");
    await noSideways(page);
}

export async function heat(browser) {
    const page = await browser.open("ranks");
    await frame(page);
    for (const row of [0, 4, 6, 11]) {
        assert.ok(await tint(page, 5, 7) > await tint(page, row, 7) + 80, "row " + row);
    }
    assert.ok(await tint(page, 5, 3) < 10, "nothing is known there");
    await page.selectOption("#wait", "1");
    await frame(page);
    assert.ok(await tint(page, 2, 7) > await tint(page, 5, 7) + 80, "the other scope's map");
    await page.locator("#heat-canvas").scrollIntoViewIfNeeded();
    await frame(page);
    const edge = await page.locator("#heat-canvas").boundingBox();
    await page.mouse.move(edge.x + 104 + (edge.width - 104) * 7.5 / 20, edge.y + 2.5 * 18);
    assert.match(await tip(page), /^rank 2, node0steps14\u201315came\u2248 4\.094 ms after the first/);
    await page.mouse.move(edge.x + 104 + (edge.width - 104) * 3.5 / 20, edge.y + 2.5 * 18);
    assert.match(await tip(page), /not known/);
    await page.mouse.move(edge.x + 10, edge.y + 2.5 * 18);
    assert.equal(await tip(page), "");
}

export async function keys(browser) {
    const page = await browser.open("ranks");
    const at = () => text(page, "heat-at");
    await page.focus("#heat");
    assert.equal(await at(), "");
    await page.keyboard.press("ArrowDown");
    assert.match(await at(), /^rank 0, node0 \u00b7 steps 0\u20131 \u00b7 /);
    for (const key of ["ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"]) {
        await page.keyboard.press(key);
    }
    assert.match(await at(), /^rank 1, node0 \u00b7 steps 4\u20135 \u00b7 /);
    await page.keyboard.press("End");
    assert.match(await at(), /^rank 1, node0 \u00b7 step 38 \u00b7 /);
    await page.keyboard.press("PageDown");
    await page.keyboard.press("PageDown");
    assert.match(await at(), /^rank 11, node2 \u00b7 step 38 /);
    await page.keyboard.press("Home");
    assert.match(await at(), /^rank 11, node2 \u00b7 steps 0\u20131 /);
    const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid", "focus is visible");
    await page.keyboard.press("Escape");
    assert.equal(await at(), "");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "last-box");
}

export async function themes(browser) {
    const page = await browser.open("ranks");
    assert.equal(await theme(page), "dark");
    await frame(page);
    const picture = () => page.$eval("#heat-canvas", (canvas) => canvas.toDataURL());
    const dark = await picture();
    assert.ok(await tint(page, 5, 7) > await tint(page, 0, 7) + 20);
    await page.click("#theme");
    await frame(page);
    assert.notEqual(await picture(), dark);
    assert.ok(await tint(page, 5, 7) > await tint(page, 0, 7) + 80);
}

// More ranks than pixels: the late one is still there.
export async function many(browser) {
    const page = await browser.open("many_ranks");
    await frame(page);
    assert.ok(await paint(page, "heat-canvas") > 20);
    const [late, other] = await page.evaluate(() => {
        const canvas = document.getElementById("heat-canvas");
        const high = (canvas.height / (devicePixelRatio || 1) - 22) * (devicePixelRatio || 1);
        const row = (y) => canvas.getContext("2d").getImageData(canvas.width / 2, y, 1, 1).data;
        return [row(Math.floor(5 * high / 4096)), row(Math.floor(high / 2))].map(([r, g, , a]) => (r - g) * a / 255);
    });
    assert.ok(late > other + 80, late + " " + other);
    await noSideways(page);
}

export async function none(browser) {
    const page = await browser.open("small");
    assert.ok(!await page.isVisible("#ranks") && !await page.isVisible("#ranks-link"));
}
