// SPDX-License-Identifier: Apache-2.0
// site.mjs PYTHON MAKE_SITE FOLDER: the site of the documents in a browser. Its search finds what is
// asked for, pages have their pictures, and nothing is an error or comes from elsewhere.
import assert from 'node:assert';
import { spawnSync } from 'node:child_process';
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

async function search(words, expected) {
    await page.goto(`${address}/index.html`);
    await page.fill('.md-search__input', words);
    const link = `.md-search-result__item a[href*="${expected}"]`;
    await page.waitForSelector(link, { timeout: 120000, state: 'attached' });
    console.log(`search: '${words}' finds ${expected}`);
}

await search('misspelt', 'troubleshooting.html');
await search('REGISTER_TIMER_DYNAMIC', 'macros.html');
await page.goto(`${address}/index.html`);
const widths = await page.$$eval('article img', (images) => images.map((image) => image.naturalWidth));
assert.equal(widths.length, 2);
assert(widths.every((width) => width > 100), `pictures are ${widths} wide`);
await browser.close();
assert.deepEqual(wrong, []);
