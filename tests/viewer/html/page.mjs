// SPDX-License-Identifier: Apache-2.0
// The page as a whole: all kinds of data, themes and contrast, a phone, print, keys, a hostile or
// broken run. A case throws if the page does not show what the data says.
import assert from "node:assert/strict";
import {distance} from "./sight.mjs";
import {frame, rows, stats, title, crumbs, theme, box, tip, noSideways, spanAt, paint} from
        "./look.mjs";

export async function opens(browser) {
    const page = await browser.open("small");
    assert.equal(await page.title(), "train \u2013 stint");
    assert.equal(await page.textContent("h1"), "train");
    assert.equal(await page.textContent("#state"), "ended");
    assert.match(await page.textContent("#facts"),
        /2025-03-14 09:26:53 UTC.*node17.*96 \u00d7 AMD/s);
    assert.match(await page.textContent("#figures"), /12\.35 s/);
    assert.equal((await rows(page)).length, (await stats(page)).length);
    assert.match(await page.textContent("#ledger"), /3\s*scopes left open.*1,200 older events/s);
    assert.ok(await page.locator("#flame .box").count() > 10);
    await frame(page);
    assert.ok(await paint(page, "lanes-canvas") > 8);
    assert.ok(await paint(page, "overview") > 1);
    await noSideways(page);
}

// Not only is the policy there: it holds.
export async function policy(browser) {
    browser.expected = [/Content Security Policy/, /example\.invalid/];
    const page = await browser.open("small");
    const meta = await page.getAttribute("meta[http-equiv=Content-Security-Policy]", "content");
    assert.match(meta, /^default-src 'none'; style-src ('sha256-[^']+' ?)+; script-src 'sha256-/);
    assert.ok(!meta.includes("unsafe"));
    const did = await page.evaluate(async () => {
        const script = document.createElement("script");
        script.textContent = "window.ran = 1";
        document.body.append(script);
        const style = document.createElement("style");
        style.textContent = "h1 { display: none }";
        document.body.append(style);
        let fetched = "no";
        await fetch("https://example.invalid/").then(() => { fetched = "yes"; }, () => {});
        return [window.ran, getComputedStyle(document.querySelector("h1")).display, fetched];
    });
    assert.deepEqual(did, [undefined, "block", "no"]);
}

export async function themes(browser) {
    const page = await browser.open("small");
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await theme(page), "dark");
    await frame(page);
    const dark = await ground();
    const pixel = () => page.$eval("#lanes-canvas", (canvas) => canvas.toDataURL());
    const drawn = await pixel();
    await page.click("#theme");
    await frame(page);
    assert.equal(await theme(page), "light");
    assert.notEqual(await ground(), dark);
    assert.notEqual(await pixel(), drawn, "the canvas too");
    assert.equal(await page.textContent("#theme"), "Dark");
    await page.reload();
    assert.equal(await theme(page), "light", "it is remembered");
    await page.click("#theme");
    assert.equal(await ground(), dark);
}

// WCAG AA: 4.5 to 1, of every pair that text is written in.
export async function contrast(browser) {
    const page = await browser.open("small");
    const pairs = [["text", "page"], ["text", "panel"], ["muted", "page"], ["muted", "panel"],
                   ["muted", "hover"], ["muted", "picked"], ["text", "picked"],
                   ["text", "warn-wash"], ["text", "bad-wash"], ["accent", "page"],
                   ["accent", "panel"], ["accent", "hover"],
                   ["good", "page"], ["bad", "page"], ["text", "stripe"], ["text", "line"]];
    pairs.push(["on-accent", "accent"]);
    const count = await page.evaluate(() => colors.count);
    for (let i = 0; i < count; ++i) {
        pairs.push(["ink", "box" + i]);
    }
    for (const wanted of ["light", "dark"]) {
        if (await theme(page) !== wanted) {
            await page.click("#theme");
        }
        const ratios = await page.evaluate((list) => {
            const style = getComputedStyle(document.documentElement);
            const light = (name) => {
                const hex = style.getPropertyValue("--" + name).trim();
                const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
                    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
            };
            return list.map(([a, b]) => [light(a), light(b)])
                .map((pair) => Math.max(...pair) / Math.min(...pair));
        }, pairs);
        ratios.forEach((ratio, i) =>
            assert.ok(ratio >= 4.5, wanted + " " + pairs[i] + " " + ratio));
    }
}

