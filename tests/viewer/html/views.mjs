// SPDX-License-Identifier: Apache-2.0
// The table, the distribution, the call tree and the timeline, each alone and together. The
// expected values are computed from the data in the page.
import assert from "node:assert/strict";
import {frame, rows, stats, title, crumbs, range, box, tip, spanAt, paint} from "./look.mjs";

const VALUE = {
    name: (s) => s.name, share: (s) => s.total_ns, set: (s) => s.set, info: (s) => s.info,
    gpu_total: (s) => s.gpu && s.gpu.total_ns, gpu_avg: (s) => s.gpu && s.gpu.avg_ns,
    gpu_p50: (s) => s.gpu && s.gpu.p50_ns, gpu_p99: (s) => s.gpu && s.gpu.p99_ns,
    gpu_max: (s) => s.gpu && s.gpu.max_ns,
};

export async function sort(browser) {
    const page = await browser.open("small");
    const all = await stats(page);
    const keys = await page.$$eval("#table thead th", (cells) => cells.map((c) => c.dataset.key));
    assert.ok(keys.length === 23, "columns: " + keys);
    for (const key of keys) {
        const value = VALUE[key] || ((s) => s[key]);
        const seen = [];
        for (let click = 0; click < 2; ++click) {
            await page.click(`#table thead th[data-key="${key}"] button`);
            const heading = page.locator(`#table thead th[data-key="${key}"]`);
            const way = await heading.getAttribute("aria-sort");
            assert.equal(await page.locator("th:is([aria-sort=ascending],[aria-sort=descending])")
                .count(), 1, "one column is sorted by");
            const order = await rows(page);
            assert.equal(new Set(order).size, all.length);
            const values = order.map((i) => value(all[i]));
            const there = values.filter((v) => v !== undefined && v !== "");
            assert.ok(there.length > 0, key);
            assert.deepEqual(values.slice(0, there.length), there, key + ": none at the end");
            const sorted = [...there].sort((a, b) => a < b ? -1 : a > b ? 1 : 0);
            assert.deepEqual(there, way === "ascending" ? sorted : sorted.reverse(),
                key + " " + way);
            seen.push(way);
        }
        assert.equal(new Set(seen).size, 2, key + ": both ways");
    }
}

export async function filter(browser) {
    const page = await browser.open("small");
    const names = async () => (await page.$$eval("#table th.name .text", (all) =>
        all.map((one) => one.textContent))).sort();
    await page.fill("#filter", "FORWARD");
    assert.deepEqual(await names(), ["feed_forward", "feed_forward.grad", "forward"]);
    assert.equal(await page.textContent("#table-count"), "3 of 19 timers");
    await page.fill("#filter", "forward -grad -feed");
    assert.deepEqual(await names(), ["forward"]);
    await page.fill("#filter", "no such name");
    assert.deepEqual(await names(), []);
    await page.fill("#filter", "");
    await page.selectOption("#set", {label: "io"});
    assert.deepEqual(await names(), ["idle"]);
    await page.selectOption("#set", {label: "all"});
    assert.equal((await names()).length, 19);
    await page.selectOption("#unit", "us");
    const keys = await page.$$eval("#table thead th", (cells) => cells.map((c) => c.dataset.key));
    const total = await page.textContent("#table tbody tr:first-child > :nth-child(" +
        (keys.indexOf("total_ns") + 1) + ")");
    assert.equal(total, "12,300,000\u00b5s");
}

export async function select(browser) {
    const page = await browser.open("small");
    const all = await stats(page);
    for (const index of [3, 0, 7]) {
        await page.click(`#table tbody tr[data-index="${index}"]`);
        assert.equal(await title(page), all[index].name);
        assert.equal(await page.getAttribute("#table tr[aria-selected=true]", "data-index"),
            String(index));
        assert.equal(await page.locator("#table tr[aria-selected=true]").count(), 1);
    }
    const marked = await page.$$eval("#flame .box.selected .text", (list) =>
        list.map((one) => one.textContent));
    assert.ok(marked.length && marked.every((name) => name === all[7].name), marked.join());
}

