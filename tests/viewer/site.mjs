// SPDX-License-Identifier: Apache-2.0
// site.mjs PYTHON MAKE_SITE FOLDER: the site of the documents in a browser. Its search finds what
// is asked for, pages have their pictures, and nothing is an error or comes from elsewhere.
import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { launch, serve, skip } from './browser.mjs';

const [python, makeSite, folder] = process.argv.slice(2);

const made = spawnSync(python, ['-B', makeSite, folder], { encoding: 'utf8' });
if (made.status === 77) {
    skip(made.stdout.trim());
}
assert.equal(made.status, 0, made.stdout + made.stderr);

const browser = await launch();
const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
const address = await serve(path.join(folder, 'site'), {});
const wrong = [];
page.on('pageerror', (error) => wrong.push(error.message));
page.on('request', (request) => {
    if (!/^(http:\/\/127\.0\.0\.1:|data:|blob:)/.test(request.url())) {
        wrong.push(`loads ${request.url()}`);
    }
});

const index = JSON.parse(fs.readFileSync(path.join(folder, 'site', 'search', 'search_index.json')));

// The first result becomes a page that has the words. They are typed: the search looks at its field
// when a key was released, or a millisecond after the field got the focus, and a text that a script
// puts there is only found if it is there by then.
async function search(words) {
    await page.goto(`${address}/index.html`);
    await page.click('.md-search__input');
    await page.keyboard.type(words);
    const pages = index.docs.filter((doc) => doc.text.includes(words))
        .map((doc) => doc.location.split('#')[0]);
    // Results for the letters typed first may be shown until then.
    const found = await page.waitForFunction((names) => {
        const link = document.querySelector('.md-search-result__item a[href]');
        return link && names.find((name) => new URL(link.href).pathname === `/${name}`);
    }, pages, { timeout: 300000 });
    console.log(`search: '${words}' finds ${await found.jsonValue()}`);
}

await search('misspelt');
await search('REGISTER_TIMER_DYNAMIC');
await page.goto(`${address}/index.html`);
const widths = await page.$$eval('article img', (images) => images.map((image) => image.naturalWidth));
assert.equal(widths.length, 2);
assert(widths.every((width) => width > 100), `pictures are ${widths} wide`);
await browser.close();
assert.deepEqual(wrong, []);
