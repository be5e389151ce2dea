// SPDX-License-Identifier: Apache-2.0
// site.mjs PYTHON MAKE_SITE FOLDER: the site of the documents in a browser. Its search finds what is
// asked for, pages have their pictures, and nothing is an error or comes from elsewhere.
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

// The first result is a page that has the words. On a machine with much other load the search does not
// always answer: then the page is loaded again, and after some attempts nothing can be said about it.
// That the index has the words is checked by docs.site.
async function search(words) {
    const attempts = 6;
    let result = null;
    for (let i = 0; i < attempts && !result; ++i) {
        await page.goto(`${address}/index.html`);
        await page.fill('.md-search__input', words);
        result = await page.waitForSelector('.md-search-result__item a[href]',
            { timeout: 20000, state: 'attached' }).catch(() => null);
    }
    if (!result) {
        await browser.close();
        skip(`the search has not answered in ${attempts} attempts of 20 s`);
    }
    const found = path.basename(new URL(await result.evaluate((link) => link.href)).pathname);
    const texts = index.docs.filter((doc) => doc.location.split('#')[0] === found);
    assert(texts.some((doc) => doc.text.includes(words)), `${found} has no ${words}`);
    console.log(`search: '${words}' finds ${found}`);
}

await search('misspelt');
await search('REGISTER_TIMER_DYNAMIC');
await page.goto(`${address}/index.html`);
const widths = await page.$$eval('article img', (images) => images.map((image) => image.naturalWidth));
assert.equal(widths.length, 2);
assert(widths.every((width) => width > 100), `pictures are ${widths} wide`);
await browser.close();
assert.deepEqual(wrong, []);