export async function distribution(browser) {
    const page = await browser.open("small");
    const all = await stats(page);
    const index = all.findIndex((stat) => stat.name === "matmul");
    await page.click(`#table tbody tr[data-index="${index}"]`);
    const bars = () => page.$$eval("#distribution .bars rect:not(.zone)", (list) =>
        list.map((bar) => [Number(bar.getAttribute("x")), Number(bar.getAttribute("height"))]));
    const linear = await bars();
    assert.ok(linear.length > 20 && linear.length <= all[index].histogram.length / 3);
    const lefts = linear.map((bar) => bar[0]);
    assert.deepEqual(lefts, [...lefts].sort((a, b) => a - b));
    assert.match(await page.textContent("#distribution .percentiles"), /p50.*p90.*p99.*max/s);
    assert.ok(await page.locator("#distribution .marks line").count() === 3);
    await page.click("#distribution-log");
    const log = await bars();
    assert.equal(await page.getAttribute("#distribution-log", "aria-pressed"), "true");
    assert.ok(await page.evaluate(() => document.activeElement.id === "distribution-log"));
    assert.ok(log.some((bar, i) => bar[1] > linear[i][1] + 5), "small counts grow");
    await page.click("#distribution-gpu");
    assert.match(await page.textContent("#distribution h3"), /on the GPU/);
    const many = await page.locator("#distribution .zone").count();
    await page.setViewportSize({width: 300, height: 900});
    await frame(page);
    await frame(page);
    const zones = page.locator("#distribution .zone");
    assert.ok(await zones.count() < many, "fewer bars in less room");
    let counted = 0;
    for (let i = 0; i < await zones.count(); ++i) {
        await zones.nth(i).dispatchEvent("pointermove", {clientX: 9, clientY: 9});
        counted += Number(/calls([\d,]+)of/.exec(await tip(page))[1].replaceAll(",", ""));
    }
    const flat = all[index].gpu.histogram;
    assert.equal(counted, flat.filter((_, i) => i % 3 === 2).reduce((a, b) => a + b));
    await page.click(`#table tbody tr[data-index="${all.findIndex((s) => s.name === "clock")}"]`);
    assert.equal(await page.locator("#distribution svg").count(), 0);
}

export async function interval(browser) {
    const page = await browser.open("interval");
    const all = await stats(page);
    const select = (name) => page.click(`#table tbody tr[data-index="${
        all.findIndex((stat) => stat.name === name)}"]`);
    const lists = () => page.$$eval("#distribution .percentiles", (found) =>
        found.map((one) => one.textContent));
    await select("matmul");
    assert.equal(await page.textContent("#distribution .interval"), "the last 10.00 s: 1,234 calls");
    assert.equal((await lists()).length, 2, "of the run, and of the interval");
    assert.equal((await lists())[1], "p503.000 msp905.000 msp997.000 ms");
    await select("forward");
    assert.equal(await page.textContent("#distribution .interval"), "the last 10.00 s: 0 calls");
    assert.equal((await lists()).length, 1);
    const whole = await browser.open("small");
    await whole.click("#table tbody tr:first-child");
    assert.equal(await whole.locator("#distribution .interval").count(), 0);
}

export async function flame(browser) {
    const page = await browser.open("small");
    const wide = async (name) => (await box(page, name).boundingBox()).width;
    const before = await wide("forward");
    const steps = await wide("train.step");
    assert.ok(Math.abs(before / steps - 4400 / 11600) < 0.01, "as wide as its time");
    await box(page, "forward").click();
    assert.deepEqual(await crumbs(page), ["all threads", "main", "train.step", "forward"]);
    assert.ok(await wide("forward") > before * 2);
    assert.equal(await box(page, "backward").count(), 0);
    assert.equal(await title(page), "forward");
    await box(page, "attention").hover();
    assert.match(await tip(page), /attention.*total2\.160 s.*of its caller49\.1 %/s);
    await page.click("#flame-out");
    assert.deepEqual(await crumbs(page), ["all threads", "main", "train.step"]);
    await page.click("#crumbs button >> nth=0");
    assert.deepEqual(await crumbs(page), ["all threads"]);
    assert.equal(await wide("forward"), before);
    assert.ok(await page.isDisabled("#flame-out"));
}