// Any two colours of names, and each and what is around it, differ for readers with normal sight,
// and without one kind of cones: by 0.09 in OKLab, of which 0.02 is about the least that is seen
// side by side. Large timers do not share a colour.
export async function colours(browser) {
    const page = await browser.open("small");
    for (const wanted of ["light", "dark"]) {
        if (await theme(page) !== wanted) {
            await page.click("#theme");
        }
        const [count, read] = await page.evaluate(() => {
            const style = getComputedStyle(document.documentElement);
            const names = ["panel", "stripe", "accent"];
            for (let i = 0; i < colors.count; ++i) {
                names.push("box" + i);
            }
            return [colors.count, names.map((name) => style.getPropertyValue("--" + name).trim())];
        });
        assert.equal(count, 8);
        const boxes = read.slice(3);
        for (const [i, one] of boxes.entries()) {
            for (const other of [...read.slice(0, 3), ...boxes.slice(i + 1)]) {
                const far = distance(one, other);
                assert.ok(far >= 0.09, `${wanted}: ${one} and ${other} differ by ${far}`);
            }
        }
    }
    const shared = await page.evaluate(() => {
        const largest = run.stats.slice(0, colors.count).map((stat) => colors.index(stat.name));
        return largest.length - new Set(largest).size;
    });
    assert.equal(shared, 0, "the largest timers have a colour each");
}

export async function phone(browser) {
    for (const kind of ["small", "ranks", "threads", "hostile", "killed", "empty", "big"]) {
        const page = await browser.open(kind);
        await noSideways(page);
        await page.close();
    }
    const page = await browser.open("small");
    await page.tap("#table tbody tr[data-index='4']");
    assert.equal(await title(page), (await stats(page))[4].name);
    await box(page, "forward").tap();
    assert.equal((await crumbs(page)).pop(), "forward");
    const small = await page.$$eval("button, select, input", (all) => all.filter((one) =>
        one.offsetParent && !one.closest(".flame, .crumbs, thead") && one.offsetHeight < 30)
        .map((one) => one.id));
    assert.deepEqual(small, [], "large enough to touch");
    await noSideways(page);
}

export async function print(browser) {
    const page = await browser.open("small");
    assert.equal(await theme(page), "dark");
    await page.emulateMedia({media: "print"});
    await frame(page);
    assert.equal(await theme(page), "light", "paper is light");
    const ink = await page.evaluate(() => getComputedStyle(document.body).color);
    assert.equal(ink, "rgb(27, 31, 36)");
    assert.ok(!await page.isVisible(".top") && !await page.isVisible("#filter"));
    assert.ok(await page.isVisible("#table") && await page.isVisible("#flame"));
    const [inside, outside] = await page.$eval("#table-box", (one) =>
        [one.scrollHeight, one.clientHeight]);
    assert.ok(inside <= outside, "no row is hidden");
    await page.emulateMedia({media: "screen"});
    await frame(page);
    assert.equal(await theme(page), "dark");
}

export async function keys(browser) {
    const page = await browser.open("small");
    const all = await stats(page);
    const focus = () => page.evaluate(() => document.activeElement.id ||
        document.activeElement.dataset.index || document.activeElement.className);
    await page.keyboard.press("Tab");
    assert.ok(await page.locator(".skip").isVisible());
    await page.keyboard.press("/");
    assert.equal(await focus(), "filter");
    // Sorting by keyboard.
    await page.focus("#table thead th[data-key=calls] button");
    await page.keyboard.press("Enter");
    assert.equal(await page.getAttribute("#table th[data-key=calls]", "aria-sort"), "descending");
    await page.keyboard.press("Space");
    assert.equal(await page.getAttribute("#table th[data-key=calls]", "aria-sort"), "ascending");
    const outline = await page.evaluate(() =>
        getComputedStyle(document.activeElement).outlineStyle);
    assert.equal(outline, "solid", "focus is visible");
    // Rows: one stop for Tab, then arrows.
    assert.equal(await page.locator("#table tbody tr[tabindex='0']").count(), 1);
    await page.focus("#table tbody tr[tabindex='0']");
    await page.keyboard.press("Home");
    const order = await rows(page);
    assert.equal(await title(page), all[order[0]].name);
    await page.keyboard.press("ArrowDown");
    assert.equal(await focus(), String(order[1]));
    assert.equal(await title(page), all[order[1]].name);
    // The flame: down, zoom, out.
    await page.focus("#flame .box[tabindex='0']");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    assert.match(await page.evaluate(() => document.activeElement.textContent), /^train\.step/);
    assert.match(await tip(page), /^train\.step/);
    await page.keyboard.press("Enter");
    assert.deepEqual(await crumbs(page), ["all threads", "main", "train.step"]);
    assert.match(await page.evaluate(() => document.activeElement.textContent), /^train\.step/);
    await page.keyboard.press("Escape");
    assert.deepEqual(await crumbs(page), ["all threads", "main"]);
}