// Work that a scope sent to two threads is below it and takes longer than the scope: its box is as
// wide as the work, its number is that of its row, and a sentence says why.
export async function sent(browser) {
    const page = await browser.open("run-sent");
    const wide = async (name) => (await box(page, name).boundingBox()).width;
    const row = (await stats(page)).find((stat) => stat.name === "attention");
    assert.equal(row.total_ns, 100e6);
    assert.ok(Math.abs(await wide("scores") + await wide("values") - await wide("attention")) < 3,
        "as wide as what is below it");
    assert.ok(Math.abs(await wide("attention") / await wide("norm") - 7) < 0.1);
    const attention = box(page, "attention");
    assert.equal(await attention.locator(".aside").textContent(), "100.0 ms");
    assert.match(await attention.getAttribute("aria-label"), /^attention, 100\.0 ms, /);
    await attention.hover();
    assert.match(await tip(page), /total100\.0 ms/);
    assert.ok((await tip(page)).includes("drawn as140.0 ms, the sum of what is below it: " +
        "work that it sent ran beside it"), await tip(page));
    await box(page, "values").hover();
    assert.match(await tip(page), /values.*total80\.00 ms/s);
    assert.doesNotMatch(await tip(page), /drawn as/);
    assert.match(await page.textContent("#flame-help"),
        /sent work to other threads may be wider; its number is its own time/);
    assert.ok(await page.isVisible("#flame-help"));
    await attention.click();
    assert.equal(await page.textContent("#crumbs .aside"), await page.evaluate(() =>
        format.time(100e6) + ", " + format.percent(100 / 160) + " %"));
}

export async function search(browser) {
    const page = await browser.open("small");
    await page.fill("#flame-search", "attention");
    assert.equal(await page.textContent("#flame-found"), "2 paths, 4.800 s, 39.0 %");
    assert.equal(await page.locator("#flame .box.hit").count(), 2);
    assert.ok(await page.locator("#flame .box.miss").count() > 5);
    // main, and within it matmul and softmax: no more than main.
    await page.fill("#flame-search", "ma");
    assert.equal(await page.textContent("#flame-found"), "5 paths, 12.30 s, 100 %");
    await page.fill("#flame-search", "");
    assert.equal(await page.locator("#flame .box.hit, #flame .box.miss").count(), 0);
}

export async function timeline(browser) {
    const page = await browser.open("small");
    await frame(page);
    const whole = await range(page);
    const colours = await paint(page, "lanes-canvas");
    const at = await spanAt(page, "forward");
    await page.keyboard.down("Control");
    await page.mouse.move(at.x, at.y);
    await page.mouse.wheel(0, -600);
    await page.keyboard.up("Control");
    await frame(page);
    const wheel = await range(page);
    assert.ok(wheel[1] - wheel[0] < (whole[1] - whole[0]) / 2, "the wheel zooms");
    const time = (at.start + at.end) / 2;
    const place = ([a, b]) => (time - a) / (b - a);
    assert.ok(Math.abs(place(wheel) - place(whole)) < 0.005, "what is under it stays there");
    assert.notEqual(await paint(page, "lanes-canvas"), colours);
    await page.click("#time-all");
    await frame(page);
    assert.deepEqual(await range(page), whole);
    await page.click("#time-in");
    await frame(page);
    const [from, to] = await range(page);
    assert.ok(Math.abs((to - from) * 2 - (whole[1] - whole[0])) < 10);
    await page.click("#time-out");
    await frame(page);
    assert.deepEqual(await range(page), whole);
}

// The memory of a GPU is a chart from 0, with its numbers as bytes.
export async function memory(browser) {
    const page = await browser.open("small");
    await page.evaluate(() => document.getElementById("lanes").scrollIntoView(
        {block: "center", behavior: "instant"}));
    await frame(page);
    const at = await page.evaluate(() => {
        const box = document.getElementById("lanes");
        const lane = lanes.list.find((one) => one.label.startsWith("GPU 0 memory"));
        box.scrollTop = lane.seriesTop - 40;
        const edge = box.getBoundingClientRect();
        return {x: edge.left + timeline.width / 2, low: lane.series[0].low, label: lane.label,
                y: edge.top + lane.seriesTop - box.scrollTop + lanes.VALUES / 2};
    });
    await frame(page);
    assert.match(at.label, /GPU 0 memory .* 60 changes$/);
    assert.equal(at.low, 0);
    await page.mouse.move(at.x, at.y);
    await frame(page);
    assert.match(await tip(page), /memory.*value(1\.500|2\.000) GiB.*lowest0 B.*highest2\.000 GiB/s);
}