export async function hostile(browser) {
    const page = await browser.open("hostile");
    const names = (await stats(page)).map((stat) => stat.name);
    assert.ok(names.includes("</script><script>window.hacked = 1</script>"));
    const scripts = await page.evaluate(() => document.scripts.length);
    for (const index of names.keys()) {
        await page.click(`#table tbody tr[data-index="${index}"] th`);
        await page.hover(`#table tbody tr[data-index="${index}"] th`);
    }
    await page.locator("#flame .box").nth(3).click();
    await page.locator("#flame .box").nth(5).hover();
    const at = await spanAt(page, names[1]);
    await page.mouse.move(at.x - 2, at.y);
    assert.ok((await tip(page)).includes("<img src=x"));
    await page.focus("#heat");
    await page.keyboard.press("ArrowDown");
    await page.hover("#heat-canvas");
    assert.ok((await page.textContent("#ranks")).includes("<img src=x"));
    await page.selectOption("#wait", "1");
    const text = await page.textContent("#table");
    for (const name of ["<img src=x onerror=\"window.hacked = 1\">", "__proto__", "constructor",
                        "&lt;b&gt;&amp;", "${window.hacked = 1}", "\u65e5\u672c\u8a9e",
                        "(no name)"]) {
        assert.ok(text.includes(name), name);
    }
    assert.ok(!/[\u2028\u2029\u202e\u0000]/.test(await page.textContent("main")), "made visible");
    assert.equal(await page.textContent("h1"), names[0]);
    assert.deepEqual(await page.evaluate(() => [window.hacked, document.scripts.length,
        document.images.length, Object.prototype.hacked]), [undefined, scripts, 0, undefined]);
    await noSideways(page);
}

export async function opensLarge(browser, kind) {
    const start = Date.now();
    const page = await browser.open(kind);
    await page.waitForSelector("#table tbody tr");
    await frame(page);
    const took = Date.now() - start;
    assert.ok(took < 10000, "opened in " + took + " ms");
    assert.match(await page.textContent("#notices"), /20000 of/);
    assert.ok(await paint(page, "lanes-canvas") > 8);
    assert.ok(await page.locator("#flame .box").count() <= 4500);
    assert.equal((await rows(page)).length, 200);
    await page.click("#table-more");
    assert.equal((await rows(page)).length, 1200);
    const again = Date.now();
    await page.click("#table thead th[data-key=name] button");
    await page.fill("#filter", "7");
    await page.click("#time-in");
    await frame(page);
    assert.ok(Date.now() - again < 3000, "it stays quick");
    return page;
}

export async function real(browser) {
    const page = await opensLarge(browser, "run-big");
    const more = page.locator("#flame .box.rest");
    assert.ok(await more.count() > 0, "what is folded is shown as such");
    const full = await browser.open("run-full");
    assert.equal(await full.textContent("#state"), "killed or crashed");
    assert.match(await full.textContent("#notices"), /open for at least .*work > step/);
}

export async function empty(browser) {
    const page = await browser.open("empty");
    const text = await page.textContent("main");
    assert.match(text,
        /No timer was recorded.*No calls were recorded.*No trace.*STINT_TRACE.*Nothing/s);
    const zero = await browser.open("run-zero");
    assert.ok((await rows(zero)).length > 0);
}

export async function broken(browser) {
    const page = await browser.open("broken");
    assert.match(await page.textContent("#notices"), /cut short or damaged/);
    assert.ok(!await page.isVisible("#table-box"));
}

export async function killed(browser) {
    const page = await browser.open("killed");
    assert.equal(await page.textContent("#state"), "killed or crashed");
    assert.match(await page.textContent("#notices"),
        /ends in the middle.*open for at least 890\.0 ms: main > train\.step > batch\.load/s);
    // Open only: it has no total, but its age makes it as wide as it is.
    assert.equal(await box(page, "main").getAttribute("aria-label"), "main, 12.30 s, 100 %");
    assert.match(await page.textContent("#time"), /No trace/);
}