export async function pointer(browser) {
    const page = await browser.open("small");
    await frame(page);
    const edge = await page.locator("#lanes").boundingBox();
    await page.mouse.move(10, 10);
    await page.evaluate(() => document.getElementById("lanes").scrollIntoView(
        {block: "center", behavior: "instant"}));
    const {x, y} = await page.locator("#lanes").boundingBox();
    // A wheel that only passes over it scrolls the page.
    const whole = await range(page);
    await page.mouse.move(x + 300, y + 200);
    await page.mouse.wheel(0, -30);
    await frame(page);
    assert.deepEqual(await range(page), whole);
    // Mark a tenth of it: that is what is seen then.
    await page.mouse.move(x + edge.width * 0.4, y + 50);
    await page.mouse.down();
    await page.mouse.move(x + edge.width * 0.45, y + 50, {steps: 4});
    await page.mouse.move(x + edge.width * 0.5, y + 50, {steps: 4});
    assert.match(await page.textContent("#time-range"), /^marked 1\.23/);
    await page.mouse.up();
    await frame(page);
    const [a, b] = await range(page);
    assert.ok(Math.abs((b - a) / whole[1] - 0.1) < 0.005, "a tenth: " + (b - a));
    // Shift: it moves by as much as the mouse.
    await page.keyboard.down("Shift");
    await page.mouse.move(x + 400, y + 50);
    await page.mouse.down();
    await page.mouse.move(x + 200, y + 50, {steps: 5});
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await frame(page);
    const moved = await range(page);
    assert.ok(Math.abs((moved[0] - a) / (b - a) - 200 / edge.width) < 0.01, "moved");
    // Focused now: the plain wheel zooms, the keys work.
    await page.mouse.wheel(0, 300);
    await frame(page);
    const [c, d] = await range(page);
    assert.ok(d - c > (b - a) * 1.2);
    await page.keyboard.press("+");
    await frame(page);
    assert.ok(Math.abs(((await range(page))[1] - (await range(page))[0]) * 2 - (d - c)) < 10);
    await page.keyboard.press("0");
    await frame(page);
    assert.deepEqual(await range(page), whole);
    // The overview moves the window.
    await page.keyboard.press("+");
    const strip = await page.locator("#overview").boundingBox();
    await page.mouse.click(strip.x + strip.width * 0.9, strip.y + 10);
    await frame(page);
    assert.equal((await range(page))[1], whole[1]);
}

export async function links(browser) {
    const page = await browser.open("small");
    await frame(page);
    await page.click("#time-in");
    await frame(page);
    const at = await spanAt(page, "backward");
    await page.mouse.move(at.x, at.y);
    assert.match(await tip(page), /^backwardtook\d.*mean of all13\.00 ms.*onthread 41234 train/s);
    await page.mouse.click(at.x, at.y);
    assert.equal(await title(page), "backward");
    await page.mouse.dblclick(at.x, at.y);
    await frame(page);
    const [a, b] = await range(page);
    assert.ok(a <= at.start && b >= at.end && b - a < (at.end - at.start) * 1.2, "fits the span");
}

export async function threads(browser) {
    const page = await browser.open("threads");
    const all = await stats(page);
    assert.match(await page.textContent("#facts"),
        /steps400, 33\.33 a second, avg 30\.00 ms, p50 [\d.]+ ms, p99 .*, max /);
    assert.match(await page.textContent("#table-note"),
        /exceed 100 %.*times of threads are added \(4 threads.*49\.38 s in 12\.35 s\)\. Intervals that overlap have no/);
    const at = (name) => all.findIndex((stat) => stat.name === name);
    const shareOf = (name) => page.locator(`#table tr[data-index="${at(name)}"] td.share`).first();
    assert.match(await shareOf("file.decode").getAttribute("title"), /on 4 threads, whose times/);
    assert.match(await shareOf("request").getAttribute("title"), /intervals overlap/);
    assert.equal(await shareOf("matmul").getAttribute("title"), "");
    // An open call counts, and the number is a lower bound.
    const flush = await page.textContent(`#table tr[data-index="${at("flush")}"]`);
    assert.match(flush, /\u2265760\.0ms/);
    assert.equal(await page.locator("#table .least").count(), 1);
    // A row per thread: the same columns and the thread; each is a part of its timer.
    const each = await page.evaluate(() => run.per_thread.length);
    assert.equal(each, all.reduce((sum, stat) => sum + stat.threads, 0));
    await page.click("#per-thread");
    assert.equal(await page.getAttribute("#per-thread", "aria-pressed"), "true");
    assert.equal((await rows(page)).length, each);
    assert.equal(await page.textContent("#table-count"), each + " rows");
    await page.fill("#filter", "file.decode");
    assert.deepEqual((await page.$$eval("#table tbody tr > :nth-child(2)", (cells) =>
        cells.map((cell) => cell.textContent))).sort(),
        ["41234 train", "41235 reader", "41236 reader", "41237"]);
    await page.click("#table tbody tr >> nth=1");
    assert.equal(await title(page), "file.decode");
    assert.equal(await page.locator("#table tr[aria-selected=true]").count(), 4);
    await page.click("#table thead th[data-key=thread] button");
    await page.fill("#filter", "");
    await page.click("#per-thread");
    assert.equal((await rows(page)).length, all.length);
    assert.equal(await page.getAttribute("#table th[data-key=total_ns]", "aria-sort"), "descending");
    const one = await browser.open("small");
    assert.ok(!await one.isVisible("#per-thread") && !await one.isVisible("#table-note"));
}

// The note of the slowest call is in sight in 1280 pixels. The page says how many columns are out
// of sight, and a click reaches them.
export async function wide(browser) {
    for (const kind of ["small", "threads"]) {
        const page = await browser.open(kind);
        const edge = await page.locator("#table-box").boundingBox();
        const info = await page.locator("#table th[data-key=info]").boundingBox();
        assert.ok(info.x + info.width <= edge.x + edge.width, kind + ": " + info.x);
        const more = async () => Number.parseInt(await page.textContent("#table-right"), 10);
        const before = await more();
        assert.ok(before > 3 && await page.isVisible("#table-right"));
        assert.ok(await page.locator("#table-box.more").count());
        await page.click("#table-right");
        await page.waitForFunction((most) =>
            Number.parseInt(document.getElementById("table-right").textContent, 10) < most, before);
        await page.$eval("#table-box", (box) => { box.scrollLeft = box.scrollWidth; });
        await page.waitForSelector("#table-right", {state: "hidden"});
        assert.equal(await page.locator("#table-box.more").count(), 0);
        const name = await page.locator("#table tbody th.name").first().boundingBox();
        assert.ok(Math.abs(name.x - edge.x) < 3, "the name stays in sight");
    }
}

// A link to a row: the page opens with it, whatever its name is.
export async function address(browser) {
    const page = await browser.open("hostile");
    const all = await stats(page);
    for (const [index, stat] of all.entries()) {
        await page.evaluate((at) => selection.select(at), index);
        const link = await page.getAttribute("#distribution a", "href");
        assert.match(link, /^#timer=/);
        await page.evaluate(() => selection.select(0));
        await page.evaluate((hash) => { location.hash = hash; }, link);
        await page.waitForFunction((at) => selection.index === at, index);
        assert.equal(await page.textContent("#distribution h3 .text"),
            await page.evaluate((name) => shown(name), stat.name));
    }
    const last = await page.evaluate(() => location.hash);
    await page.evaluate(() => selection.select(0));
    await page.reload();
    assert.equal(await page.evaluate(() => selection.address), last, "also when it opens");
    for (const bad of ["#timer=%", "#timer=no such name", "#timer=&set=%ff", "#timers"]) {
        await page.evaluate((hash) => { location.hash = hash; }, bad);
    }
    await frame(page);
    assert.equal(await page.evaluate(() => selection.address), last, "others change nothing");
    const large = await browser.open("big");
    await large.evaluate(() => { location.hash = "#timer=" + encodeURIComponent(run.stats[700].name); });
    await large.waitForFunction(() => selection.index === 700);
    assert.ok(await large.locator("#table tr[aria-selected=true]").isVisible());
}
